// SPDX-License-Identifier: Apache-2.0

/// A way in which a server of downloads misbehaves, and how a download that meets it may end.
package struct ServerBehaviour: Sendable {
  /// How a download may end.
  package enum End: Sendable, Hashable {
    /// With the whole file: at once, or when it is repeated and the server is good again.
    case file
    /// With another file, of the same size.
    case otherFile
    /// With this body.
    case body([UInt8])
    /// With an error, which is final.
    case failure(Int)
  }

  /// Stable: failure files contain it.
  package let name: String
  /// One of these must happen.
  package let ends: [End]
  /// Answers a request.
  package let answer: @Sendable (ServerTurn) -> [ServerAction]

  init(_ name: String, _ ends: End..., answer: @escaping @Sendable (ServerTurn) -> [ServerAction]) {
    self.name = name
    self.ends = ends
    self.answer = answer
  }

  /// Whether a download that meets it fails, and is not repeated.
  package var isFinal: Bool {
    ends.allSatisfy { end in
      if case .failure = end { true } else { false }
    }
  }

  /// All, in the order of the pages.
  package static let all: [ServerBehaviour] =
    lengths + chunks + ranges + validators + redirections + codings + connections + statuses + fields + versions
    + securePorts

  private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

  /// The behaviour of a name; `nil` when this version has none.
  package static func named(_ name: String) -> ServerBehaviour? { byName[name] }
}

extension ServerBehaviour.End {
  /// `NSURLErrorCannotParseResponse`: TRANSFER-57 and -58.
  static let notHTTP = Self.failure(-1017)
  /// `NSURLErrorCannotDecodeContentData`: TRANSFER-59.
  static let notDecoded = Self.failure(-1016)
  /// `NSURLErrorUnsupportedURL`: TRANSFER-25 and -56.
  static let unsupported = Self.failure(-1002)
  /// `NSURLErrorBadURL`.
  static let badURL = Self.failure(-1000)
  /// `NSURLErrorSecureConnectionFailed`: TRANSFER-61.
  static let notSecure = Self.failure(-1200)
  /// `NSURLErrorHTTPTooManyRedirects`: TRANSFER-55.
  static let tooManyRedirects = Self.failure(-1007)
  static let empty = Self.body([])
  static func text(_ text: String) -> Self { .body(Array(text.utf8)) }
}
