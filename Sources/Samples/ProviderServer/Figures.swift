// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird

/// One day's caffeine figures as the client reads them, followed by padding up to the requested size. The same seed,
/// size and freshness give the same bytes, so that a download can be resumed and compared.
struct Figures: Sendable {
  /// The settings and data from which the server creates figures.
  struct Source: Sendable {
    /// The number of seconds for which a client should treat the figures as fresh.
    let freshFor: Int

    /// The storage of the posted drinks.
    let storage: Storage

    /// Returns the figures of `seed`; without a seed, those of today (UTC), with the drinks that were posted today.
    /// `size` is the number of bytes of the body; `nil`: as many as needed. Throws `FiguresError` with `sizeTooSmall`.
    func figures(seed: String?, size: Int?) async throws -> Figures {
      if let seed { return try Figures(seed: seed, size: size, freshFor: freshFor) }
      let today = Figures.dayFormat.format(Date.now)
      let midnight = try Figures.dayFormat.parse(today)
      let posted = try await storage.drinks(in: midnight..<midnight.addingTimeInterval(86_400))
      return try Figures(seed: today, size: size, freshFor: freshFor, adding: posted)
    }
  }

  private struct Drink: Encodable {
    let name: String
    let milligrams: Int
    let time: String
  }

  private struct Day: Encodable {
    let date: String
    let drinks: [Drink]
    let freshFor: Int
    let milligrams: Int
  }

  private static let dayFormat = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
  private static let timeFormat = Date.ISO8601FormatStyle(timeZone: .gmt)
  private static let menu = [
    ("Espresso", 63), ("Filter coffee", 95), ("Black tea", 47), ("Green tea", 28), ("Cola", 34),
  ]
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The number of bytes of the body.
  let size: Int
  /// A strong validator: different bytes have a different one.
  let entityTag: String

  private let head: [UInt8]
  private let tail = Array("\"}".utf8)
  private let seed: UInt64

  private init(seed text: String, size askedSize: Int?, freshFor: Int, adding posted: [PostedDrink] = []) throws {
    seed = Self.hash(text.utf8)
    let day = try Self.day(named: text, seed: seed, freshFor: freshFor, adding: posted)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    head = Array(try encoder.encode(day).dropLast()) + Array(",\"padding\":\"".utf8)
    let least = head.count + tail.count
    size = askedSize ?? least
    guard size >= least else {
      throw FiguresError(code: .sizeTooSmall, explanation: "size must be at least \(least) bytes for these figures")
    }
    entityTag = "\"\(String(seed, radix: 16))-\(String(Self.hash(head), radix: 16))-\(size)\""
  }

  /// The bytes of the body at `range`, which lies within it.
  func bytes(_ range: Range<Int>) -> [UInt8] {
    let padding = (head.count..<(size - tail.count)).clamped(to: range)
    return [UInt8](unsafeUninitializedCapacity: range.count) { buffer, initialized in
      for index in range.clamped(to: 0..<head.count) { buffer[index - range.lowerBound] = head[index] }
      Self.letters.withUnsafeBufferPointer { letters in
        var index = padding.lowerBound
        while index < padding.upperBound {
          // The padding depends only on the seed and the index, so that a part that is requested later fits, and no two
          // parts are alike.
          var eight = Self.mixed(seed &+ UInt64(index / 8)) >> UInt64(index % 8 * 8)
          let end = min(index - index % 8 + 8, padding.upperBound)
          while index < end {
            buffer[index - range.lowerBound] = letters[Int(eight & 63)]
            eight >>= 8
            index += 1
          }
        }
      }
      let end = size - tail.count
      for index in range.clamped(to: end..<size) { buffer[index - range.lowerBound] = tail[index - end] }
      initialized = range.count
    }
  }

  /// The drinks drawn from the seed, and those that were posted. A seed that is a day (2026-05-12) gives that day's
  /// date, any other seed a day of 2026.
  private static func day(
    named text: String, seed: UInt64, freshFor: Int, adding posted: [PostedDrink]
  ) throws -> Day {
    var draws = seed
    func draw(below limit: Int) -> Int {
      draws = mixed(draws)
      return Int(draws % UInt64(limit))
    }
    let newYear = Date(timeIntervalSince1970: 1_767_225_600)
    let midnight = (try? dayFormat.parse(text)) ?? newYear.addingTimeInterval(Double(draw(below: 365)) * 86_400)
    var time = midnight.addingTimeInterval(7 * 3600)
    let drawn = (0..<(2 + draw(below: 3))).map { _ in
      time += Double(600 + draw(below: 10_000))
      let (name, milligrams) = menu[draw(below: menu.count)]
      return Drink(name: name, milligrams: milligrams, time: timeFormat.format(time))
    }
    let drinks =
      drawn + posted.map { Drink(name: $0.name, milligrams: $0.milligrams, time: timeFormat.format($0.time)) }
    return Day(
      date: timeFormat.format(midnight), drinks: drinks, freshFor: freshFor,
      milligrams: drinks.reduce(0) { $0 + $1.milligrams })
  }

  /// FNV-1a.
  private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
  }

  /// One step of SplitMix64.
  private static func mixed(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

/// The reason why a request for figures cannot be answered.
struct FiguresError: Error {
  enum Code: String, Encodable {
    /// A query parameter has an invalid value.
    case parameterInvalid
    /// The figures take more bytes than were requested.
    case sizeTooSmall
  }

  let code: Code
  let explanation: String
}

/// The parameters in the query of `/figures`. Parameters with other names are allowed, and counted as a separate path.
struct FiguresQuery: Sendable {
  var size: Int?
  var bytesPerSecond: Int?
  /// The first byte that is not sent before `POST /figures/release`.
  var holdAt: Int?
  var delay: Duration = .zero
  var status = 200
  var canResume = true
  var seed: String?

  /// Reads the parameters. Throws `FiguresError` with `parameterInvalid`, naming the parameter.
  init(_ request: Request) throws {
    let parameters = request.uri.queryParameters
    func number(_ name: String, in allowed: ClosedRange<Int>) throws -> Int? {
      guard let text = parameters[Substring(name)] else { return nil }
      guard let value = Int(text), allowed.contains(value) else {
        throw FiguresError(
          code: .parameterInvalid,
          explanation: "\(name) must be a number from \(allowed.lowerBound) to \(allowed.upperBound), not '\(text)'")
      }
      return value
    }
    size = try number("size", in: 0...(1 << 40))
    bytesPerSecond = try number("bytesPerSecond", in: 1...(1 << 40))
    holdAt = try number("holdAt", in: 0...(1 << 40))
    delay = .milliseconds(try number("delay", in: 0...86_400_000) ?? 0)
    status = try number("status", in: 200...599) ?? 200
    seed = parameters["seed"].map(String.init)
    if let ranges = parameters["ranges"] {
      guard ["on", "off"].contains(ranges) else {
        throw FiguresError(code: .parameterInvalid, explanation: "ranges must be 'on' or 'off', not '\(ranges)'")
      }
      canResume = ranges == "on"
    }
  }
}

/// Which bytes of a body of a known size a request asks for (RFC 9110, section 14).
enum RequestedRange: Equatable {
  case whole
  case part(Range<Int>)
  case unsatisfiable

  /// `range` and `ifRange` are the values of the header fields. The forms `bytes=N-` and `bytes=N-M` are honoured. Any
  /// other form is ignored, as the RFC allows, and the whole body is sent; the same applies when `If-Range` names
  /// another body.
  init(range: String?, ifRange: String?, size: Int, entityTag: String) {
    guard let range, range.hasPrefix("bytes="), ifRange == nil || ifRange == entityTag else {
      self = .whole
      return
    }
    let ends = range.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Int(ends[0]), first >= 0, ends[1].isEmpty || Int(ends[1]) != nil else {
      self = .whole
      return
    }
    let last = Int(ends[1]) ?? (size - 1)
    guard last >= first || ends[1].isEmpty else {
      self = .whole
      return
    }
    self = first < size ? .part(first..<(min(last, size - 1) + 1)) : .unsatisfiable
  }
}
