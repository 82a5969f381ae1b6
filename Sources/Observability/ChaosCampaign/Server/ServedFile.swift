// SPDX-License-Identifier: Apache-2.0

/// A file of the misbehaving server: figures as the sample reads them, with padding that no two files share.
package struct ServedFile: Sendable {
  package let name: String
  package let bytes: [UInt8]
  /// A strong validator.
  package var entityTag: String { "\"\(name)-\(bytes.count)\"" }

  /// Creates the file of a name, of so many bytes.
  package init(_ name: String, size: Int) {
    self.name = name
    let head = #"{"date":"2026-01-02T00:00:00Z","drinks":[],"freshFor":1,"milligrams":80,"padding":""#
    var random = SplitMix64(seed: name.utf8.reduce(5381) { $0 &* 33 &+ UInt64($1) })
    var bytes = Array(head.utf8)
    bytes.reserveCapacity(size)
    while bytes.count < size - 2 {
      var eight = random.next()
      for _ in 0..<8 {
        bytes.append(UInt8(97 + eight & 15))
        eight >>= 8
      }
    }
    self.bytes = bytes.prefix(size - 2) + Array(#""}"#.utf8)
  }
}

/// A request to the misbehaving server.
package struct ServerRequest: Sendable {
  /// Without a query.
  package let path: String
  /// The first byte that `Range` asks for; `nil` without the header.
  package let first: Int?
  package let ifRange: String?

  /// Reads the head of a request, without the empty line at its end; `nil` when it is none.
  package init?(head: String) {
    let lines = head.split(separator: "\r\n")
    guard let words = lines.first?.split(separator: " "), words.count >= 2 else { return nil }
    path = String(words[1].prefix { $0 != "?" })
    func value(_ name: String) -> String? {
      lines.dropFirst().first { $0.lowercased().hasPrefix(name + ":") }.map {
        String($0.dropFirst(name.count + 1).drop { $0 == " " })
      }
    }
    first = value("range").flatMap { text in
      text.hasPrefix("bytes=") ? Int(text.dropFirst(6).prefix { $0 != "-" }) : nil
    }
    ifRange = value("if-range")
  }
}

/// What a server does with a connection. It is closed after the last action, unless that is `keep`.
package enum ServerAction: Sendable, Hashable {
  case send([UInt8])
  /// In pieces, with pauses: so long that something may happen in between.
  case sendSlowly([UInt8])
  /// Milliseconds.
  case wait(Int)
  /// The connection is closed with RST.
  case reset
  /// Nothing more is sent, but the connection stays open until the client closes it, for at most a second.
  case finish
  /// Another request may follow.
  case keep
}
