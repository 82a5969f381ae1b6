// SPDX-License-Identifier: Apache-2.0

package import Messages

/// One process instance, as reported by the agent.
package struct ProcessInstance: Hashable, Sendable {
  package let generation: UInt32
  package let pid: Int32
  package init(generation: UInt32, pid: Int32) {
    self.generation = generation
    self.pid = pid
  }
}

extension Assertion {
  /// Assertions that end with the instance and do not relaunch the process.
  static let ofInstance: Set<Assertion> = [.foreground, .activity]
}

/// The requests of Launching to the rest of the host, in order of occurrence.
package enum LaunchOutput: Sendable, Equatable {
  /// The process runs and can receive messages. `woken`: it was launched or resumed for this. `because`: it ran when it was
  /// wanted for this, and keeps running until the release.
  case awake(Address, ProcessInstance, woken: Bool, because: Assertion? = nil)
  /// The process was stopped and still exists.
  case suspended(Address, ProcessInstance)
  /// The instance has ended.
  case ended(Address, ProcessInstance, Ending)
  /// The process does not run, and is not launched before `allowLaunches`.
  case launchesPrevented(Address)
}
