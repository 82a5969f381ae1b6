package import Conversations
import Foundation

/// Who a background session belongs to: the process that created it, and its identifier. The owner's address carries
/// the device and the bundle identifier.
package struct SessionKey: Hashable, Sendable {
  package let owner: Address
  package let identifier: String
  package init(owner: Address, identifier: String) {
    self.owner = owner
    self.identifier = identifier
  }

  /// The story that everything about the session belongs to.
  package var story: Story { Story(correlation: Story.session(owner, identifier)) }
  /// The name of the reason why its owner is kept awake.
  package var assertion: String { "events \(identifier)" }
}

/// One task of a session.
package struct TaskKey: Hashable, Sendable {
  package let session: SessionKey
  package let identifier: Int
  package init(session: SessionKey, identifier: Int) {
    self.session = session
    self.identifier = identifier
  }
}

/// What Transfers asks of the rest of the host, in order.
package enum TransferIntent: Sendable, Equatable {
  /// Have the owner run and keep it running until `release`; then say `awake`. With `launches` false only when it runs
  /// already.
  case wantAwake(Address, because: String, launches: Bool)
  case release(Address, because: String)
  /// The owner did not acknowledge in time: end this life.
  case evict(Address, generation: UInt32, why: String)
  /// The database of the room cannot be written any longer: the host must not go on.
  case broken(String)
}

/// The rules that Apple does not state. Seconds. Source of the values: ours (Documentation/fidelity.md).
package struct TransferSettings: Sendable {
  /// From the hand-over of the events that woke the owner until it is told that its time is running out.
  package var completionDeadline: Double
  /// After the owner was told that its time is running out, until it is evicted.
  package var completionGrace = 5.0
  /// Whether the handler is called after the messages where the session is there already, and the finish is told to an
  /// owner that was not woken too, as developers saw it; or as Apple documents it.
  package var observedEventOrder = false
  /// After a hand-over that was not acknowledged in time, doubling.
  package var redeliveryPause: Double
  /// Unacknowledged hand-overs after which the events are held until a process creates the session.
  package var deliveryTries: Int
  /// After an attempt to download that failed, doubling to 60 s.
  package var resumePause: Double

  package init(
    completionDeadline: Double = 30, redeliveryPause: Double = 60, deliveryTries: Int = 5, resumePause: Double = 1
  ) {
    self.resumePause = resumePause
    self.completionDeadline = completionDeadline
    self.redeliveryPause = redeliveryPause
    self.deliveryTries = deliveryTries
  }
}
