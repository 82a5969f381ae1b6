// SPDX-License-Identifier: Apache-2.0

import APNs
import Messages
import NIOHPACK

/// The parsed header list of a request: RFC 9113, section 8.3.
struct RequestHead {
  private(set) var method = ""
  private(set) var path = ""
  private(set) var headers: [APNsRequest.Header] = []
  private(set) var contentLength: Int?
  /// The size in memory, counted as in section 6.5.2.
  private(set) var size = 0

  /// Why a request is malformed. Its stream is reset: section 8.1.1.
  struct Malformed: Error {
    let text: String

    init(text: String) { self.text = text.excerpt(bytes: 200) }
  }

  init(_ list: HPACKHeaders) throws(Malformed) {
    headers.reserveCapacity(list.count)
    var (hasMethod, hasPath, hasScheme, hasAuthority) = (false, false, false, false)
    func once(_ seen: inout Bool, name: String, value: String) throws(Malformed) {
      guard !seen else { throw Malformed(text: "\(name) is repeated") }
      guard RequestHead.isValid(value: value) else { throw Malformed(text: "invalid value of \(name)") }
      seen = true
    }
    for (name, value, _) in list {
      size += name.utf8.count + value.utf8.count + 32
      guard name.utf8.first == UInt8(ascii: ":") else {
        try append(name, value)
        continue
      }
      guard headers.isEmpty else { throw Malformed(text: "\(name) comes after other headers") }
      // The length first: a comparison of texts is a call.
      switch (name.utf8.count, name) {
      case (7, ":method"):
        try once(&hasMethod, name: name, value: value)
        method = value
      case (5, ":path"):
        try once(&hasPath, name: name, value: value)
        path = value
      case (7, ":scheme"):
        try once(&hasScheme, name: name, value: value)
        guard value == "https" else { throw Malformed(text: ":scheme is \(value) and must be https") }
      case (10, ":authority"):
        try once(&hasAuthority, name: name, value: value)
        guard !value.utf8.contains(UInt8(ascii: "@")) else { throw Malformed(text: ":authority has user information") }
      default: throw Malformed(text: "\(name) is not a request header")
      }
    }
    guard hasScheme, !method.isEmpty, !path.isEmpty else {
      throw Malformed(text: "one of :method, :scheme and :path is missing or empty")
    }
  }

  private mutating func append(_ name: String, _ value: String) throws(Malformed) {
    try RequestHead.check(name, value)
    if name.utf8.count == 14, name == "content-length" {
      guard value.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int(value),
        contentLength == nil || contentLength == length
      else { throw Malformed(text: "invalid content-length: \(value)") }
      contentLength = length
    }
    headers.append(APNsRequest.Header(name: name, value: value))
  }

  /// Checks the fields after a body, which are not used: section 8.1.
  static func check(trailers list: HPACKHeaders) throws(Malformed) {
    for (name, value, _) in list { try check(name, value) }
  }

  /// Checks a field that is not a pseudo-header: sections 8.2.1 and 8.2.2.
  private static func check(_ name: String, _ value: String) throws(Malformed) {
    guard isValid(name: name) else {
      throw Malformed(text: "the header name '\(name)' is not in lower case, or has an invalid character")
    }
    guard isValid(value: value) else { throw Malformed(text: "invalid value of the header \(name)") }
    switch (name.utf8.count, name) {
    case (10, "connection"), (10, "keep-alive"), (16, "proxy-connection"), (17, "transfer-encoding"), (7, "upgrade"):
      throw Malformed(text: "the header \(name) is not allowed in HTTP/2")
    case (2, "te") where value != "trailers": throw Malformed(text: "the header te may only have the value trailers")
    default: break
    }
  }

  /// Whether a name has only visible ASCII characters, and no capital letter and no colon. The HPACK decoder refuses an
  /// empty one.
  private static func isValid(name: String) -> Bool {
    var name = name
    return name.withUTF8 { bytes in
      // without a branch, the compiler checks many bytes at once
      var faults: UInt8 = 0
      for byte in bytes {
        faults |= byte &- 0x21 > 0x7e - 0x21 ? 1 : 0
        faults |= byte &- 0x41 <= 0x5a - 0x41 ? 1 : 0
        faults |= byte == UInt8(ascii: ":") ? 1 : 0
      }
      return faults == 0
    }
  }

  /// Whether a value has no NUL, CR or LF, and no white space at its ends.
  private static func isValid(value: String) -> Bool {
    var value = value
    return value.withUTF8 { bytes in
      guard let first = bytes.first, let last = bytes.last else { return true }
      guard first != 0x20, first != 0x09, last != 0x20, last != 0x09 else { return false }
      var faults: UInt8 = 0
      for byte in bytes { faults |= (byte == 0 ? 1 : 0) | (byte == 0x0a ? 1 : 0) | (byte == 0x0d ? 1 : 0) }
      return faults == 0
    }
  }
}
