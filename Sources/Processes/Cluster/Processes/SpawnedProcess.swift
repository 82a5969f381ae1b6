// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Dispatch
import Foundation
import Glibc
import Synchronization

/// A child of this process. Any thread.
///
/// It is signalled and watched through a pidfd, so a signal never reaches another process that got the same pid. A child
/// may request a parent-death signal (`PR_SET_PDEATHSIG`). The kernel sends that when the *thread* that spawned the child
/// ends, so children are spawned on a thread that runs as long as this process: `start` uses `SpawningThread`.
package final class SpawnedProcess: Sendable {
  private struct State {
    var ending: ChildEnding?
    var isWatched = false
    var waiters: [CheckedContinuation<ChildEnding, Never>] = []
  }

  /// The process id.
  package let pid: Int32
  /// A pidfd: readable when the process has ended. It is open as long as this object exists.
  package let pidfd: Int32
  private let state = Mutex(State())

  /// Spawns on the calling thread. The child has no blocked and no ignored signal, and no descriptors except its three
  /// standard ones.
  ///
  /// - Throws: the kernel's reason; nothing runs then.
  package init(spawning command: ChildCommand) throws(SpawnFailure) {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    func open(_ path: String, _ flags: Int32) throws(SpawnFailure) -> Int32 {
      let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o644)
      guard descriptor >= 0 else { throw SpawnFailure(code: errno) }
      opened.append(descriptor)
      return descriptor
    }
    func descriptor(_ output: ChildCommand.Output) throws(SpawnFailure) -> Int32 {
      switch output {
      case .descriptor(let descriptor): descriptor
      case .file(let path): try open(path, O_WRONLY | O_APPEND | O_CREAT)
      }
    }
    let input = if let input = command.input { input } else { try open("/dev/null", O_RDONLY) }
    let standard = [input, try descriptor(command.output), try descriptor(command.errors)]
    var pid: Int32 = 0
    let code = withCStrings([command.executable] + command.arguments) { arguments in
      withCStrings(command.environment.map { "\($0)=\($1)" }.sorted()) { environment in
        process_spawn(
          &pid, command.executable, arguments, environment, command.directory, standard,
          command.leadsSession ? 1 : 0)
      }
    }
    guard code == 0 else { throw SpawnFailure(code: code) }
    let pidfd = process_open_pidfd(pid)
    guard pidfd >= 0 else {
      // Out of descriptors: a child that cannot be watched is killed.
      let code = errno
      Glibc.kill(pid, SIGKILL)
      while waitpid(pid, nil, 0) == -1, errno == EINTR {}
      throw SpawnFailure(code: code)
    }
    self.pid = pid
    self.pidfd = pidfd
  }

  deinit { close(pidfd) }

  /// Starts a process on the spawning thread.
  ///
  /// - Throws: the kernel's reason; nothing runs then.
  package static func start(_ command: ChildCommand) async throws(SpawnFailure) -> SpawnedProcess {
    try await SpawningThread.shared.run { () throws(SpawnFailure) in try SpawnedProcess(spawning: command) }
  }

  /// Sends a signal to this child, and never to another process.
  ///
  /// - Returns: 0 or an `errno`: `ESRCH` when the child was reaped.
  @discardableResult
  package func signal(_ number: Int32) -> Int32 { process_signal_pidfd(pidfd, number) == 0 ? 0 : errno }

  /// Reaps the child if it has ended. Until then its pid is not used for another process.
  ///
  /// - Returns: `nil` while it is running.
  package func reap() -> ChildEnding? {
    state.withLock { state in
      if let ending = state.ending { return ending }
      var status: Int32 = 0
      while true {
        let result = waitpid(pid, &status, WNOHANG)
        if result == pid { break }
        if result == 0 { return nil }
        precondition(errno == EINTR, "waitpid of \(pid): \(String(cString: strerror(errno)))")
      }
      state.ending = ChildEnding(status: status)
      return state.ending
    }
  }

  /// Waits until the process has ended, and reaps it. A separate thread waits, so no thread of the concurrency pool is
  /// blocked. May be called several times. Cancellation does not end the wait: signal the child.
  package func ending() async -> ChildEnding {
    await withCheckedContinuation { continuation in
      let (ending, startsThread) = state.withLock { state in
        if state.ending == nil { state.waiters.append(continuation) }
        defer { state.isWatched = true }
        return (state.ending, state.ending == nil && !state.isWatched)
      }
      if let ending { continuation.resume(returning: ending) }
      if startsThread { Thread.detachNewThread { self.watch() } }
    }
  }

  /// Sends SIGTERM, and SIGKILL at the deadline. Returns when the process has ended.
  package func stop(within limit: Duration) async -> ChildEnding {
    signal(SIGTERM)
    // Cancelled and awaited at the end of this scope.
    async let _ = kill(after: limit)
    return await ending()
  }

  /// Sends SIGKILL after a time, unless the task is cancelled before.
  package func kill(after time: Duration) async {
    guard (try? await Task.sleep(for: time)) != nil else { return }
    signal(SIGKILL)
  }

  private func watch() {
    var ended = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&ended, 1, -1)
      guard count > 0, let ending = reap() else { continue }
      let waiters = state.withLock { state in
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.resume(returning: ending) }
      return
    }
  }
}

/// Lends strings as a C array that ends with NULL.
private func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
  let pointers = strings.map { strdup($0) }
  defer { for pointer in pointers { free(pointer) } }
  return body(pointers + [nil])
}

/// The program of a child process, and what the child gets at its start.
package struct ChildCommand: Sendable {
  /// Where an output of the child goes.
  package enum Output: Sendable {
    /// A descriptor of this process, which stays open in this process.
    case descriptor(Int32)
    /// A file, which is created if it is missing. The child appends to it.
    case file(String)
  }

  /// The path of the executable, which is not searched for.
  package var executable: String
  /// The arguments after the executable.
  package var arguments: [String]
  /// The complete environment.
  package var environment: [String: String]
  /// The working directory; `nil` for the one of this process.
  package var directory: String?
  /// A descriptor of this process for standard input; `nil` for an empty input.
  package var input: Int32?
  /// Standard output.
  package var output: Output
  /// Standard error.
  package var errors: Output
  /// Whether the child leads a new session. Otherwise it leads a new process group of this session.
  package var leadsSession: Bool

  /// Creates a command. By default, the child has the environment of this process, an empty input, and its standard
  /// error for both outputs.
  package init(
    _ executable: String, _ arguments: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment, directory: String? = nil, input: Int32? = nil,
    output: Output = .descriptor(STDERR_FILENO), errors: Output = .descriptor(STDERR_FILENO),
    leadsSession: Bool = false
  ) {
    self.executable = executable
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
    self.input = input
    self.output = output
    self.errors = errors
    self.leadsSession = leadsSession
  }
}

/// Why a process could not be started. Definite: nothing runs.
package struct SpawnFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// An `errno`.
  package let code: Int32

  /// Creates a failure with an `errno`.
  package init(code: Int32) { self.code = code }

  /// The kernel's text, such as `No such file or directory`.
  package var description: String { String(cString: strerror(code)) }
}

/// How a child process ended.
package enum ChildEnding: Hashable, Sendable {
  /// It called `exit`, or returned from `main`.
  case exited(code: Int32)
  /// A signal ended it.
  case signalled(Int32)

  /// - Parameter status: what `waitpid` reported.
  init(status: Int32) {
    let signal = status & 0x7f
    self = signal == 0 ? .exited(code: (status >> 8) & 0xff) : .signalled(signal)
  }

  /// The exit status as a shell reports it: the exit code, or 128 plus the number of the signal.
  package var shellStatus: Int32 {
    switch self {
    case .exited(let code): code
    case .signalled(let signal): 128 + signal
    }
  }
}

/// The thread that spawns children. The kernel sends a parent-death signal when the *thread* that spawned the child
/// ends, so this thread runs as long as the process. A thread of the concurrency pool may end at any time.
package final class SpawningThread: Sendable {
  /// The one spawning thread of this process.
  package static let shared = SpawningThread()

  private let jobs = Mutex<[@Sendable () -> Void]>([])
  private let arrivals = DispatchSemaphore(value: 0)

  private init() {
    Thread.detachNewThread { [self] in
      while true {
        arrivals.wait()
        jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }?()
      }
    }
  }

  /// Runs `work` on the thread, after all earlier work.
  package func run<T: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> T
  ) async throws(Failure) -> T {
    let result: Result<T, Failure> = await withCheckedContinuation { continuation in
      jobs.withLock {
        $0.append {
          do throws(Failure) {
            continuation.resume(returning: .success(try work()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      }
      arrivals.signal()
    }
    return try result.get()
  }
}
