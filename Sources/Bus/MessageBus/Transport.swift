// SPDX-License-Identifier: Apache-2.0

/// Carries a connection's frames. Confined to the connection's loop, as are its closures.
package protocol Transport: AnyObject {
  /// Begins to connect, and retries until it succeeds.
  ///
  /// - Parameter deliver: called for each connection, disconnection and frame.
  /// - Throws: when the transport cannot be created; an unreachable broker is not an error.
  func open(_ deliver: @escaping @Sendable (TransportEvent) -> Void) throws
  /// Sends a frame; `false` when the queue is full.
  func send(_ frame: [UInt8]) -> Bool
  /// Calls the handler once, when the queue has room again.
  func whenWritable(_ handler: @escaping @Sendable () -> Void)
  func close()
  /// Whether a transport created now would use another key than this one.
  var hasNewerKey: Bool { get }
}

/// An event of a transport.
package enum TransportEvent: Sendable {
  /// Connected: frames can be sent.
  case up
  /// Disconnected. The transport reconnects by itself.
  case down
  /// The broker rejected the key permanently. The transport does not reconnect.
  case turnedAway
  case received([UInt8])
}
