// SPDX-License-Identifier: Apache-2.0

import CPlatform
import ChaosCampaign
import Cluster
import Foundation
import Glibc
import Messages

/// Starts the standing processes of an instance, restarts them when they exit, and stops them in reverse order.
actor Supervisor {
  /// Events for the user or for the program that reads the output.
  enum Event: Sendable {
    case launched(name: String, pid: Int32, generation: Int)
    case exited(name: String, pid: Int32, ending: String, again: Duration)
    /// It could not be started again, such as while its executable is being built.
    case notStarted(name: String, why: String, again: Duration)
  }

  private struct Held {
    let process: SupervisedProcess
    let log: ProcessLog
    var record: SupervisedProcessList.Record
    var backOff = RestartDelay()
    var exitsBeforeReady = 0
    /// The running process; `nil` between an exit and the next start.
    var child: SpawnedProcess?
    var task: Task<Void, Never>?
    /// Is done once, after the next exit and before the restart.
    var whileDown: (@Sendable () -> Void)?
  }

  private let instance: String
  private let logs: String
  private let restarts: RestartPolicy
  private let report: @Sendable (Event) -> Void
  private var held: [Held] = []
  private var isStopping = false
  private var isReady = false
  /// While all processes are down, none is started again.
  private var isPaused = false
  private var paused: [CheckedContinuation<Void, Never>] = []
  /// Processes that are being started.
  private var starting = 0
  /// The traps that ended processes.
  private(set) var traps: [ProcessTrap] = []
  /// Set when a process repeatedly exits during the start.
  private(set) var startFailure: CommandError?

  init(
    instance: String, restarts: RestartPolicy = .afterEachShortRun, report: @escaping @Sendable (Event) -> Void
  ) {
    self.instance = instance
    self.restarts = restarts
    self.logs = instance + "/logs"
    self.report = report
  }

  /// Starts a process and supervises it from now on.
  ///
  /// - Throws: a command error when the executable cannot be started at all.
  func keep(_ process: SupervisedProcess) async throws {
    guard access(process.executable, X_OK) == 0 else {
      throw CommandError(
        Exit.configuration, "the executable of \(process.name) does not exist", at: process.executable,
        advice: "build it (swift build), or give the folder of the executables with --executables")
    }
    let index = held.count
    let record = SupervisedProcessList.Record(
      name: process.name, pid: nil, generation: 0, executable: process.executable)
    held.append(Held(process: process, log: ProcessLog("\(logs)/\(process.name).log"), record: record))
    let child = try await start(index)
    held[index].task = Task { await supervise(index, child) }
  }

  /// From now on an exit is an event and no longer a failure of the start.
  func allReady() { isReady = true }

  /// The pids by name.
  var pids: [String: Int32] {
    Dictionary(held.compactMap { held in held.record.pid.map { (held.record.name, $0) } }, uniquingKeysWith: { $1 })
  }

  func pid(of name: String) -> Int32? { pids[name] }

  /// Sends a signal to processes, to all at once.
  ///
  /// - Returns: the pids of those that were running, by name.
  func signal(_ names: [String], _ number: Int32) -> [String: Int32] {
    var reached: [String: Int32] = [:]
    for held in held where names.contains(held.process.name) {
      guard let child = held.child, child.signal(number) == 0 else { continue }
      reached[held.process.name] = child.pid
    }
    return reached
  }

  /// Kills a process, and does some work after its exit and before its restart.
  ///
  /// - Returns: its pid; `nil` when it was not running, and then the work is not done.
  func kill(_ name: String, whileDown work: @escaping @Sendable () -> Void) -> Int32? {
    guard let index = held.firstIndex(where: { $0.process.name == name }), let child = held[index].child,
      child.signal(SIGKILL) == 0
    else { return nil }
    held[index].whileDown = work
    return child.pid
  }

  /// Kills all processes at once, and does some work when none is left and before any is started again.
  ///
  /// - Returns: the pids of those that ran, by name.
  func killAll(whileDown work: @Sendable () -> Void) async -> [String: Int32] {
    isPaused = true
    var killed: [String: Int32] = [:]
    while starting > 0 || held.contains(where: { $0.child != nil }) {
      for held in held {
        guard let child = held.child, child.signal(SIGKILL) == 0 else { continue }
        killed[held.process.name] = child.pid
      }
      // One is being started, or its exit is not recorded yet.
      try? await Task.sleep(for: .milliseconds(2))
    }
    work()
    isPaused = false
    for waiter in paused { waiter.resume() }
    paused = []
    return killed
  }

  private func start(_ index: Int) async throws -> SpawnedProcess {
    while isPaused { await withCheckedContinuation { paused.append($0) } }
    starting += 1
    defer { starting -= 1 }
    let process = held[index].process
    let child = try await SpawnedProcess.start(
      process.executable, process.arguments(), log: held[index].log)
    held[index].child = child
    held[index].record.pid = child.pid
    held[index].record.generation += 1
    write()
    report(.launched(name: process.name, pid: child.pid, generation: held[index].record.generation))
    return child
  }

  private func supervise(_ index: Int, _ first: SpawnedProcess) async {
    var child = first
    while true {
      let clock = ContinuousClock()
      let start = clock.now
      let ending = await child.ending()
      await held[index].log.drain()
      let pause = recordExit(index, ending, after: clock.now - start)
      guard !isStopping else { return }
      held[index].whileDown?()
      held[index].whileDown = nil
      do {
        if pause > .zero { try await Task.sleep(for: pause) }
        guard !isStopping else { return }
        child = try await startAgain(index)
        if isStopping { child.signal(SIGKILL) }
      } catch let commandError as CommandError {
        startFailure = commandError
        return
      } catch {
        return
      }
    }
  }

  /// Starts a process that has exited. When the cluster is ready, a failure is not permanent: a build replaces executables.
  private func startAgain(_ index: Int) async throws -> SpawnedProcess {
    while true {
      do {
        return try await start(index)
      } catch let failure as CommandError where isReady {
        let pause = held[index].backOff.pause(afterRunOf: .zero)
        report(.notStarted(name: held[index].process.name, why: failure.what, again: pause))
        try await Task.sleep(for: pause)
      }
    }
  }

  private func recordExit(_ index: Int, _ childEnding: ChildEnding, after runTime: Duration) -> Duration {
    let ending = childEnding.text
    let pid = held[index].record.pid ?? 0
    held[index].record.pid = nil
    held[index].child = nil
    held[index].record.lastEnding = ending
    let pause = held[index].backOff.pause(
      afterRunOf: runTime, by: restarts, isKilled: childEnding == .signalled(SIGKILL))
    write()
    if case .signalled(let signal) = childEnding, let trap = trap(held[index].process.name, pid: pid, signal: signal) {
      traps.append(trap)
    }
    guard !isStopping else { return .zero }
    if !isReady {
      held[index].exitsBeforeReady += 1
      if held[index].exitsBeforeReady >= 3 { startFailure = cannotStart(index, ending) }
    }
    let isFault = if case .exited(let code) = childEnding { code != 0 } else { false }
    let text = (isFault ? lastReason(index) : nil).map { "\(ending): \($0)" } ?? ending
    report(.exited(name: held[index].process.name, pid: pid, ending: text, again: pause))
    return pause
  }

  /// Bytes at the end of a log in which the message of a trap is looked for.
  private static let backtraceLimit: UInt64 = 256 << 10

  private func trap(_ name: String, pid: Int32, signal: Int32) -> ProcessTrap? {
    guard let trap = ProcessTrap(name, pid: pid, signal: signal) else { return nil }
    // The message precedes a long backtrace.
    let log = FileHandle(forReadingAtPath: "\(logs)/\(name).log")
    let end = (try? log?.seekToEnd()) ?? 0
    try? log?.seek(toOffset: end - min(end, Self.backtraceLimit))
    let text = String(decoding: (try? log?.readToEnd()) ?? Data(), as: UTF8.self)
    let line = text.split(separator: "\n").last { $0.contains("Fatal error") }
    return ProcessTrap(trap.process, pid: pid, signal: signal, output: line.map { String($0.prefix(300)) })
  }

  /// What a process that exits with a fault has written last: `NAME: REASON`, or its last line.
  private func lastReason(_ index: Int) -> String? {
    let name = URL(fileURLWithPath: held[index].process.executable).lastPathComponent + ": "
    let lines = held[index].log.lastLines
    return lines.last { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) } ?? lines.last
  }

  private func cannotStart(_ index: Int, _ ending: String) -> CommandError {
    let name = held[index].process.name
    let log = held[index].log
    let last = log.lastLines.suffix(6).map { "         \($0)" }.joined(separator: "\n")
    return CommandError(
      Exit.broken, "\(name) keeps exiting (\(ending))", at: log.path,
      advice: "the last lines of its log:\n\(last)")
  }

  /// SIGTERM in reverse order, 3 s for each, then SIGKILL.
  func stop() async {
    isStopping = true
    for index in held.indices.reversed() {
      guard let child = held[index].child else {
        held[index].task?.cancel()
        await held[index].task?.value
        continue
      }
      child.signal(SIGTERM)
      // A stopped process must be continued to receive SIGTERM.
      child.signal(SIGCONT)
      // Cancelled and awaited at the end of this scope.
      async let _ = child.kill(after: .seconds(3))
      await held[index].task?.value
      await held[index].log.drain()
    }
  }

  /// Sends SIGKILL to all processes at once.
  func killAll() {
    isStopping = true
    for held in held { held.child?.signal(SIGKILL) }
  }

  private func write() {
    try? SupervisedProcessList(supervisor: getpid(), processes: held.map(\.record)).write(in: instance)
  }
}

/// One process that `up` supervises.
struct SupervisedProcess: Sendable {
  let name: String
  let executable: String
  /// The current arguments. A restarted process may have to use its former port.
  let arguments: @Sendable () -> [String]
}

/// Which exits delay a restart.
enum RestartPolicy: Sendable {
  /// Each exit soon after the start, so that a process that cannot run does not use up the machine.
  case afterEachShortRun
  /// No exit by SIGKILL, and each other one by the shortest delay: a campaign causes exits, and measures the recovery.
  case inCampaign
}

/// Computes the delay before a restart: none when the process ran long enough, else 0.2 s, doubling to 5 s.
struct RestartDelay: Sendable, Equatable {
  static let shortRun = Duration.seconds(2)
  static let first = Duration.milliseconds(200)
  static let longest = Duration.seconds(5)
  private(set) var next: Duration = .zero

  /// Returns the delay after a run of this length.
  ///
  /// - Parameter isKilled: whether SIGKILL ended it.
  mutating func pause(afterRunOf runTime: Duration, by policy: RestartPolicy, isKilled: Bool) -> Duration {
    switch policy {
    case .afterEachShortRun: pause(afterRunOf: runTime)
    case .inCampaign: isKilled ? .zero : Self.first
    }
  }

  /// Returns the delay after a run of this length.
  mutating func pause(afterRunOf runTime: Duration) -> Duration {
    if runTime >= Self.shortRun {
      next = .zero
      return .zero
    }
    next = next == .zero ? Self.first : min(next * 2, Self.longest)
    return next
  }
}

/// `processes.json` of an instance: the processes that `up` started. `up` keeps it current for `ps` and `kill`.
struct SupervisedProcessList: Codable, Sendable {
  struct Record: Codable, Sendable {
    /// `message-bus`, `agent-1`, `host`, `push-server`, `provider`, `console`.
    let name: String
    /// `nil` between an exit and the next start.
    var pid: Int32?
    /// How often `up` has started it.
    var generation: Int
    let executable: String
    var lastEnding: String?
  }

  /// The `widgetlab up` that wrote it.
  var supervisor: Int32
  var processes: [Record]

  static func file(in instance: String) -> String { instance + "/processes.json" }

  /// Reads the file; `nil` when it does not exist or cannot be read.
  static func read(in instance: String) -> SupervisedProcessList? {
    guard let data = FileManager.default.contents(atPath: file(in: instance)) else { return nil }
    return try? JSONDecoder().decode(SupervisedProcessList.self, from: data)
  }

  /// Writes the file: atomically, or in place on a full disk, which has no room for another file.
  func write(in instance: String) throws {
    let path = Self.file(in: instance)
    let data = try padded()
    do {
      try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      guard Self.overwrite(path, with: data) else { throw error }
    }
  }

  /// The content of the file. Its end is blank, so that a longer list has the same length.
  func padded() throws -> Data {
    let data = try Output.jsonData(self, pretty: true)
    return data + Data(repeating: UInt8(ascii: " "), count: 4096 - data.count % 4096)
  }

  /// - Returns: `false` when the file has another length; it is not changed then.
  static func overwrite(_ path: String, with data: Data) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = file_status()
    guard file_status_of_descriptor(descriptor, &status) == 0, status.size == data.count else { return false }
    return data.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == data.count
  }
}

extension SpawnedProcess {
  /// Starts a process in a new process group, with empty standard input, and with its output in a log.
  ///
  /// - Throws: a command error with the kernel's reason.
  static func start(_ executable: String, _ arguments: [String], log: ProcessLog) async throws -> SpawnedProcess {
    let input = try log.open()
    defer { close(input) }
    return try await startChecked(
      ChildCommand(executable, arguments, output: .descriptor(input), errors: .descriptor(input)))
  }

  /// Starts a process in a new process group, with empty standard input and its standard error in `log`.
  ///
  /// - Parameter output: a descriptor for standard output; `nil` for the log.
  /// - Throws: a command error with the kernel's reason.
  static func start(
    _ executable: String, _ arguments: [String], environment: [String: String]? = nil, output: Int32? = nil,
    log: String
  ) async throws -> SpawnedProcess {
    var command = ChildCommand(
      executable, arguments, output: output.map { .descriptor($0) } ?? .file(log), errors: .file(log))
    if let environment { command.environment = environment }
    return try await startChecked(command)
  }

  private static func startChecked(_ command: ChildCommand) async throws -> SpawnedProcess {
    do {
      return try await start(command)
    } catch {
      throw CommandError(
        Exit.configuration, "cannot start \(command.executable): \(error)", at: command.executable,
        advice: "build it, or give its folder with --executables")
    }
  }
}

extension ChildEnding {
  /// The exit code or the signal, as `ps` shows it.
  var text: String {
    switch self {
    case .exited(let code): "exit code \(code)"
    case .signalled(let signal): ProcessFacts.name(ofSignal: signal)
    }
  }
}
