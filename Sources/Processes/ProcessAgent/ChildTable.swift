import Conversations
import Foundation

/// One life of one address.
struct Life: Hashable, Sendable {
  let address: Address
  let generation: UInt32
}

/// Which of a child's streams.
enum OutputStream: String, Sendable, CaseIterable {
  case stdout
  case stderr
}

/// What an agent knows of its children: who lives, what they have written of a line, and which exits the host has not
/// acknowledged.
///
/// A plain value: what happened in, what is to be said out.
struct ChildTable: Sendable {
  private struct Child {
    let life: Life
    let pid: Int32
    let memoryLimit: Int?
    let executable: String
    var lastWords = LastWords()
    var splitters: [OutputStream: LineSplitter] = [:]
  }

  private enum Place {
    /// Asked for, and not yet born.
    case claimed
    case living(Child)
  }

  private var places: [Address: Place] = [:]
  /// Exits that the host has not acknowledged, in the order in which they happened.
  private(set) var exits: [(id: UUID, exit: ProcessExited)] = []
  private(set) var isClosed = false
  /// What others are told instead of a pid: the pid itself, but in a build that is broken on purpose.
  private let reportedPid: @Sendable (Int32) -> Int32

  init(reportedPid: @escaping @Sendable (Int32) -> Int32 = { $0 }) { self.reportedPid = reportedPid }

  // MARK: Births

  /// Keeps the place of an address for a child that is about to be born.
  ///
  /// - Throws: `already-running`, `closed`.
  mutating func claim(_ address: Address) throws(BusError) {
    guard !isClosed else { throw BusError(.closed, "the agent is ending, and starts nothing any longer") }
    switch places[address] {
    case .claimed: throw BusError(.alreadyRunning, "\(address) is being started")
    case .living(let child):
      throw BusError(
        .alreadyRunning, "\(address) lives, generation \(child.life.generation), pid \(reportedPid(child.pid))")
    case nil: places[address] = .claimed
    }
  }

  /// The child of a claimed place was not born.
  mutating func abandon(_ address: Address) {
    if case .claimed = places[address] { places[address] = nil }
  }

  /// The child was born.
  ///
  /// - Returns: what the journal is told.
  mutating func started(
    _ life: Life, pid: Int32, executable: String, memoryLimit: Int? = nil
  ) -> ProcessStarted {
    places[life.address] = .living(
      Child(life: life, pid: pid, memoryLimit: memoryLimit, executable: executable))
    return ProcessStarted(
      address: life.address, generation: life.generation, pid: reportedPid(pid), executable: executable)
  }

  /// No more births.
  mutating func close() { isClosed = true }

  // MARK: Lives

  /// The living, sorted by address, with their true pids.
  var living: [(life: Life, pid: Int32)] { children.map { ($0.life, $0.pid) } }

  private var children: [Child] {
    places.values.compactMap { if case .living(let child) = $0 { child } else { nil } }
      .sorted { $0.life.address.text < $1.life.address.text }
  }

  /// Whether nobody lives and nobody is about to.
  var isEmpty: Bool { places.isEmpty }

  /// The living, as the host is told.
  ///
  /// - Parameter status: asked of each true pid.
  func children(status: (Int32) -> ChildStatus?) -> [ChildProcess] {
    children.map { child in
      let status = status(child.pid)
      return ChildProcess(
        address: child.life.address, generation: child.life.generation, pid: reportedPid(child.pid),
        isStopped: status?.isStopped ?? false, memory: status?.memory, memoryLimit: child.memoryLimit)
    }
  }

  /// The life that somebody means.
  ///
  /// - Parameter generation: `nil` means whichever lives now.
  /// - Throws: `no-such-life`.
  func life(_ address: Address, _ generation: UInt32?) throws(BusError) -> (life: Life, pid: Int32) {
    guard case .living(let child) = places[address] else {
      throw BusError(.noSuchLife, "no process of \(address) lives here")
    }
    guard generation == nil || generation == child.life.generation else {
      throw BusError(
        .noSuchLife, "generation \(generation ?? 0) of \(address) has ended; \(child.life.generation) lives")
    }
    return (child.life, child.pid)
  }

  /// What others are told of a pid.
  func reported(_ pid: Int32) -> Int32 { reportedPid(pid) }

  /// A child wrote something.
  ///
  /// - Returns: the lines that are complete, for the journal.
  mutating func wrote(_ life: Life, _ stream: OutputStream, _ bytes: [UInt8]) -> [ProcessOutput] {
    guard case .living(var child) = places[life.address], child.life == life else { return [] }
    let lines = child.splitters[stream, default: LineSplitter()].append(bytes)
    if stream == .stderr { for line in lines { child.lastWords.append(line) } }
    places[life.address] = .living(child)
    return lines.map { said(child, stream, $0) }
  }

  /// A child was found over its limit.
  ///
  /// - Returns: what the host is told, with the id under which it is; `nil` for a stranger.
  func exceeded(_ life: Life, memory: Int) -> (exceeded: MemoryExceeded, id: UUID)? {
    guard case .living(let child) = places[life.address], child.life == life, let limit = child.memoryLimit else {
      return nil
    }
    let exceeded = MemoryExceeded(
      address: life.address, generation: life.generation, pid: reportedPid(child.pid), memory: memory, limit: limit)
    return (exceeded, UUID())
  }

  private func said(_ child: Child, _ stream: OutputStream, _ line: String) -> ProcessOutput {
    ProcessOutput(
      address: child.life.address, generation: child.life.generation, pid: reportedPid(child.pid),
      stream: stream.rawValue, line: line)
  }

  // MARK: Deaths

  /// A child was reaped. Its exit is kept until it is acknowledged.
  ///
  /// - Returns: its last lines, and the exit with the id under which it is delivered; `nil` for a stranger.
  mutating func ended(_ life: Life, _ ending: Ending) -> (lines: [ProcessOutput], exit: ProcessExited, id: UUID)? {
    guard case .living(var child) = places[life.address], child.life == life else { return nil }
    places[life.address] = nil
    var lines: [ProcessOutput] = []
    for stream in OutputStream.allCases {
      guard let line = child.splitters[stream]?.finish() else { continue }
      lines.append(said(child, stream, line))
      if stream == .stderr { child.lastWords.append(line) }
    }
    let exit = ProcessExited(
      address: life.address, generation: life.generation, pid: reportedPid(child.pid), ending: ending,
      executable: child.executable, lastWords: ending.isFailure ? child.lastWords.text : nil)
    let id = UUID()
    exits.append((id, exit))
    return (lines, exit, id)
  }

  /// The host knows of an exit.
  mutating func acknowledged(_ id: UUID) { exits.removeAll { $0.id == id } }
}

/// What a child wrote to standard error that may explain its end.
struct LastWords: Sendable {
  /// Bytes of a line that are kept.
  static let limit = 512
  /// Lines that are kept when none of them explains the end.
  static let count = 3
  private static let marks = ["Fatal error", "error while loading shared libraries", "symbol lookup error"]
  private var cause: String?
  private var last: [String] = []

  mutating func append(_ line: String) {
    let short = String(decoding: line.utf8.prefix(Self.limit), as: UTF8.self)
    if cause == nil, Self.marks.contains(where: short.contains) { cause = short }
    last = last.suffix(Self.count - 1) + [short]
  }

  /// The line that names the cause, else the last lines; `nil` when there was none.
  var text: String? { cause ?? (last.isEmpty ? nil : last.joined(separator: "\n")) }
}

extension Ending {
  /// Whether it can have a cause in the code that ran: no exit with 0, and no signal that asks a process to end.
  fileprivate var isFailure: Bool {
    switch self {
    case .exited(let code): code != 0
    case .signalled(let signal): signal != SIGKILL && signal != SIGTERM
    case .lostWithAgent, .notStarted, .evicted: false
    }
  }
}
