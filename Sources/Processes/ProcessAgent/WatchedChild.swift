// SPDX-License-Identifier: Apache-2.0

import Archive
import CPlatform
import ChildProcesses
import Glibc
import Messages

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
