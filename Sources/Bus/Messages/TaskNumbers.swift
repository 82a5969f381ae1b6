// SPDX-License-Identifier: Apache-2.0

/// A set of task identifiers, encoded as ranges: `1-3,7`. Ten thousand tasks of a session take a few bytes.
package struct TaskNumbers: Codable, Hashable, Sendable, CustomStringConvertible {
  /// The longest encoded form that a message may contain, in bytes.
  private static let limit = 131_072

  /// The identifiers, in ascending order.
  package let identifiers: [Int]

  /// Creates a set; `nil` when its encoded form is too long for a message.
  package init?(_ identifiers: some Sequence<Int>) {
    self.identifiers = Set(identifiers).sorted()
    if self.identifiers.count > Self.limit / 20, description.utf8.count > Self.limit { return nil }
  }

  package var description: String {
    var ranges: [(first: Int, last: Int)] = []
    for identifier in identifiers {
      if let last = ranges.last?.last, last + 1 == identifier {
        ranges[ranges.count - 1].last = identifier
      } else {
        ranges.append((identifier, identifier))
      }
    }
    return ranges.map { $0.first == $0.last ? "\($0.first)" : "\($0.first)-\($0.last)" }.joined(separator: ",")
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do throws(NotARange) {
      identifiers = try TaskNumbers.identifiers(in: text)
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error.part) is not a range of tasks")
    }
  }

  private struct NotARange: Error {
    let part: Substring
  }

  private static func identifiers(in text: String) throws(NotARange) -> [Int] {
    var identifiers: [Int] = []
    for part in text.split(separator: ",") {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last,
        last - first <= 1_000_000
      else { throw NotARange(part: part) }
      identifiers += first...last
    }
    return identifiers
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension TaskNumbers: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(string: description) }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    let text = try json.string()
    guard let identifiers = try? TaskNumbers.identifiers(in: text) else { throw JSONReader.Unusual() }
    self.identifiers = identifiers
  }
}
