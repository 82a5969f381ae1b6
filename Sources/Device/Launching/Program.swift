// SPDX-License-Identifier: Apache-2.0

package import Messages
package import ProcessActions

/// What is needed to launch one process.
package struct Program: Sendable {
  package let address: Address
  /// The agent in whose container it runs.
  package let agent: Address
  /// A name in the agent's folder of executables, or an absolute path.
  package let executable: String
  /// Evaluated for each spawn, since parts of it (such as the provider's address) change. An error is recorded as the
  /// reason why the process could not be started.
  package let environment: @Sendable () throws -> [String: String]
  /// The process's own folder. Evaluated for each spawn, since an update moves it.
  package let container: @Sendable () -> String
  /// Folders of app groups, by group identifier.
  package let groups: [String: String]
  /// `nil` when the process has no limit.
  package let memory: MemoryLimit?
  /// The rules that the author's code must keep.
  package let rules: ProcessRules

  package init(
    address: Address, agent: Address, executable: String, container: @escaping @Sendable () -> String,
    groups: [String: String], memory: MemoryLimit? = nil, rules: ProcessRules = ProcessRules(),
    environment: @escaping @Sendable () throws -> [String: String]
  ) {
    self.address = address
    self.agent = agent
    self.executable = executable
    self.container = container
    self.groups = groups
    self.memory = memory
    self.rules = rules
    self.environment = environment
  }
}

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
  /// The module's database cannot be written. The host must exit.
  case broken(String)
}
