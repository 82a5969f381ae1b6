// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The changes of a folder by one process, from its system calls.
struct DiskTrace {
  /// A change, with the begin and the end of its call.
  struct Item {
    let change: DiskModel.Change
    let began: SystemCall.Moment
    let ended: SystemCall.Moment
  }

  /// The begin or the end of a change.
  struct Step {
    /// Seconds since 1970.
    var time: Double
    /// The same for begin and end.
    let call: Int
    /// `nil` at the end.
    let change: DiskModel.Change?
  }

  /// The steps of several processes, in order: those of one process as in its trace, and others by their times.
  static func steps(_ processes: [[Item]]) -> [Step] {
    var calls = 0
    var all: [[Step]] = []
    for items in processes {
      var moments: [(order: Int, step: Step)] = []
      for item in items {
        calls += 1
        moments.append((item.began.order, Step(time: item.began.time, call: calls, change: item.change)))
        moments.append((item.ended.order, Step(time: item.ended.time, call: calls, change: nil)))
      }
      // A call that opens and truncates a file is two changes with one begin.
      var steps = moments.sorted { ($0.order, $0.step.call) < ($1.order, $1.step.call) }.map(\.step)
      for index in steps.indices.dropFirst() { steps[index].time = max(steps[index].time, steps[index - 1].time) }
      all.append(steps)
    }
    return all.reduce([], merged)
  }

  private static func merged(_ left: [Step], _ right: [Step]) -> [Step] {
    var (left, right, all) = (left[...], right[...], [Step]())
    while let first = left.first, let second = right.first {
      all.append(first.time <= second.time ? left.removeFirst() : right.removeFirst())
    }
    return all + left + right
  }

  /// A call that changes the folder in a way that is not modelled.
  struct Unknown: Error, CustomStringConvertible {
    let description: String
  }

  /// An open file when the trace began, from `/proc/PID/fdinfo`.
  struct Descriptor {
    var offset = 0
    var appends = false
  }

  private let folder: String
  /// Paths below the folder that are not part of a recovery.
  private let isIgnored: (String) -> Bool
  private var descriptors: [Int32: Descriptor]
  private var items: [Item] = []

  /// - Throws: `Unknown` for a call that is not modelled.
  static func items(
    _ calls: [SystemCall], below folder: String, descriptors: [Int32: Descriptor] = [:],
    ignoring: @escaping (String) -> Bool = { _ in false }
  ) throws -> [Item] {
    var trace = DiskTrace(folder: folder, isIgnored: ignoring, descriptors: descriptors)
    for call in calls { try trace.take(call) }
    return trace.items
  }

  private func concerns(_ path: String) -> Bool { path.hasPrefix(folder + "/") && !isIgnored(path) }

  private mutating func add(_ change: DiskModel.Change, _ call: SystemCall) {
    items.append(Item(change: change, began: call.began, ended: call.ended))
  }

  private mutating func take(_ call: SystemCall) throws {
    switch call.name {
    case "open", "openat", "creat": try open(call)
    case "write", "writev", "pwrite64", "pwritev", "pwritev2": try write(call)
    case "ftruncate", "truncate":
      guard let path = target(call), concerns(path) else { return }
      add(.resize(path, to: try number(call, 1)), call)
    case "fsync", "fdatasync":
      if let path = target(call), path == folder || concerns(path) { add(.synchronize(path), call) }
    case "sendfile", "copy_file_range": try copy(call)
    case "lseek":
      if case .descriptor(let descriptor, _, false)? = call.arguments.first {
        descriptors[descriptor, default: Descriptor()].offset = call.result
      }
    case "ioctl": try clone(call)
    case "mmap":
      guard case .descriptor(_, let path, _)? = call.arguments.dropFirst(4).first, concerns(path) else { return }
      let words = call.arguments.map(Self.word)
      if words[2].contains("PROT_WRITE"), words[3].contains("MAP_SHARED") { throw unknown(call) }
    case "close", "fcntl", "read", "pread64": break
    default: try rename(call)
    }
  }

  private mutating func rename(_ call: SystemCall) throws {
    let paths = try paths(of: call)
    guard (paths + [target(call)].compactMap(\.self)).contains(where: concerns) else { return }
    switch call.name {
    case "rename", "renameat", "renameat2": add(.rename(paths[0], to: paths[1]), call)
    case "link", "linkat": add(.link(paths[0], to: paths[1]), call)
    case "unlink", "unlinkat", "rmdir": add(.remove(paths[0]), call)
    case "mkdir", "mkdirat": add(.makeFolder(paths[0]), call)
    default: throw unknown(call)
    }
  }

  private mutating func open(_ call: SystemCall) throws {
    guard let path = try paths(of: call).first, concerns(path) else { return }
    let flags = Self.word(call.arguments[call.name == "openat" ? 2 : 1])
    guard !flags.contains("O_TMPFILE") else { throw unknown(call) }
    descriptors[Int32(call.result)] = Descriptor(appends: flags.contains("O_APPEND"))
    let creates = call.name == "creat" || flags.contains("O_CREAT")
    if creates { add(.create(path), call) }
    if call.name == "creat" || flags.contains("O_TRUNC") { add(.resize(path, to: 0), call) }
  }

  private mutating func write(_ call: SystemCall) throws {
    guard case .descriptor(let descriptor, let path, false)? = call.arguments.first, concerns(path) else { return }
    guard case .text(let whole)? = call.arguments.dropFirst().first else { throw unknown(call) }
    let bytes = Array(whole.prefix(call.result))
    let known = descriptors[descriptor, default: Descriptor()]
    if known.appends { return add(.append(path, bytes), call) }
    if call.name == "pwrite64" { return add(.write(path, at: try number(call, 3), bytes), call) }
    guard call.name == "write" else { throw unknown(call) }
    add(.write(path, at: known.offset, bytes), call)
    descriptors[descriptor, default: Descriptor()].offset += bytes.count
  }

  /// `sendfile(out, in, offset, count)` or `copy_file_range(in, offset, out, offset, count, flags)`.
  private mutating func copy(_ call: SystemCall) throws {
    let places = call.name == "sendfile" ? (from: 1, to: 0) : (from: 0, to: 2)
    guard case .descriptor(let to, let path, false) = call.arguments[places.to], concerns(path) else { return }
    guard case .descriptor(let from, let source, false) = call.arguments[places.from],
      Self.word(call.arguments[call.name == "sendfile" ? 2 : 1]) == "NULL",
      call.name == "sendfile" || Self.word(call.arguments[3]) == "NULL"
    else { throw unknown(call) }
    let start = descriptors[from, default: Descriptor()].offset
    let end = descriptors[to, default: Descriptor()].offset
    add(.copy(from: source, start: start, count: call.result, to: path, at: end), call)
    descriptors[from, default: Descriptor()].offset += call.result
    descriptors[to, default: Descriptor()].offset += call.result
  }

  private mutating func clone(_ call: SystemCall) throws {
    guard let path = target(call), concerns(path) else { return }
    let request = Self.word(call.arguments[1])
    guard request.contains("CLONE") else { return }
    guard request.hasSuffix("FICLONE") || request == "BTRFS_IOC_CLONE",
      case .descriptor(_, let source, false)? = call.arguments.dropFirst(2).first
    else { throw unknown(call) }
    add(.copy(from: source, start: 0, count: nil, to: path, at: 0), call)
  }

  // MARK: Arguments

  /// The path of the first argument; `nil` when the file has no name any more.
  private func target(_ call: SystemCall) -> String? {
    switch call.arguments.first {
    case .descriptor(_, let path, false): path
    case .text(let bytes): String(decoding: bytes, as: UTF8.self)
    default: nil
    }
  }

  /// The paths of a call; each relative one with the folder of the argument before it.
  private func paths(of call: SystemCall) throws -> [String] {
    var folder: String?
    var paths: [String] = []
    for argument in call.arguments {
      switch argument {
      case .descriptor(_, let path, _): folder = path
      case .text(let bytes):
        let path = String(decoding: bytes, as: UTF8.self)
        guard !path.hasPrefix("/") else {
          paths.append(path)
          continue
        }
        guard let folder else { throw unknown(call) }
        paths.append(folder + "/" + path)
      case .word: break
      }
    }
    return paths.map { $0.replacing("//", with: "/") }
  }

  private func number(_ call: SystemCall, _ index: Int) throws -> Int {
    guard call.arguments.indices.contains(index), let number = Int(Self.word(call.arguments[index])) else {
      throw unknown(call)
    }
    return number
  }

  private static func word(_ argument: SystemCall.Argument) -> String {
    if case .word(let word) = argument { word } else { "" }
  }

  private func unknown(_ call: SystemCall) -> Unknown {
    let words = call.arguments.map { argument in
      switch argument {
      case .descriptor(let number, let path, _): "\(number)<\(path)>"
      case .text(let bytes): "\(bytes.count) bytes"
      case .word(let word): word
      }
    }
    return Unknown(description: "\(call.name)(\(words.joined(separator: ", "))) is not modelled; add it to DiskTrace")
  }
}
