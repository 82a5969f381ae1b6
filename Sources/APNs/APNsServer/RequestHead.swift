// SPDX-License-Identifier: Apache-2.0

import APNs
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
  }

  init(_ list: HPACKHeaders) throws(Malformed) {
    headers.reserveCapacity(list.count)
    var (hasMethod, hasPath, hasScheme, hasAuthority) = (false, false, false, false)
    func once(_ seen: inout Bool, _ name: String) throws(Malformed) {
      guard !seen else { throw Malformed(text: "\(name) is repeated") }
      seen = true
    }
    for (name, value, _) in list {
      size += name.utf8.count + value.utf8.count + 32
      guard name.utf8.first == UInt8(ascii: ":") else {
        try append(name, value)
        continue
      }
      guard headers.isEmpty else { throw Malformed(text: "\(name) comes after other headers") }
      switch name {
      case ":method":
        try once(&hasMethod, name)
        method = value
      case ":path":
        try once(&hasPath, name)
        path = value
      case ":scheme":
        try once(&hasScheme, name)
        guard value == "https" else { throw Malformed(text: ":scheme is \(value) and must be https") }
      case ":authority": try once(&hasAuthority, name)
      default: throw Malformed(text: "\(name) is not a request header")
      }
    }
    guard hasMethod, hasPath, hasScheme else { throw Malformed(text: "one of :method, :scheme and :path is missing") }
  }

  private mutating func append(_ name: String, _ value: String) throws(Malformed) {
    guard !name.utf8.contains(where: { 0x41...0x5a ~= $0 }) else {
      throw Malformed(text: "the header \(name) is not in lower case")
    }
    switch name {
    case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
      throw Malformed(text: "the header \(name) is not allowed in HTTP/2")
    case "te" where value != "trailers": throw Malformed(text: "the header te may only have the value trailers")
    case "content-length":
      guard let length = Int(value), length >= 0, contentLength == nil || contentLength == length else {
        throw Malformed(text: "invalid content-length: \(value)")
      }
      contentLength = length
    default: break
    }
    headers.append(APNsRequest.Header(name: name, value: value))
  }
}
