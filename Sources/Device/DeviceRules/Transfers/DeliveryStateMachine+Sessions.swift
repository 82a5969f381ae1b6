// SPDX-License-Identifier: Apache-2.0

import Messages

// The sessions of owners, and their tasks until they are acknowledged.

extension DeliveryStateMachine {
  package struct Session: Sendable, Equatable {
    package var sendsLaunchEvents: Bool
    /// The generation of the owner that has the session open.
    package var openIn: UInt32?
    /// The user force-quit the app: it is not launched for pending events until the session is opened again.
    package var isQuit = false
    package var running: Set<Int> = []
    /// Tasks of `running` that have ended, which is not in the database yet.
    package internal(set) var ending: Set<Int> = []
    /// Tasks that have ended and are in no delivery yet, in the order in which they ended.
    package var ended: [Int] = []
    /// All tasks that are not acknowledged, each with the generation of the owner that created it; 0 when an earlier
    /// version stored it.
    package var creators: [Int: UInt32] = [:]
    /// Acknowledged tasks with the generations that created them: a process repeats a request that has no reply.
    package var acknowledged: [Int: UInt32] = [:]
    /// Higher than the identifier of each task that was created.
    package var nextTaskIdentifier = 1

    package init(
      sendsLaunchEvents: Bool, openIn: UInt32? = nil, isQuit: Bool = false, running: Set<Int> = [], ended: [Int] = []
    ) {
      self.sendsLaunchEvents = sendsLaunchEvents
      self.openIn = openIn
      self.isQuit = isQuit
      self.running = running
      self.ended = ended
    }
  }

  /// Whether a request creates a task: it is not a repetition whose task is stored, or was acknowledged since.
  package func isNew(_ task: TaskKey, by creator: UInt32) -> Bool {
    guard let session = sessions[task.session] else { return true }
    return session.creators[task.identifier] == nil && session.acknowledged[task.identifier] != creator
  }
}
