// SPDX-License-Identifier: Apache-2.0

package import Archive
import DeviceRules
package import Messages

/// What is needed to launch one process.
package struct Program: Sendable {
  package let address: Address
  /// The agent in whose container it runs.
  package let agent: Address
  /// A name in the agent's folder of executables, or an absolute path.
  package let executable: String
  /// Evaluated for each spawn, since parts of it (such as the provider's address) change. An error is recorded as the
  /// reason why the process could not be started.
  package let environment: @Sendable (DeviceSettings) throws -> [String: String]
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
    environment: @escaping @Sendable (DeviceSettings) throws -> [String: String]
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
