package import Conversations

/// What Launching must know in order to start one process.
package struct Program: Sendable {
  package let address: Address
  /// The agent in whose container it runs.
  package let agent: Address
  /// A name in the agent's folder of executables, or an absolute path.
  package let executable: String
  /// Made anew for each spawn, since parts of it (where the provider listens) change. What it throws is recorded as the
  /// reason why the process could not be started.
  package let environment: @Sendable () throws -> [String: String]
  /// The process's own folder, as it is when the process is spawned: an update moves it.
  package let container: @Sendable () -> String
  /// Folders of app groups, by group identifier.
  package let groups: [String: String]
  /// `nil` when it has no limit.
  package let memory: MemoryLimit?
  /// What its author's code is held to.
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

/// One life of a process, from the agent's word.
package struct Life: Hashable, Sendable {
  package let generation: UInt32
  package let pid: Int32
  package init(generation: UInt32, pid: Int32) {
    self.generation = generation
    self.pid = pid
  }
}

/// A named reason to keep a process alive and unsuspended: `timeline`, `events <session>`, `foreground`.
package struct Assertion: Hashable, Sendable, Comparable, CustomStringConvertible {
  package let description: String
  package init(_ text: String) { description = text }

  /// The person has the app in front. It ends with the life: a system does not bring a crashed app back by itself.
  package static let foreground = Assertion("foreground")

  /// The person touched a button or a toggle whose intent it performs.
  package static let interaction = Assertion("interaction")

  /// The app plays sound, leads somewhere or follows where the device is. It ends with the life.
  package static let activity = Assertion("activity")

  /// Those that end with the life: nobody wants the next one for them.
  static let ofLife: Set<Assertion> = [.foreground, .activity]

  package static func < (left: Assertion, right: Assertion) -> Bool { left.description < right.description }
}

/// What Launching asks of the rest of the host, in the order in which it happened.
package enum LaunchIntent: Sendable, Equatable {
  /// The process runs and can be handed things. `woken`: it was launched or resumed for it.
  case awake(Address, Life, woken: Bool)
  /// The process was stopped, and lives.
  case suspended(Address, Life)
  /// The life is over.
  case ended(Address, Life, Ending)
  /// The database of the room cannot be written any longer: the host must not go on.
  case broken(String)
}
