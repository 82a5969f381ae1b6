// SPDX-License-Identifier: Apache-2.0

import ChildProcesses
import Glibc

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
