import CPlatform
import Glibc
import Messages

/// Why the kernel could not start a process: an `errno`.
struct SpawnFailure: Error {
  let code: Int32
}

/// A child and the descriptors through which it is watched. Confined to the thread of the children.
final class WatchedChild {
  let instance: ProcessInstance
  let pid: Int32
  /// Readable when the child has ended.
  let pidfd: Int32
  private(set) var outputs: [OutputStream: Int32]
  /// Output read and not yet taken by the bus, in units of `weight`.
  private var untaken = 0
  /// The memory limit and the time of the next check; `nil` without a limit, or after it was exceeded.
  private var memory: (limit: MemoryLimit, look: ContinuousClock.Instant)?
  /// The maximum read ahead of the bus: beyond it the child's pipe fills and blocks the child.
  private static let untakenLimit = 1 << 18

  private init(_ order: SpawnOrder, pid: Int32, pidfd: Int32, outputs: [OutputStream: Int32]) {
    self.instance = order.instance
    self.memory = order.memory.map { ($0, .now + .seconds($0.interval)) }
    self.pid = pid
    self.pidfd = pidfd
    self.outputs = outputs
  }

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
  static func spawn(_ order: SpawnOrder) -> Result<WatchedChild, SpawnFailure> {
    var opened: [Int32] = []
    func pipe() -> (reader: Int32, writer: Int32)? {
      var ends: [Int32] = [-1, -1]
      guard process_pipe(&ends) == 0 else { return nil }
      opened += ends
      return (ends[0], ends[1])
    }
    func give(up code: Int32) -> Result<WatchedChild, SpawnFailure> {
      for descriptor in opened { Glibc.close(descriptor) }
      return .failure(SpawnFailure(code: code))
    }
    guard let input = pipe(), let output = pipe(), let error = pipe() else { return give(up: errno) }
    // Whatever fits into the pipe can be written before the child reads.
    makeNonblocking(input.writer)
    guard write(input.writer, order.input, order.input.count) == order.input.count else { return give(up: E2BIG) }
    var pid: Int32 = 0
    let code = withCStrings([order.executable]) { arguments in
      withCStrings(order.environment.map { "\($0)=\($1)" }.sorted()) { environment in
        process_spawn(
          &pid, order.executable, arguments, environment, order.directory, input.reader, output.writer, error.writer)
      }
    }
    guard code == 0 else { return give(up: code) }
    let pidfd = process_open_pidfd(pid)
    guard pidfd >= 0 else {
      // Out of descriptors: a child that cannot be watched is killed.
      let code = errno
      kill(pid, SIGKILL)
      while waitpid(pid, nil, 0) == -1, errno == EINTR {}
      return give(up: code)
    }
    for descriptor in [input.reader, input.writer, output.writer, error.writer] { Glibc.close(descriptor) }
    for descriptor in [output.reader, error.reader] { makeNonblocking(descriptor) }
    return .success(
      WatchedChild(
        order, pid: pid, pidfd: pidfd, outputs: [.stdout: output.reader, .stderr: error.reader]))
  }

  /// Sends a signal to this child and never to another process, also when it has just ended.
  ///
  /// - Returns: 0 or an `errno`.
  func signal(_ signal: Int32) -> Int32 {
    process_signal_pidfd(pidfd, signal) == 0 ? 0 : errno
  }

  /// Reaps the child; `nil` while it is running. The rest of its process group is killed first: until the child is
  /// reaped, its pid cannot be reused.
  func reap() -> Ending? {
    kill(-pid, SIGKILL)
    var status: Int32 = 0
    while true {
      let result = waitpid(pid, &status, WNOHANG)
      if result == pid { break }
      if result == 0 { return nil }
      precondition(errno == EINTR, "waitpid of \(pid): \(String(cString: strerror(errno)))")
    }
    let signal = status & 0x7f
    return signal == 0 ? .exited(code: (status >> 8) & 0xff) : .signalled(signal: signal)
  }

  func closeOutput(_ stream: OutputStream) {
    if let descriptor = outputs.removeValue(forKey: stream) { Glibc.close(descriptor) }
  }

  func close() {
    for stream in OutputStream.allCases { closeOutput(stream) }
    Glibc.close(pidfd)
  }

  // MARK: Memory

  /// The time until the next check, rounded up; `nil` when none is due.
  var millisecondsToLook: Int32? {
    memory.map { Int32(clamping: Int(max(0, ($0.look - .now) / .milliseconds(1)).rounded(.up))) }
  }

  /// Checks the child's memory, if a check is due. A stopped child is checked too: it may have allocated just before.
  ///
  /// - Returns: the memory in bytes when it exceeds the limit; then it is not checked again.
  func excessMemory() -> Int? {
    guard let (limit, look) = memory, look <= .now else { return nil }
    let found = ChildStatus(of: pid)?.memory ?? 0
    memory = found > limit.bytes ? nil : (limit, .now + .seconds(limit.interval))
    return found > limit.bytes ? found : nil
  }
}

/// Lends strings as a C array that ends with NULL.
private func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
  let pointers = strings.map { strdup($0) }
  defer { for pointer in pointers { free(pointer) } }
  return body(pointers + [nil])
}
