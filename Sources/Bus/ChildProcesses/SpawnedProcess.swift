// SPDX-License-Identifier: Apache-2.0

import CPlatform
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
