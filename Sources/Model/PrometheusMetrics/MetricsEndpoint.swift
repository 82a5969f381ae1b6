// SPDX-License-Identifier: Apache-2.0

/// Where a process exposes its metrics: `HOST:PORT`, with an IPv6 address in brackets. The port 0 selects a free one.
package struct MetricsEndpoint: Hashable, Sendable, CustomStringConvertible {
  package let host: String
  package let port: UInt16
  /// Whether only processes of this machine reach it.
  package var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Returns `nil` when the text is not `HOST:PORT`.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "/" }) else { return nil }
    self.init(host: String(host), port: port)
  }

  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why the metrics cannot be exposed. Definite.
package struct MetricsError: Error, Hashable, Sendable, CustomStringConvertible {
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }
}
