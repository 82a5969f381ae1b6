// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import ShownText

/// The notes about user defaults.
enum DefaultsNotes {
  /// The entries of the table.
  static let all: [NoteEntry] = [
    .note(ReadDefaults.self) { [$0.domain ?? "the domains", $0.key].compactMap(\.self).joined(separator: " ") },
    .reply(to: ReadDefaults.self) { $0.values.isEmpty ? "\($0.domains.count) domains" : "\($0.values.count) values" },
    .note(WriteDefaults.self) { "\($0.domain) \($0.change.text)" },
    .note(DefaultsChanged.self) { changed in
      let keys = changed.keys.joined(separator: ", ")
      return "\(changed.domain) \(keys)" + (changed.changes > changed.keys.count ? "; \(changed.changes) changes" : "")
    },
  ]
}

extension WriteDefaults.Change {
  /// `limit = 400`.
  fileprivate var text: String {
    switch self {
    case .set(let key, let value): "\(key) = \(value.text.start(bytes: 100))"
    case .remove(let key): "removes \(key)"
    case .clear: "removes all keys"
    }
  }
}

extension DefaultsValue {
  /// The value as an operator reads it: a string as it is, `(a, b)` for an array, `{k = v}` for a dictionary, bytes in
  /// hexadecimal.
  package var text: String {
    switch self {
    case .string(let value): value
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .bool(let value): value ? "true" : "false"
    case .date(let value): value.formatted(.iso8601)
    case .data(let value): "<" + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + ">"
    case .array(let values): "(\(values.map(\.text).joined(separator: ", ")))"
    case .dictionary(let values):
      "{\(values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value.text)" }.joined(separator: ", "))}"
    }
  }
}
