// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Glibc

/// An HTTP request to the provider of a campaign's cluster, over a plain socket. It is enough for a server on this
/// machine that sends the length of its response.
enum LocalRequest {
  /// Why there is no response.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Sends a request, and returns the body of a response with a status of 200 to 299.
  ///
  /// - Parameter json: the body of a POST; `nil` for a GET.
  static func send(_ url: String, json: String? = nil, within limit: Duration = .seconds(2)) async throws -> Data {
    guard let parts = URLComponents(string: url), let host = parts.host, let port = parts.port else {
      throw Failure(description: "\(url) has no host and port")
    }
    let path = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    let content = json.map { "Content-Type: application/json\r\nContent-Length: \($0.utf8.count)\r\n" } ?? ""
    let head =
      "\(json == nil ? "GET" : "POST") \(path) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(content)Connection: close\r\n\r\n"
    let bytes: Data = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result { try exchange(Array((head + (json ?? "")).utf8), host, UInt16(port), within: limit) })
      }
    }
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)),
      let status = String(decoding: bytes.prefix(32), as: UTF8.self).split(separator: " ").dropFirst().first,
      status.hasPrefix("2")
    else { throw Failure(description: "\(url): \(String(decoding: bytes.prefix(60), as: UTF8.self))") }
    return Data(bytes[end.upperBound...])
  }

  private static func exchange(_ request: [UInt8], _ host: String, _ port: UInt16, within limit: Duration) throws
    -> Data
  {
    func failure() -> Failure { Failure(description: "\(host):\(port): \(String(cString: strerror(errno)))") }
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { throw failure() }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0, Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw failure()
    }
    var bytes = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw failure() }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }
}
