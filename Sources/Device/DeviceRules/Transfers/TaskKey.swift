// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// The key of a background session: the process that created it, and its identifier. The owner's address contains the
/// device and the bundle identifier.
package struct SessionKey: Hashable, Sendable {
  package let owner: Address
  package let identifier: String
  package init(owner: Address, identifier: String) {
    self.owner = owner
    self.identifier = identifier
  }

  /// The message context of everything about the session.
  package var context: MessageContext {
    MessageContext(correlation: MessageContext.correlation(ofSession: identifier, of: owner))
  }
  /// The assertion that keeps the owner awake for events.
  package var assertion: Assertion { Assertion.events(of: identifier) }
}

extension SessionKey: Comparable {
  package static func < (left: SessionKey, right: SessionKey) -> Bool {
    (left.owner.text, left.identifier) < (right.owner.text, right.identifier)
  }
}

/// The key of a task of a session.
package struct TaskKey: Hashable, Sendable {
  package let session: SessionKey
  package let identifier: Int
  package init(session: SessionKey, identifier: Int) {
    self.session = session
    self.identifier = identifier
  }
}
