package import Conversations
import Foundation
import Timekeeping

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
