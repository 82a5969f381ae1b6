// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A provider's request as received, valid or not.
package struct APNsRequest: Hashable, Sendable {
  package struct Header: Hashable, Sendable {
    /// In lower case, as HTTP/2 requires.
    package let name: String
    package let value: String
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    /// Compares the lengths first: most names differ in it, and a comparison of texts is a call.
    func isNamed(_ name: String) -> Bool { self.name.utf8.count == name.utf8.count && self.name == name }
  }
  /// The `:method` pseudo-header.
  package let method: String
  /// The `:path` pseudo-header.
  package let path: String
  /// What the path names.
  let resource: RequestPath
  /// The device token of the path in lower case; `nil` for another path, and when it is empty.
  package let deviceToken: String?
  /// All headers except pseudo-headers, in order, repetitions included.
  package let headers: [Header]
  /// At most `bodyLimit` bytes; `isTruncated` is set for a longer body.
  package let body: [UInt8]
  /// True when the body was longer than `bodyLimit`.
  package let isTruncated: Bool

  /// The bytes of a body that the server keeps: more than any valid push has.
  package static let bodyLimit = 8192

  package init(method: String, path: String, headers: [Header], body: [UInt8], isTruncated: Bool = false) {
    self.method = method
    self.path = path
    resource = RequestPath(path)
    deviceToken = resource.token.flatMap { $0.isEmpty ? nil : $0.inLowerCase }
    self.headers = headers
    self.body = body
    self.isTruncated = isTruncated
  }

  /// The first header with this lower-case name.
  package subscript(name: String) -> String? { headers.first { $0.isNamed(name) }?.value }
}

/// The response to a provider.
package struct APNsAnswer: Hashable, Sendable {
  /// How the response is sent.
  package enum Manner: Hashable, Sendable {
    case response
    /// The response, then a GOAWAY with the reason as its JSON.
    case responseAndGoAway
    /// No response: the stream is reset.
    case reset
    /// No response: a GOAWAY with the reason as its JSON while the stream is open; then the connection closes.
    case goAway
  }
  package let status: Int
  /// `nil` for 200, or when the operator requested a response without one.
  package let reason: String?
  /// With 410: the date since which the token is known to be invalid. Sent as milliseconds.
  package let timestamp: Date?
  /// As sent by the client, or generated.
  package let apnsID: String
  /// The header that carries `apnsID`: `apns-id`, or `apns-request-id` for a broadcast.
  package let idHeader: String
  /// `apns-unique-id`; sent only in the development environment.
  package let uniqueID: UUID?
  package var manner: Manner
  /// Seconds until the response is sent, as requested by the operator.
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

/// Why a push was refused: the reason sent to the provider, and the explanation for the log.
package struct APNsRefusal: Error, Hashable, Sendable {
  package let reason: APNsReason
  /// What is wrong with the request and by which rule, for the delivery log. Not sent to the provider.
  package let explanation: String
  /// With 410: the date since which the token is invalid.
  package let timestamp: Date?
  /// True when the connection becomes unusable: a GOAWAY follows.
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
