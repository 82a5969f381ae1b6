// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// One system call of a traced process: the line that `strace -f -y -xx -ttt -T` writes about it.
struct SystemCall: Sendable {
  /// One argument.
  enum Argument: Sendable {
    /// A string, without its quotes.
    case text([UInt8])
    /// A descriptor and the path that `-y` gives; `isDeleted` when the file has no name any more.
    case descriptor(Int32, path: String, isDeleted: Bool)
    /// Anything else, such as a number, flags or a list.
    case word(String)
  }

  let name: String
  let arguments: [Argument]
  let result: Int
  /// The descriptor of the result and its path, for `open`.
  let opened: String?
  let began: Moment
  let ended: Moment

  /// When a call began or ended: seconds since 1970, and the position among all moments of its process.
  struct Moment: Sendable {
    let time: Double
    let order: Int
  }

  /// The calls of a whole trace that concern a folder, in the order of their ends. Calls that failed, and those that had
  /// not ended, are left out.
  ///
  /// - Throws: `Malformed` for a line that is not understood.
  static func all(in trace: Data, below folder: String) throws -> [SystemCall] {
    let mark = folder.utf8.flatMap { Array("\\x\([$0].hexadecimal)".utf8) }
    var unfinished: [String: (text: [UInt8], began: Moment)] = [:]
    var calls: [SystemCall] = []
    var number = 0
    try trace.withUnsafeBytes { (all: UnsafeRawBufferPointer) in
      guard let base = all.baseAddress else { return }
      var place = 0
      while let newline = memchr(base + place, 0x0a, all.count - place) {
        let line = UnsafeRawBufferPointer(start: base + place, count: UnsafeRawPointer(newline) - (base + place))
        place += line.count + 1
        number += 2
        try take(line, number: number, mark: mark, unfinished: &unfinished, into: &calls)
      }
    }
    return calls
  }

  struct Malformed: Error, CustomStringConvertible {
    let description: String
    init(_ line: some Sequence<UInt8>, _ reason: String) {
      description = "\(reason): \(String(decoding: Array(line.prefix(300)), as: UTF8.self))"
    }
  }

  private static let unfinishedEnd = Array(" <unfinished ...>".utf8)

  private static func take(
    _ line: UnsafeRawBufferPointer, number: Int, mark: [UInt8],
    unfinished: inout [String: (text: [UInt8], began: Moment)], into calls: inout [SystemCall]
  ) throws {
    // `PID SECONDS.MICROSECONDS call(…) = result <duration>`
    var head = line
    guard let thread = word(&head), let time = word(&head).flatMap({ Double($0) }), let first = head.first else {
      return
    }
    if first == UInt8(ascii: "<") {
      guard let formerCall = unfinished.removeValue(forKey: thread), let end = head.firstIndex(of: UInt8(ascii: ">"))
      else {
        return
      }
      let text = formerCall.text + head[(end + 1)...]
      // The line of the end has the time of the end.
      return try text.withUnsafeBytes {
        try add($0, began: formerCall.began, ended: Moment(time: time, order: number + 1), to: &calls)
      }
    }
    guard hasPath(mark, head) else { return }
    let began = Moment(time: time, order: number)
    if head.suffix(unfinishedEnd.count).elementsEqual(unfinishedEnd) {
      unfinished[thread] = (Array(head.dropLast(unfinishedEnd.count)), began)
    } else {
      try add(head, began: began, ended: nil, to: &calls)
    }
  }

  private static func add(
    _ text: UnsafeRawBufferPointer, began: Moment, ended: Moment?, to calls: inout [SystemCall]
  ) throws {
    var scanner = CallScanner(text)
    guard let call = try scanner.call(began: began, ended: ended) else { return }
    calls.append(call)
  }

  private static func word(_ rest: inout UnsafeRawBufferPointer) -> String? {
    guard let end = rest.firstIndex(of: 0x20) else { return nil }
    defer { rest = UnsafeRawBufferPointer(rebasing: rest[end...].drop { $0 == 0x20 }) }
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  /// Whether a string, or the path of a descriptor, begins with some bytes.
  private static func hasPath(_ bytes: [UInt8], _ text: UnsafeRawBufferPointer) -> Bool {
    guard let base = text.baseAddress else { return false }
    for quote in [0x3c, 0x22] as [Int32] {
      var place = 0
      while let found = memchr(base + place, quote, text.count - place) {
        place = UnsafeRawPointer(found) - base + 1
        if text.count - place >= bytes.count, memcmp(base + place, bytes, bytes.count) == 0 { return true }
      }
    }
    return false
  }
}

/// Reads the text of one call.
private struct CallScanner {
  private let text: UnsafeRawBufferPointer
  private var place = 0

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  private var next: UInt8 { place < text.count ? text[place] : 0 }

  /// - Returns: `nil` for a call that failed, and for a line that is no call, such as one about a signal.
  mutating func call(began: SystemCall.Moment, ended: SystemCall.Moment?) throws -> SystemCall? {
    let name = until { $0 == UInt8(ascii: "(") }
    guard next == UInt8(ascii: "("), name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { return nil }
    place += 1
    var arguments: [SystemCall.Argument] = []
    while next != UInt8(ascii: ")") {
      guard place < text.count else { throw SystemCall.Malformed(text, "a call without an end") }
      arguments.append(try argument())
      while next == UInt8(ascii: ",") || next == 0x20 { place += 1 }
    }
    place += 1
    skipSpaces()
    guard next == UInt8(ascii: "=") else { throw SystemCall.Malformed(text, "a call without a result") }
    place += 1
    skipSpaces()
    guard let result = Int(until { !($0 == UInt8(ascii: "-") || (0x30...0x39).contains($0)) }), result >= 0 else {
      return nil
    }
    let opened = next == UInt8(ascii: "<") ? try path() : nil
    let duration = String(decoding: text[place...], as: UTF8.self).split(separator: "<").last?.dropLast()
    let ownSeconds = duration.flatMap { Double($0) }.map {
      SystemCall.Moment(time: began.time + $0, order: began.order + 1)
    }
    guard let end = ended ?? ownSeconds else {
      throw SystemCall.Malformed(text, "a call without a duration")
    }
    return SystemCall(name: name, arguments: arguments, result: result, opened: opened, began: began, ended: end)
  }

  private mutating func until(_ isEnd: (UInt8) -> Bool) -> String {
    let start = place
    while place < text.count, !isEnd(text[place]) { place += 1 }
    return String(decoding: text[start..<place], as: UTF8.self)
  }

  private mutating func skipSpaces() { while next == 0x20 { place += 1 } }

  private mutating func argument() throws -> SystemCall.Argument {
    if next == UInt8(ascii: "\"") { return .text(try quoted()) }
    let start = place
    var depth = 0
    var descriptor: Int32?
    while place < text.count {
      let byte = text[place]
      if depth == 0, byte == UInt8(ascii: ",") || byte == UInt8(ascii: ")") { break }
      switch byte {
      case UInt8(ascii: "\""):
        _ = try quoted()
        continue
      case UInt8(ascii: "<") where depth == 0:
        let word = String(decoding: text[start..<place], as: UTF8.self)
        descriptor = word == "AT_FDCWD" ? -100 : Int32(word)
        let path = try path()
        let isDeleted = String(decoding: text[place..<min(place + 9, text.count)], as: UTF8.self) == "(deleted)"
        if isDeleted { place += 9 }
        if let descriptor { return .descriptor(descriptor, path: path, isDeleted: isDeleted) }
        continue
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
      place += 1
    }
    return .word(String(decoding: text[start..<place], as: UTF8.self))
  }

  /// `<\x2f…>`.
  private mutating func path() throws -> String {
    place += 1
    let start = place
    while place < text.count, text[place] != UInt8(ascii: ">") { place += 1 }
    defer { place += 1 }
    return String(decoding: try bytes(start..<place), as: UTF8.self)
  }

  /// `"\x2f…"`.
  private mutating func quoted() throws -> [UInt8] {
    let start = place + 1
    guard let first = text.baseAddress, start <= text.count,
      let end = memchr(first + start, 0x22, text.count - start)
    else { throw SystemCall.Malformed(text, "a string without an end") }
    let length = UnsafeRawPointer(end) - (first + start)
    place = start + length + 1
    guard next != UInt8(ascii: ".") else { throw SystemCall.Malformed(text, "a string that strace has cut off") }
    return try bytes(start..<start + length)
  }

  /// Decodes `\x2f…`; text without such numbers, as of a pipe, stays as it is.
  private func bytes(_ range: Range<Int>) throws -> [UInt8] {
    guard let base = text.baseAddress, !range.isEmpty, text[range.lowerBound] == 0x5c else { return Array(text[range]) }
    guard range.count % 4 == 0 else { throw SystemCall.Malformed(text, "a string that is not hexadecimal") }
    let digits = base.assumingMemoryBound(to: UInt8.self) + range.lowerBound
    return [UInt8](unsafeUninitializedCapacity: range.count / 4) { buffer, count in
      count = range.count / 4
      guard let target = buffer.baseAddress else { return }
      var index = 0
      while index < count {
        target[index] = hexValue(digits[4 &* index &+ 2]) &<< 4 | hexValue(digits[4 &* index &+ 3])
        index = index &+ 1
      }
    }
  }
}

@inline(__always) private func hexValue(_ digit: UInt8) -> UInt8 { digit < 0x3a ? digit &- 0x30 : digit &- 0x57 }
