// SPDX-License-Identifier: Apache-2.0

package import Messages

/// Handles the requests that the HTTP/2 server receives.
package protocol APNsBackend: Sendable {
  /// Creates the session of a connection, which lasts as long as the connection.
  ///
  /// - Parameter certificate: DER of the client certificate, verified against this server's CA; `nil` without one.
  func open(certificate: [UInt8]?) -> ProviderSession
  /// Reads what a request needs from a database that is not in memory. Called on the connection's event loop, before
  /// `receive`. Must return quickly and not block.
  ///
  /// - Parameter then: called exactly once, on any thread, if nothing is returned.
  func lookUp(_ request: APNsRequest, then: @escaping @Sendable (APNsLookUp) -> Void) -> APNsLookUp?

  /// Handles a request with what `lookUp` has read. See below.
  func receive(
    _ request: APNsRequest, _ found: APNsLookUp, in session: inout ProviderSession,
    answer: @escaping @Sendable (APNsAnswer) -> Void)

  /// Handles a request. Called on the connection's event loop, one request at a time. Must return quickly and not
  /// block: `answer` is called exactly once, possibly later and on any thread.
  func receive(
    _ request: APNsRequest, in session: inout ProviderSession, answer: @escaping @Sendable (APNsAnswer) -> Void)
}

/// What a backend has read for a request.
package struct APNsLookUp: Sendable {
  /// The device token of the path; `nil` inside when it is unknown.
  package let token: Result<DeviceToken?, any Error>

  package init(token: Result<DeviceToken?, any Error>) { self.token = token }
}

extension APNsBackend {
  /// Nothing: the backend has all it needs in memory.
  package func lookUp(_ request: APNsRequest, then: @escaping @Sendable (APNsLookUp) -> Void) -> APNsLookUp? {
    APNsLookUp(token: .success(nil))
  }

  /// Handles a request without what was read.
  package func receive(
    _ request: APNsRequest, _ found: APNsLookUp, in session: inout ProviderSession,
    answer: @escaping @Sendable (APNsAnswer) -> Void
  ) { receive(request, in: &session, answer: answer) }
}
