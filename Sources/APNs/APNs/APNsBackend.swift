// SPDX-License-Identifier: Apache-2.0

/// Handles the requests that the HTTP/2 server receives.
package protocol APNsBackend: Sendable {
  /// Creates the session of a connection, which lasts as long as the connection.
  ///
  /// - Parameter certificate: DER of the client certificate, verified against this server's CA; `nil` without one.
  func open(certificate: [UInt8]?) -> ProviderSession
  /// Handles a request. Called on the connection's event loop, one request at a time. Must return quickly and not
  /// block: `answer` is called exactly once, possibly later and on any thread.
  func receive(
    _ request: APNsRequest, in session: inout ProviderSession, answer: @escaping @Sendable (APNsAnswer) -> Void)
}
