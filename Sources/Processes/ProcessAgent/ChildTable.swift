// SPDX-License-Identifier: Apache-2.0

import Archive
import CPlatform
import Cluster
import Foundation
import Glibc
import Messages

/// One process instance of an address, started by this agent.
struct ChildInstance: Hashable, Sendable {
  let address: Address
  let generation: UInt32
}

/// One of a child's output streams.
enum OutputStream: String, Sendable, CaseIterable {
  case stdout
  case stderr
}

/// The state of an agent's children: the running ones, their incomplete output lines, and the exits that the host has
/// not acknowledged.
///
/// A synchronous value: events in, messages to send out.
struct ChildTable: Sendable {
  private struct Child {
    let instance: ChildInstance
    let pid: Int32
    let memoryLimit: Int?
    let executable: String
    var outputTail = OutputTail()
    var splitters: [OutputStream: LineSplitter] = [:]
  }

  private enum Place {
    /// Claimed, and not yet started.
    case claimed
    case living(Child)
  }

  private var places: [Address: Place] = [:]
  /// Exits that the host has not acknowledged, in order.
  private(set) var exits: [(id: UUID, exit: ProcessExited)] = []
  private(set) var isClosed = false
  /// Maps a pid to the one that is sent to other processes: the pid itself, except in a build with a deliberate fault.
  private let reportedPid: @Sendable (Int32) -> Int32

  init(reportedPid: @escaping @Sendable (Int32) -> Int32 = { $0 }) { self.reportedPid = reportedPid }

  // MARK: Starting

  /// Claims an address for a child that is about to be started.
  ///
  /// - Throws: `already-running`, `closed`.
  mutating func claim(_ address: Address) throws(BusError) {
    guard !isClosed else { throw BusError(.closed, "the agent is shutting down and starts no more processes") }
    switch places[address] {
    case .claimed: throw BusError(.alreadyRunning, "\(address) is being started")
    case .living(let child):
      throw BusError(
        .alreadyRunning, "\(address) is running, generation \(child.instance.generation), pid \(reportedPid(child.pid))"
      )
    case nil: places[address] = .claimed
    }
  }

  /// Releases a claimed address whose child was not started.
  mutating func abandon(_ address: Address) {
    if case .claimed = places[address] { places[address] = nil }
  }

  /// The child was started.
  ///
  /// - Returns: the notice for the journal.
  mutating func started(
    _ instance: ChildInstance, pid: Int32, executable: String, memoryLimit: Int? = nil
  ) -> ProcessStarted {
    places[instance.address] = .living(
      Child(instance: instance, pid: pid, memoryLimit: memoryLimit, executable: executable))
    return ProcessStarted(
      address: instance.address, generation: instance.generation, pid: reportedPid(pid), executable: executable)
  }

  /// Rejects all further claims.
  mutating func close() { isClosed = true }

  // MARK: Running

  /// The running children, sorted by address, with their true pids.
  var living: [(instance: ChildInstance, pid: Int32)] { children.map { ($0.instance, $0.pid) } }

  private var children: [Child] {
    places.values.compactMap { if case .living(let child) = $0 { child } else { nil } }
      .sorted { $0.instance.address.text < $1.instance.address.text }
  }

  /// Whether no child is running or being started.
  var isEmpty: Bool { places.isEmpty }

  /// The running children, as the host gets them.
  ///
  /// - Parameter status: called with each true pid.
  func children(status: (Int32) -> ChildStatus?) -> [ChildProcess] {
    children.map { child in
      let status = status(child.pid)
      return ChildProcess(
        address: child.instance.address, generation: child.instance.generation, pid: reportedPid(child.pid),
        isStopped: status?.isStopped ?? false, memory: status?.memory, memoryLimit: child.memoryLimit)
    }
  }

  /// The process instance that a request selects.
  ///
  /// - Parameter generation: `nil` selects the running one.
  /// - Throws: `no-such-instance`.
  func instance(_ address: Address, _ generation: UInt32?) throws(BusError) -> (instance: ChildInstance, pid: Int32) {
    guard case .living(let child) = places[address] else {
      throw BusError(.noSuchInstance, "no process of \(address) is running here")
    }
    guard generation == nil || generation == child.instance.generation else {
      throw BusError(
        .noSuchInstance,
        "generation \(generation ?? 0) of \(address) has ended; \(child.instance.generation) is running")
    }
    return (child.instance, child.pid)
  }

  /// The pid that is sent to other processes.
  func reported(_ pid: Int32) -> Int32 { reportedPid(pid) }

  /// A child wrote output.
  ///
  /// - Returns: the complete lines, for the journal.
  mutating func wrote(_ instance: ChildInstance, stream: OutputStream, bytes: [UInt8]) -> [ProcessOutput] {
    guard case .living(var child) = places[instance.address], child.instance == instance else { return [] }
    let lines = child.splitters[stream, default: LineSplitter()].append(bytes)
    if stream == .stderr { for line in lines { child.outputTail.append(line) } }
    places[instance.address] = .living(child)
    return lines.map { said(child, stream: stream, line: $0) }
  }

  /// A child exceeded its limit.
  ///
  /// - Returns: the event for the host, with its id; `nil` for an unknown child.
  func exceeded(_ instance: ChildInstance, memory: Int) -> (exceeded: MemoryExceeded, id: UUID)? {
    guard case .living(let child) = places[instance.address], child.instance == instance, let limit = child.memoryLimit
    else {
      return nil
    }
    let exceeded = MemoryExceeded(
      address: instance.address, generation: instance.generation, pid: reportedPid(child.pid), memory: memory,
      limit: limit)
    return (exceeded, UUID())
  }

  private func said(_ child: Child, stream: OutputStream, line: String) -> ProcessOutput {
    ProcessOutput(
      address: child.instance.address, generation: child.instance.generation, pid: reportedPid(child.pid),
      stream: stream.rawValue, line: line)
  }

  // MARK: Exits

  /// A child was reaped. Its exit is kept until it is acknowledged.
  ///
  /// - Returns: its last lines, and the exit with the id under which it is delivered; `nil` for an unknown child.
  mutating func ended(_ instance: ChildInstance, _ ending: Ending) -> (
    lines: [ProcessOutput], exit: ProcessExited, id: UUID
  )? {
    guard case .living(var child) = places[instance.address], child.instance == instance else { return nil }
    places[instance.address] = nil
    var lines: [ProcessOutput] = []
    for stream in OutputStream.allCases {
      guard let line = child.splitters[stream]?.finish() else { continue }
      lines.append(said(child, stream: stream, line: line))
      if stream == .stderr { child.outputTail.append(line) }
    }
    let exit = ProcessExited(
      address: instance.address, generation: instance.generation, pid: reportedPid(child.pid), ending: ending,
      executable: child.executable, outputTail: ending.isFailure ? child.outputTail.text : nil)
    let id = UUID()
    exits.append((id, exit))
    return (lines, exit, id)
  }

  /// The host has acknowledged an exit.
  mutating func acknowledged(_ id: UUID) { exits.removeAll { $0.id == id } }
}

/// Lines of a child's standard error that may explain its end.
struct OutputTail: Sendable {
  /// Bytes kept of a line.
  static let limit = 512
  /// Lines kept when none of them explains the end.
  static let count = 3
  private static let marks = ["Fatal error", "error while loading shared libraries", "symbol lookup error"]
  private var cause: String?
  private var last: [String] = []

  mutating func append(_ line: String) {
    let short = String(decoding: line.utf8.prefix(Self.limit), as: UTF8.self)
    if cause == nil, Self.marks.contains(where: short.contains) { cause = short }
    last = last.suffix(Self.count - 1) + [short]
  }

  /// The line with the cause, otherwise the last lines; `nil` without any.
  var text: String? { cause ?? (last.isEmpty ? nil : last.joined(separator: "\n")) }
}

extension Ending {
  /// Whether the author's code can have caused it: not an exit with 0, and not a signal that asks a process to end.
  fileprivate var isFailure: Bool {
    switch self {
    case .exited(let code): code != 0
    case .signalled(let signal): signal != SIGKILL && signal != SIGTERM
    case .lostWithAgent, .evicted: false
    }
  }
}

/// The state of a process in `/proc/PID/status`.
struct ChildStatus {
  /// Stopped by a signal.
  private(set) var isStopped = false
  /// `RssAnon`: the resident anonymous pages, bytes; `nil` for a process that no longer has any.
  private(set) var memory: Int?

  /// - Returns: `nil` when the process does not exist.
  init?(of pid: Int32) {
    guard let bytes = ProcFile.contents("/proc/\(pid)/status") else { return nil }
    self.init(reading: String(decoding: bytes, as: UTF8.self))
  }

  /// - Parameter text: lines of a name, a colon and a value. The process's name, in the first line, has no line breaks:
  ///   the kernel escapes them.
  init(reading text: String) {
    // As bytes: splitting characters took most of the agent's CPU time when children were suspended often.
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      if line.starts(with: "State:".utf8) {
        isStopped = Self.value(line).first == UInt8(ascii: "T")
      } else if line.starts(with: "RssAnon:".utf8) {
        memory = Int(String(Self.value(line)) ?? "").map { $0 << 10 }
      }
    }
  }

  /// The first word after the name of a line.
  private static func value(_ line: Substring.UTF8View) -> Substring.UTF8View {
    let words = line.split(maxSplits: 2) { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
    return words.count > 1 ? words[1] : line[line.endIndex...]
  }
}

/// A child and the descriptors through which it is watched. Confined to the thread of the children.
final class WatchedChild {
  let instance: ChildInstance
  private let process: SpawnedProcess
  private(set) var outputs: [OutputStream: Int32]
  /// Output read and not yet taken by the bus, in units of `weight`.
  private var untaken = 0
  /// The memory limit and the time of the next check; `nil` without a limit, or after it was exceeded.
  private var memory: (limit: MemoryLimit, look: ContinuousClock.Instant)?
  /// The maximum read ahead of the bus: beyond it the child's pipe fills and blocks the child.
  private static let untakenLimit = 1 << 18

  private init(_ order: SpawnOrder, _ process: SpawnedProcess, outputs: [OutputStream: Int32]) {
    self.instance = order.instance
    self.memory = order.memory.map { ($0, .now + .saturating(seconds: $0.interval)) }
    self.process = process
    self.outputs = outputs
  }

  /// The process id.
  var pid: Int32 { process.pid }
  /// A descriptor that is readable when the child has ended.
  var pidfd: Int32 { process.pidfd }

  /// The descriptors that the thread polls for this child.
  var polled: [pollfd] {
    let read = untaken < WatchedChild.untakenLimit ? Array(outputs.values) : []
    return ([pidfd] + read).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
  }

  /// The cost of a piece of output until the bus has taken it: each line becomes an envelope.
  static func weight(_ bytes: [UInt8]) -> Int {
    let lines = bytes.reduce(into: 1) { $0 += $1 == UInt8(ascii: "\n") ? 1 : 0 }
    return bytes.count + 256 * lines
  }

  func wasRead(_ bytes: [UInt8]) { untaken += WatchedChild.weight(bytes) }
  func wasTaken(_ weight: Int) { untaken -= weight }

  /// Spawns on the calling thread. The child has a new session, default signals, a pipe with its complete input, pipes
  /// for its outputs, and no other descriptor.
  static func spawn(_ order: SpawnOrder) throws(SpawnFailure) -> WatchedChild {
    var opened: [Int32] = []
    defer { for descriptor in opened { Glibc.close(descriptor) } }
    func pipe() throws(SpawnFailure) -> (reader: Int32, writer: Int32) {
      var ends: [Int32] = [-1, -1]
      guard process_pipe(&ends) == 0 else { throw SpawnFailure(code: errno) }
      opened += ends
      return (ends[0], ends[1])
    }
    let (input, output, error) = (try pipe(), try pipe(), try pipe())
    // Whatever fits into the pipe can be written before the child reads.
    makeNonblocking(input.writer)
    guard write(input.writer, order.input, order.input.count) == order.input.count else {
      throw SpawnFailure(code: E2BIG)
    }
    let process = try SpawnedProcess(
      spawning: ChildCommand(
        order.executable, environment: order.environment, directory: order.directory, input: input.reader,
        output: .descriptor(output.writer), errors: .descriptor(error.writer), leadsSession: true))
    let kept = [OutputStream.stdout: output.reader, .stderr: error.reader]
    opened.removeAll { kept.values.contains($0) }
    for descriptor in kept.values { makeNonblocking(descriptor) }
    return WatchedChild(order, process, outputs: kept)
  }

  /// Sends a signal to this child and never to another process, also when it has just ended.
  ///
  /// - Returns: 0 or an `errno`.
  func signal(_ signal: Int32) -> Int32 { process.signal(signal) }

  /// Reaps the child; `nil` while it is running. The rest of its process group is killed first: until the child is
  /// reaped, its pid cannot be reused.
  func reap() -> Ending? {
    kill(-pid, SIGKILL)
    return switch process.reap() {
    case .exited(let code): .exited(code: code)
    case .signalled(let signal): .signalled(signal: signal)
    case nil: nil
    }
  }

  func closeOutput(_ stream: OutputStream) {
    if let descriptor = outputs.removeValue(forKey: stream) { Glibc.close(descriptor) }
  }

  func close() {
    for stream in OutputStream.allCases { closeOutput(stream) }
  }

  // MARK: Memory

  /// The time until the next check, rounded up; `nil` when none is due.
  var millisecondsToLook: Int32? {
    memory.map { Int32(saturating: max(0, ($0.look - .now) / .milliseconds(1)).rounded(.up)) }
  }

  /// Checks the child's memory, if a check is due. A stopped child is checked too: it may have allocated just before.
  ///
  /// - Returns: the memory in bytes when it exceeds the limit; then it is not checked again.
  func excessMemory() -> Int? {
    guard let (limit, look) = memory, look <= .now else { return nil }
    let found = ChildStatus(of: pid)?.memory ?? 0
    memory = found > limit.bytes ? nil : (limit, .now + .saturating(seconds: limit.interval))
    return found > limit.bytes ? found : nil
  }
}
