// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
package import Foundation

/// The extension as the author wrote it, and what is on its way to it and from it.
///
/// It creates its session when it starts or in the handler (*Downloading files in the background*), returns a timeline
/// for each request (`TimelineProvider`), and calls completion handlers. It may exit at any time, and take any time.
package struct ExtensionEnvironment: Hashable, Sendable {
  /// A delivery of events on its way to an instance, until it is acknowledged or stopped.
  package struct Attempt: Hashable, Sendable {
    package let id: UUID
    package let generation: UInt32
    package let wakesHandler: Bool
    package let tasks: [Int]
    /// The copies of the files are complete, and the message was sent.
    package var isSent = false
    /// The extension has it, and its handler was called.
    package var isBeingHandled = false
  }

  /// An acknowledgement, or a refusal, on its way to the host.
  package struct Reply: Hashable, Sendable {
    package let id: UUID
    /// `nil`: it refused.
    package let tasks: [Int]?
  }

  /// The generation that has the session open.
  package var openIn: UInt32?
  package var attempts: [Attempt] = []
  package var replies: [Reply] = []
  /// Checks whether the owner may still acknowledge.
  package var checks: [Reply] = []
  /// Ends of tasks that the disk does not have yet.
  package var ends: [Int] = []
  /// The tasks whose events an instance has handled, and whose acknowledgement the host has.
  package var acknowledged: Set<Int> = []
  package var created: Int8 = 0
  /// The tasks that are being loaded, and whether each is to be stopped.
  package var loads: [Int: Bool] = [:]
  /// Tasks whose time for the resource is over.
  package var expired: [Int] = []
  package var requests: [TimelineStateMachine.ProviderRequest] = []
  package var calls: [TokenStateMachine.TokenNotice] = []

  package init() {}

  package var isQuiet: Bool {
    attempts.isEmpty && replies.isEmpty && checks.isEmpty && ends.isEmpty && expired.isEmpty && requests.isEmpty
      && calls.isEmpty
  }

  /// An instance has ended: what it had received is lost with it.
  package mutating func ended() {
    openIn = nil
    for index in attempts.indices { attempts[index].isBeingHandled = false }
  }
}
