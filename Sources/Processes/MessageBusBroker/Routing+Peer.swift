// SPDX-License-Identifier: Apache-2.0

import Messages

extension Routing {
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
