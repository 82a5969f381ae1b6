// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Glibc

/// An HTTP request over a plain socket. It suffices for a provider on this machine, without an HTTP library in every
/// test.
enum PlainHTTP {
  struct Answer: Sendable {
    let status: Int
    let body: Data
  }

  /// Fetches a URL such as `http://127.0.0.1:4711/counters`.
  ///
  /// - Throws: `LabError` when the server is not reachable, or sends a chunked response.
  static func get(_ url: String) async throws -> Answer { try await request("GET", url, json: Data()) }

  /// Sends JSON to a URL.
  ///
  /// - Throws: `LabError` when the server is not reachable, or sends a chunked response.
  static func post(_ url: String, json: Data) async throws -> Answer { try await request("POST", url, json: json) }

  private static func request(_ method: String, _ url: String, json: Data) async throws -> Answer {
    guard let parts = URLComponents(string: url), let host = parts.host, let port = parts.port else {
      throw LabError("\(url) has no host and port")
    }
    let path = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    let content = json.isEmpty ? "" : "Content-Type: application/json\r\nContent-Length: \(json.count)\r\n"
    let head = "\(method) \(path) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(content)Connection: close\r\n\r\n"
    let bytes: [UInt8] = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try exchange(Array(head.utf8) + json, host: host, port: UInt16(port)) })
      }
    }
    return try answer(bytes, from: url)
  }

  private static func answer(_ bytes: [UInt8], from url: String) throws -> Answer {
    let data = Data(bytes)
    guard let end = data.range(of: Data("\r\n\r\n".utf8)) else { throw LabError("\(url): no HTTP answer") }
    let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw LabError("\(url): no status line")
    }
    guard !lines.contains(where: { $0.lowercased().hasPrefix("transfer-encoding: chunked") }) else {
      throw LabError("\(url): the response is chunked, which this client does not support")
    }
    return Answer(status: status, body: Data(data[end.upperBound...]))
  }

  private static func exchange(_ request: [UInt8], host: String, port: UInt16) throws -> [UInt8] {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw LabError("no socket: \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { throw LabError("\(host) is not an IPv4 address") }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw LabError("\(host):\(port): \(String(cString: strerror(errno)))") }
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw LabError("\(host):\(port): \(String(cString: strerror(errno)))")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw LabError("\(host):\(port): \(String(cString: strerror(errno)))") }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }
}
