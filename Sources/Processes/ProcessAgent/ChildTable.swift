// SPDX-License-Identifier: Apache-2.0

import Foundation
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
  mutating func wrote(_ instance: ChildInstance, _ stream: OutputStream, _ bytes: [UInt8]) -> [ProcessOutput] {
    guard case .living(var child) = places[instance.address], child.instance == instance else { return [] }
    let lines = child.splitters[stream, default: LineSplitter()].append(bytes)
    if stream == .stderr { for line in lines { child.outputTail.append(line) } }
    places[instance.address] = .living(child)
    return lines.map { said(child, stream, $0) }
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

  private func said(_ child: Child, _ stream: OutputStream, _ line: String) -> ProcessOutput {
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
      lines.append(said(child, stream, line))
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
