// SPDX-License-Identifier: Apache-2.0

import DeviceRules

/// What a task has on disk when a request is sent.
package struct StoredPart: Sendable, Equatable {
  package let bytes: Int64
  /// A strong entity tag or a modification date of the stored bytes, for `If-Range`.
  package let validator: String?
  /// The length of the whole file; -1 when the server did not report it.
  package let expectedLength: Int64

  package init(bytes: Int64, validator: String?, expectedLength: Int64) {
    self.bytes = bytes
    self.validator = validator
    self.expectedLength = expectedLength
  }

  /// The first byte to request. Bytes without a validator cannot be shown to be part of the same file.
  package var resumesAt: Int64 { validator == nil ? 0 : bytes }

  /// The headers of a request for the rest.
  package var rangeHeaders: [(name: String, value: String)] {
    guard resumesAt > 0, let validator else { return [] }
    return [("Range", "bytes=\(resumesAt)-"), ("If-Range", validator)]
  }
}

/// What a response means for the stored bytes (RFC 9110, sections 13.1.5, 14.2 and 15.3.7).
package enum ResponseVerdict: Sendable, Equatable {
  /// The body continues where the file ends.
  case append
  /// The body is the whole representation. `discarding`: whether stored bytes are void.
  case begin(discarding: Bool)
  /// The range is not available: request again from byte 0.
  case again

  /// Evaluates the head of a response to a request with `part.rangeHeaders`.
  package init(status: Int, headers: [[String]], part: StoredPart) {
    guard part.resumesAt > 0 else {
      self = .begin(discarding: part.bytes > 0)
      return
    }
    switch status {
    case 206:
      guard let range = ContentRange(HeaderList(headers)["content-range"]), range.first == part.bytes,
        part.expectedLength < 0 || range.total == nil || range.total == part.expectedLength,
        HeaderList(headers).validator.map({ $0 == part.validator }) ?? true
      else {
        self = .again
        return
      }
      self = .append
    case 416: self = .again
    default: self = .begin(discarding: true)
    }
  }
}

/// `Content-Range: bytes 5-9/10`.
struct ContentRange: Equatable {
  let first: Int64
  let last: Int64
  let total: Int64?

  init?(_ text: String?) {
    guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst("bytes ".count).split(separator: "/")
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: "-")
    guard ends.count == 2, let first = Int64(ends[0]), let last = Int64(ends[1]), first <= last else { return nil }
    self.first = first
    self.last = last
    self.total = Int64(parts[1])
  }
}

/// Headers as they are sent: pairs of name and value.
package struct HeaderList: Sendable {
  let pairs: [[String]]
  package init(_ pairs: [[String]]) { self.pairs = pairs }

  /// The first value of a name, compared without case.
  package subscript(name: String) -> String? {
    pairs.first { $0.count == 2 && $0[0].lowercased() == name.lowercased() }?[1]
  }

  /// The validator for `If-Range` of a later request: a strong entity tag, otherwise the modification date.
  package var validator: String? {
    if let tag = self["etag"], tag.hasPrefix("\""), tag.hasSuffix("\""), tag.count > 1 { return tag }
    return self["last-modified"]
  }
}
