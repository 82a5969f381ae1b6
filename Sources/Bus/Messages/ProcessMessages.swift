// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation

// Messages of the host and its agents about processes, and of a child about itself.

/// How a process ended, from `waitpid`; some cases are known only to the host.
package enum Ending: Codable, Hashable, Sendable, CustomStringConvertible {
  case exited(code: Int32)
  case signalled(signal: Int32)
  /// Its agent ended, and all its children with it.
  case lostWithAgent
  /// The host had it killed. Agents, which see only the signal, never send this.
  case evicted(why: String)

  package var description: String {
    switch self {
    case .exited(let code): "exit code \(code)"
    case .signalled(let signal): "signal \(Ending.name(ofSignal: signal))"
    case .lostWithAgent: "ended with its agent"
    case .evicted(let why): "evicted: \(why)"
    }
  }

  /// `SIGKILL` for 9, `signal 77` for a signal without a name here.
  package static func name(ofSignal signal: Int32) -> String {
    let names: [Int32: String] = [
      1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
      9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM", 18: "SIGCONT", 19: "SIGSTOP",
    ]
    return names[signal] ?? "signal \(signal)"
  }
}

// Errors of an agent that did not perform a request; all definite.
extension BusError.Code {
  /// The agent did not find an executable of that name.
  package static let noSuchExecutable = BusError.Code("no-such-executable")
  /// The process instance has ended or never existed.
  package static let noSuchInstance = BusError.Code("no-such-instance")
  /// A child with this address is running or being started.
  package static let alreadyRunning = BusError.Code("already-running")
  /// The child could not be started: its key could not be registered at the broker, or the kernel refused.
  package static let notStarted = BusError.Code("not-started")
  /// The child was started and ended before it reported that it is ready.
  package static let endedAtLaunch = BusError.Code("ended-at-launch")

  /// The codes that mean that a process cannot be started at present.
  package static let launchFailures: Set<BusError.Code> = [.noSuchExecutable, .notStarted, .endedAtLaunch]
}

/// An app or an extension that could not be started.
package struct LaunchFailure: Codable, Hashable, Sendable {
  package let address: Address
  /// The code, and a text with the executable and the cause.
  package let error: BusError
  package init(address: Address, error: BusError) {
    self.address = address
    self.error = error
  }
}

/// A child of an agent.
package struct ChildProcess: Codable, Hashable, Sendable {
  package let address: Address
  package let generation: UInt32
  package let pid: Int32
  package var isStopped: Bool
  /// `RssAnon` now, bytes; `nil` when it could not be read.
  package var memory: Int?
  /// Bytes; `nil` without a limit.
  package let memoryLimit: Int?
  package init(
    address: Address, generation: UInt32, pid: Int32, isStopped: Bool, memory: Int? = nil, memoryLimit: Int? = nil
  ) {
    self.address = address
    self.generation = generation
    self.pid = pid
    self.isStopped = isStopped
    self.memory = memory
    self.memoryLimit = memoryLimit
  }
}

/// The host asks an agent to start a process.
package struct SpawnProcess: Request {
  package static let kind: Kind = "process.spawn"
  package let address: Address
  /// The name of an executable in the agent's folder, or an absolute path.
  package let executable: String
  /// Added to the environment that the agent gives its children.
  package var environment: [String: String]
  /// The process's container folder: its home, with `Documents`, `Library/Caches`, `tmp`.
  package let container: String
  /// Folders of app groups, by group identifier.
  package let groups: [String: String]
  /// The memory limit; `nil` without a limit.
  package let memory: MemoryLimit?
  package let rules: ProcessRules
  /// Why it is started, for the journal.
  package let reason: String
  package init(
    address: Address, executable: String, environment: [String: String], container: String, groups: [String: String],
    memory: MemoryLimit? = nil, rules: ProcessRules = ProcessRules(), reason: String
  ) {
    self.address = address
    self.executable = executable
    self.environment = environment
    self.container = container
    self.groups = groups
    self.memory = memory
    self.rules = rules
    self.reason = reason
  }
  package typealias Reply = InstanceReply
}

/// The process instance that an agent has started, or that got a signal.
package struct InstanceReply: Codable, Hashable, Sendable {
  package let generation: UInt32
  package let pid: Int32
  package init(generation: UInt32, pid: Int32) {
    self.generation = generation
    self.pid = pid
  }
}

/// Asks an agent to send a signal to one process instance. If it has ended already, the request fails with
/// `no-such-instance`, which is definite.
package struct SignalProcess: Request {
  package static let kind: Kind = "process.signal"
  package let address: Address
  /// The generation; `nil` for the one that runs now.
  package let generation: UInt32?
  package let signal: Int32
  package init(address: Address, generation: UInt32?, signal: Int32) {
    self.address = address
    self.generation = generation
    self.signal = signal
  }
  package typealias Reply = InstanceReply
}

/// Asks an agent for the list of its children.
package struct ListProcesses: Request {
  package static let kind: Kind = "process.list"
  package struct Reply: Codable, Hashable, Sendable {
    package let incarnation: UUID
    package let children: [ChildProcess]
    package init(incarnation: UUID, children: [ChildProcess]) {
      self.incarnation = incarnation
      self.children = children
    }
  }
  package init() {}
}

/// An agent is present, with these children. The list is empty when it has just started, since children are killed with
/// their agent.
package struct AgentStarted: Event {
  package static let kind: Kind = "agent.started"
  package let incarnation: UUID
  package let pid: Int32
  package let children: [ChildProcess]
  package init(incarnation: UUID, pid: Int32, children: [ChildProcess]) {
    self.incarnation = incarnation
    self.pid = pid
    self.children = children
  }
}

/// A child exited. The agent keeps the exit until the host has acknowledged it.
package struct ProcessExited: Event {
  package static let kind: Kind = "process.exited"
  package let address: Address
  package let generation: UInt32
  package let pid: Int32
  package let ending: Ending
  /// The path of its executable.
  package var executable: String?
  /// What it wrote to standard error about a failure: the line of a fatal error or of the dynamic loader, otherwise its
  /// last lines. `nil` after an exit without failure.
  package var outputTail: String?
  package init(
    address: Address, generation: UInt32, pid: Int32, ending: Ending, executable: String? = nil,
    outputTail: String? = nil
  ) {
    self.address = address
    self.generation = generation
    self.pid = pid
    self.ending = ending
    self.executable = executable
    self.outputTail = outputTail
  }
}

/// A child exceeds its memory limit. Sent once per process instance, until the host has acknowledged it; the host
/// decides what to do with the child.
package struct MemoryExceeded: Event, CustomStringConvertible {
  package static let kind: Kind = "process.memory-exceeded"
  package let address: Address
  package let generation: UInt32
  package let pid: Int32
  /// `RssAnon` at the check, bytes.
  package let memory: Int
  /// Bytes.
  package let limit: Int
  package init(address: Address, generation: UInt32, pid: Int32, memory: Int, limit: Int) {
    self.address = address
    self.generation = generation
    self.pid = pid
    self.memory = memory
    self.limit = limit
  }

  /// `memory 41.3 MiB over the limit of 30 MiB`.
  package var description: String {
    "memory \(MemoryLimit.mebibytes(memory)) MiB over the limit of \(MemoryLimit.mebibytes(limit)) MiB"
  }
}

/// Journal: a child was started.
package struct ProcessStarted: Notice {
  package static let kind: Kind = "process.started"
  package let address: Address
  package let generation: UInt32
  package let pid: Int32
  package let executable: String
  package init(address: Address, generation: UInt32, pid: Int32, executable: String) {
    self.address = address
    self.generation = generation
    self.pid = pid
    self.executable = executable
  }
}

/// Journal: a line of a child's standard output or standard error.
package struct ProcessOutput: Notice {
  package static let kind: Kind = "process.output"
  package let address: Address
  package let generation: UInt32
  package let pid: Int32
  /// `stdout` or `stderr`.
  package let stream: String
  package let line: String
  package init(address: Address, generation: UInt32, pid: Int32, stream: String, line: String) {
    self.address = address
    self.generation = generation
    self.pid = pid
    self.stream = stream
    self.line = line
  }
}

/// Journal: the host's view of a process changed.
package struct ProcessState: Notice, Hashable {
  package static let kind: Kind = "process.state"
  package let address: Address
  package let generation: UInt32
  /// `absent`, `launching`, `running`, `suspended`, `dying`.
  package let state: String
  /// Why it runs, or why it does not.
  package let why: String
  /// Why its last launch failed; `nil` when it did not fail.
  package var launchFailure: BusError?
  package init(address: Address, generation: UInt32, state: String, why: String, launchFailure: BusError? = nil) {
    self.address = address
    self.generation = generation
    self.state = state
    self.why = why
    self.launchFailure = launchFailure
  }
}

/// A child reports to its host that the author's code is loaded and can be called.
package struct ProcessReady: Request {
  package static let kind: Kind = "process.ready"
  package typealias Reply = Done
  package let pid: Int32
  /// `/proc/self/exe`.
  package let executable: String
  /// The extension's widgets; empty for an app.
  package let widgets: [WidgetDeclaration]
  package var widgetKinds: [String] { widgets.map(\.kind) }
  /// The extension's Live Activities; `nil` for none.
  package var activities: [ActivityDeclaration]?
  package init(pid: Int32, executable: String, widgets: [WidgetDeclaration]) {
    self.pid = pid
    self.executable = executable
    self.widgets = widgets
  }
}

/// A process has begun its first background task or expiring activity, has ended its last one, or has not ended one in
/// time. A new host receives `begun` again.
package struct HoldProcess: Event, Hashable {
  package static let kind: Kind = "process.hold"
  package enum State: String, Codable, Hashable, Sendable {
    /// The process is not to be suspended.
    case begun
    case ended
    /// The time is over, and the author's code did not end its task: the host ends the process.
    case overdue
  }

  package let state: State
  /// The names of the tasks, as far as they have one.
  package let names: [String]
  package init(_ state: State, names: [String] = []) { (self.state, self.names) = (state, names) }
}

/// The user opens the containing app.
package struct OpenApp: Request {
  package static let kind: Kind = "app.open"
  package typealias Reply = Done
  package let bundle: String
  package init(bundle: String) { self.bundle = bundle }
}

/// Asks the host for the results of the current launches. The host replies when none of the selected processes is being
/// launched; a process whose last launch failed is launched again first, if it is needed.
package struct AwaitLaunch: Request {
  package static let kind: Kind = "process.await-launch"
  /// The selected app or extension.
  package let bundle: String?
  /// Selects the extensions that declare this kind, and those whose widgets are unknown.
  package let widgetKind: String?
  /// Seconds; a launch that takes longer has no result in this reply.
  package let limit: Double

  /// Selects one bundle, the extensions of a widget kind, or all extensions.
  package init(bundle: String? = nil, widgetKind: String? = nil, limit: Double) {
    self.bundle = bundle
    self.widgetKind = widgetKind
    self.limit = limit
  }

  package struct Reply: Codable, Hashable, Sendable {
    /// The processes that could not be started, sorted by address.
    package let failures: [LaunchFailure]
    package init(failures: [LaunchFailure]) { self.failures = failures }
  }
}

/// The app entered or left the foreground. Sent to the app by the host.
package struct AppActivation: Event {
  package static let kind: Kind = "app.activation"
  package let isActive: Bool
  package init(isActive: Bool) { self.isActive = isActive }
}

/// Something happened to the device that an app's delegate is called for.
package struct DeviceEventNotice: Notice, Hashable {
  package static let kind: Kind = "app.device-event"
  package enum Event: String, Codable, Hashable, Sendable {
    /// `applicationSignificantTimeChange`.
    case timeChanged = "time-changed"
    /// `applicationProtectedDataWillBecomeUnavailable`: the device is being locked.
    case locked
    /// `applicationProtectedDataDidBecomeAvailable`.
    case unlocked
  }
  package let event: Event
  package init(_ event: Event) { self.event = event }
}

/// Asks the host for everything that `ps` prints.
package struct DeviceStatus: Request {
  package static let kind: Kind = "device.status"
  package struct Process: Codable, Hashable, Sendable {
    package let address: Address
    package let generation: UInt32
    package let pid: Int32?
    package let state: String
    package let why: String
    package let lastEnding: Ending?
    package init(
      address: Address, generation: UInt32, pid: Int32?, state: String, why: String, lastEnding: Ending?
    ) {
      self.address = address
      self.generation = generation
      self.pid = pid
      self.state = state
      self.why = why
      self.lastEnding = lastEnding
    }
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let device: String
    package let processes: [Process]
    package let sessions: [SessionStatus]
    package let timelines: [TimelineStored]
    package init(device: String, processes: [Process], sessions: [SessionStatus], timelines: [TimelineStored]) {
      self.device = device
      self.processes = processes
      self.sessions = sessions
      self.timelines = timelines
    }
  }
  package init() {}
}

// What an agent reports about locks on the files of app groups.

/// A lock of a suspended process on a file of an app group.
package struct HeldLock: Codable, Hashable, Sendable {
  /// The identifier of the app group.
  package let group: String
  /// The path of the file, or of the SQLite database, below the group's folder.
  package let file: String
  /// The kind of lock: `SQLite transaction`, `flock`, `fcntl` or `lease`.
  package let kind: String
  package init(group: String, file: String, kind: String) {
    self.group = group
    self.file = file
    self.kind = kind
  }
}

/// A child that the host suspended holds locks on files of its app groups. Sent after each such suspension, until the
/// host has acknowledged it; the host ends the child.
package struct LocksHeld: Event, CustomStringConvertible {
  package static let kind: Kind = "process.locks-held"
  /// The maximum number of locks in the event.
  package static let limit = 8
  package let address: Address
  package let generation: UInt32
  package let pid: Int32
  /// Sorted by group, file and kind. At least one.
  package let locks: [HeldLock]
  /// The number of locks, including those that are not in `locks`.
  package let count: Int
  package init(address: Address, generation: UInt32, pid: Int32, locks: [HeldLock], count: Int) {
    self.address = address
    self.generation = generation
    self.pid = pid
    self.locks = locks
    self.count = count
  }

  /// `0xdead10cc: suspended while it held a lock (flock) on notes.db of group.com.example`.
  package var description: String {
    let first = locks.first.map { "(\($0.kind)) on \($0.file) of \($0.group)" } ?? ""
    return "0xdead10cc: suspended while it held a lock \(first)" + (count > 1 ? ", and \(count - 1) more" : "")
  }
}

/// The author's code that is compiled for a phone and not here. An agent sends it when it first starts an executable
/// that was built beside its sources.
package struct LeftOutCode: Notice {
  /// The lines between two directives of conditional compilation.
  package struct Block: Codable, Hashable, Sendable {
    /// The path of the source file, relative to the folder of its package.
    package let file: String
    /// The line of the directive, from 1.
    package let line: Int
    /// The directive as it is written, such as `#if os(iOS)`.
    package let directive: String
    package init(file: String, line: Int, directive: String) {
      self.file = file
      self.line = line
      self.directive = directive
    }
  }

  package static let kind: Kind = "process.left-out-code"
  /// The maximum number of blocks in the notice.
  package static let limit = 50
  package let address: Address
  /// The path of the executable.
  package let executable: String
  /// Sorted by target, file and line. At least one.
  package let blocks: [Block]
  /// The number of blocks, including those that are not in `blocks`.
  package let count: Int
  package init(address: Address, executable: String, blocks: [Block], count: Int) {
    self.address = address
    self.executable = executable
    self.blocks = blocks
    self.count = count
  }
}

/// The memory limit of a process, and how often it is checked.
///
/// Memory is the kernel's `RssAnon`: resident anonymous pages, without file pages. The kernel's value is accurate to a
/// few hundred KiB.
package struct MemoryLimit: Codable, Hashable, Sendable {
  /// The largest permitted value.
  package let bytes: Int
  /// Seconds between two checks, more than 0. A peak between two checks is not detected.
  package let interval: Double

  package init(bytes: Int, interval: Double) {
    self.bytes = bytes
    self.interval = interval
  }

  /// `30` or `41.3`: tenths, rounded up, so that a value over a limit also reads as over it.
  package static func mebibytes(_ bytes: Int) -> String {
    let tenths = (bytes * 10 + (1 << 20) - 1) >> 20
    return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
