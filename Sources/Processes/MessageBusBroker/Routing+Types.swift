// SPDX-License-Identifier: Apache-2.0

import Messages

extension Routing {
  enum Action: Equatable {
    /// Append this stamped frame to the journal, and publish it on the tap.
    case record([UInt8])
    /// Append the stamped frame at this place of the received batch to the journal, publish it on the tap, and send it
    /// on a connection, if any.
    case pass(Int, to: Line?)
    /// Send this stamped frame on a connection.
    case forward([UInt8], to: Line)
    /// Close the connection with this descriptor.
    case cutOff(Int32)
    /// Send this process a signal.
    case raise(Int32)
    /// Call `supersede(by:)` with this key when the grace period has passed.
    case supersede(String)
    /// Close the connections at the tap; permitted viewers reconnect.
    case cutOffViewers
    /// A replica has connected: see `Broker.watchReplicas`.
    case watchReplicas
  }

  /// The state of one connection.
  struct Peer {
    enum State {
      /// Has not sent a hello.
      case unknown
      /// Has not sent a hello, and was asked for one.
      case asked
      /// Sends as `address`, and receives what is sent there.
      case current
      /// Has ended: frames that it sent before are still valid, and may arrive after the notice of its end.
      case ended
      /// Another process took the address over: its frames are refused.
      case replaced
    }
    let key: String
    let descriptor: Int32
    var owner: KeyTable.Owner
    var state = State.unknown
    var address: Address?
    var generation: UInt32 = 0
    /// The number of malformed frames.
    var malformedFrames = 0
  }
}
