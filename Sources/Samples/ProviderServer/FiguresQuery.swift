// SPDX-License-Identifier: Apache-2.0

import Hummingbird

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
