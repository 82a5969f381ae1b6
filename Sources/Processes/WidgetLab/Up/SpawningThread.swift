import CPlatform
import Dispatch
import Foundation
import Glibc
import Synchronization

/// The thread that spawns all children. The kernel sends the parent-death signal when the *thread* that spawned the
/// child exits, so this thread runs as long as the process.
final class SpawningThread: Sendable {
  static let shared = SpawningThread()

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
  func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      jobs.withLock { $0.append { continuation.resume(with: Result(catching: work)) } }
      arrivals.signal()
    }
  }
}

/// A child of this process.
struct Child: Sendable {
  let pid: Int32

  /// What to start, and where its output goes.
  struct Order: Sendable {
    var executable: String
    var arguments: [String] = []
    var environment: [String: String] = ProcessInfo.processInfo.environment
    /// A descriptor for standard output; `nil` for the log.
    var output: CInt?
    /// A file that standard error and standard output are appended to; `nil` for this process's standard error.
    var log: String?
  }

  /// Starts a process in a new process group, from the spawning thread, with empty standard input.
  ///
  /// - Throws: a command error with the kernel's reason.
  static func start(_ order: Order) async throws -> Child {
    try await SpawningThread.shared.run { try Child(spawning: order) }
  }

  private init(spawning order: Order) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    if let log = order.log {
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_APPEND | O_CREAT, 0o644)
    }
    posix_spawn_file_actions_adddup2(&actions, order.output ?? STDERR_FILENO, STDOUT_FILENO)
    process_close_others(&actions)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    var arguments = ([order.executable] + order.arguments).map { strdup($0) } + [nil]
    var environment = order.environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var pid: pid_t = 0
    let status = posix_spawn(&pid, order.executable, &actions, &attributes, &arguments, &environment)
    guard status == 0 else {
      throw CommandError(
        Exit.configuration, "cannot start \(order.executable): \(String(cString: strerror(status)))",
        at: order.executable, advice: "build it, or give its folder with --executables")
    }
    self.pid = pid
  }

  /// Waits on a separate thread until the process has exited. Returns its exit code or signal as text.
  func ending() async -> String {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [pid] in
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        let code = (status >> 8) & 0xff
        continuation.resume(returning: signal == 0 ? "exit code \(code)" : ProcessFacts.name(ofSignal: signal))
      }
    }
  }
}
