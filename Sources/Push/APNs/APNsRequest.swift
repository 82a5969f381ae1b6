package import Foundation

/// A provider's request as it came off the wire, whatever is wrong with it.
package struct APNsRequest: Hashable, Sendable {
  package struct Header: Hashable, Sendable {
    /// In lower case, as HTTP/2 has it.
    package let name: String
    package let value: String
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }
  /// `:method`.
  package let method: String
  /// `:path`.
  package let path: String
  /// All but the pseudo headers, in their order, repetitions too.
  package let headers: [Header]
  /// At most `bodyLimit` bytes: of a longer one `isTruncated` tells.
  package let body: [UInt8]
  /// There was more of the body than the front keeps.
  package let isTruncated: Bool

  /// Bytes of a body that the front keeps: more than any push may have.
  package static let bodyLimit = 8192

  package init(method: String, path: String, headers: [Header], body: [UInt8], isTruncated: Bool = false) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
    self.isTruncated = isTruncated
  }

  /// The first header of a name in lower case.
  package subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// What a provider is answered.
package struct APNsAnswer: Hashable, Sendable {
  /// What happens on the wire.
  package enum Manner: Hashable, Sendable {
    case response
    /// The response, and then a GOAWAY with the reason as its JSON.
    case responseAndGoAway
    /// No response: the stream is reset.
    case reset
    /// No response: a GOAWAY with the reason as its JSON, while the stream is open; then the connection ends.
    case goAway
  }
  package let status: Int
  /// `nil` with 200 alone, or when the operator asked for another answer without one.
  package let reason: String?
  /// With 410: since when the token is known to be invalid. Sent as milliseconds.
  package let timestamp: Date?
  /// As it was sent, or made.
  package let apnsID: String
  /// The header in which `apnsID` goes: `apns-id`, and for a broadcast `apns-request-id`.
  package let idHeader: String
  /// `apns-unique-id`; in the development environment alone.
  package let uniqueID: UUID?
  package let manner: Manner
  /// Seconds until it is sent, as the operator asked.
  package let latency: Double

  package init(
    status: Int, reason: String? = nil, timestamp: Date? = nil, apnsID: String, idHeader: String = "apns-id",
    uniqueID: UUID? = nil, manner: Manner = .response, latency: Double = 0
  ) {
    self.status = status
    self.reason = reason
    self.timestamp = timestamp
    self.apnsID = apnsID
    self.idHeader = idHeader
    self.uniqueID = uniqueID
    self.manner = manner
    self.latency = latency
  }
}

/// Why a push was refused: the reason that the provider is told, and what it is not told.
package struct APNsRefusal: Error, Hashable, Sendable {
  package let reason: APNsReason
  /// What was wrong with this request, by which rule: for the delivery log.
  package let explanation: String
  /// With 410: since when.
  package let timestamp: Date?
  /// The connection is of no more use: a GOAWAY follows.
  package let endsConnection: Bool
  package init(
    _ reason: APNsReason, _ explanation: String, timestamp: Date? = nil, endsConnection: Bool = false
  ) {
    self.reason = reason
    self.explanation = explanation
    self.timestamp = timestamp
    self.endsConnection = endsConnection
  }
}

/// What stands behind the front.
package protocol APNsBackend: Sendable {
  /// What the front knows of a connection, from its beginning to its end.
  ///
  /// - Parameter certificate: DER of the client's certificate, verified to be of this server's CA; `nil` without one.
  func open(certificate: [UInt8]?) -> ProviderSession
  /// Decides a request. Called on the connection's event loop, for one request after the other; quick, and without
  /// waiting: `answer` may be called later and on any thread, once.
  func receive(
    _ request: APNsRequest, in session: inout ProviderSession, answer: @escaping @Sendable (APNsAnswer) -> Void)
}
