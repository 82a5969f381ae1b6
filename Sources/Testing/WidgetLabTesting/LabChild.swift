import CPlatform
import Dispatch
import Foundation
import Glibc
import Synchronization

/// A process that a test started. The kernel kills it when the test's process exits in any way.
package struct LabChild: Sendable {
  /// The process id.
  package let pid: Int32

  /// Starts an executable in a separate process group, with its output in files.
  ///
  /// - Throws: `LabError` with the kernel's reason.
  package static func start(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:], output: String, errors: String
  ) async throws -> LabChild {
    try await LabSpawningThread.shared.run {
      LabChild(
        pid: try spawn(executable, arguments, environment: environment, output: output, errors: errors))
    }
  }

  private static func spawn(
    _ executable: String, _ arguments: [String], environment: [String: String], output: String, errors: String
  ) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let flags = O_WRONLY | O_APPEND | O_CREAT
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0o644)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, flags, 0o644)
    process_close_others(&actions)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var argv = ([executable] + arguments).map { strdup($0) } + [nil]
    var envp = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in argv + envp { free(text) } }
    var pid: pid_t = 0
    let status = posix_spawn(&pid, executable, &actions, &attributes, &argv, &envp)
    guard status == 0 else {
      throw LabError("\(executable) cannot be started: \(String(cString: strerror(status))); build it first")
    }
    return pid
  }

  /// Waits for the exit, on a separate thread. A signal counts as 128 plus its number, as in a shell. Cancellation
  /// kills the process, so that a test that reaches its time limit ends.
  package func ending() async -> Int32 {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { [pid] in
          var status: CInt = 0
          while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
          let signal = status & 0x7f
          continuation.resume(returning: signal == 0 ? (status >> 8) & 0xff : 128 + signal)
        }
      }
    } onCancel: {
      kill(pid, SIGKILL)
    }
  }
}

/// The thread that spawns the children. They are killed when it exits, so it runs as long as the process.
private final class LabSpawningThread: Sendable {
  static let shared = LabSpawningThread()

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

  func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      jobs.withLock { $0.append { continuation.resume(with: Result(catching: work)) } }
      arrivals.signal()
    }
  }
}

/// An error in a test's cluster.
public struct LabError: Error, CustomStringConvertible {
  /// What happened, where, and what to do.
  public let description: String
  /// Creates an error with a text: what happened, and what to do.
  public init(_ description: String) { self.description = description }
}
