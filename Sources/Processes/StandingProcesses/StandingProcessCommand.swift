// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import CPlatform
import Cluster
import Glibc
package import Logging
import Messages
import PrometheusMetrics
import ShownText

/// The command of a standing process: it runs until SIGTERM or SIGINT.
///
/// All standing processes have the same shared options, log, form of a fatal error, and exit codes. The main function
/// of the executable calls `start()`. Options that only one process has are properties of its command.
package protocol StandingProcessCommand: AsyncParsableCommand {
  /// The shared options.
  var options: StandingProcessOptions { get }

  /// The command with these options; `nil` when ArgumentParser must read the arguments, as by default.
  ///
  /// - Parameter arguments: those that the command has are removed.
  static func reading(_ arguments: inout PlainArguments) -> Self?

  /// Runs the process. Returns after SIGTERM or SIGINT, when everything has ended.
  ///
  /// - Parameter logger: the log of the process, with its name as the label.
  /// - Throws: why the process cannot run.
  func serve(_ logger: Logger) async throws

  /// The exit code of an error that only this process has; `nil` for all others.
  static func exitCode(of error: any Error) -> StandingProcessExit?
}

extension StandingProcessCommand {
  /// The name of the executable, which begins each fatal error.
  package static var name: String { configuration.commandName ?? _commandName }

  package static func reading(_ arguments: inout PlainArguments) -> Self? { nil }

  package static func exitCode(of error: any Error) -> StandingProcessExit? { nil }

  /// The command of a command line that needs no ArgumentParser; `nil` for all others.
  ///
  /// - Parameter arguments: without the name of the executable.
  package static func plain(_ arguments: ArraySlice<String>) -> Self? {
    guard var arguments = PlainArguments(arguments), var command = reading(&arguments), arguments.isEmpty,
      (try? command.validate()) != nil
    else { return nil }
    return command
  }

  /// Runs the process with the arguments of the command line. Returns after a graceful end; the exit code is then 0.
  /// For wrong arguments, `--help` or a fatal error it exits.
  ///
  /// - Parameter serve: runs the parsed command; differs only in a build with a deliberate fault.
  package static func start(_ serve: (Self, Logger) async throws -> Void = { try await $0.serve($1) }) async {
    // First, since the parent may exit at any time.
    ParentDeathSignal.exitWithParentIfRequested(CommandLine.arguments)
    process_prepare_thread_ends()
    LineLogHandler.bootstrap()
    let command = plain(CommandLine.arguments.dropFirst()) ?? parseOrExit()
    do {
      try ProcessLimits.check()
      let logger = Logger(label: name)
      try await DiskSpace.wait(for: command.options.folder, logger: logger)
      try await serve(command, logger)
    } catch {
      fail("\(error)", exit(of: error))
    }
  }

  package func run() async throws { try await serve(Logger(label: Self.name)) }

  /// Reports why the process cannot run or continue, as one line `NAME: REASON`, and exits. Any thread. Further lines of
  /// the reason are indented.
  package static func fail(_ reason: String, _ code: StandingProcessExit) -> Never {
    let lines = reason.split(separator: "\n").map(\.escapingControls)
    let line = Array("\(name): \(lines.joined(separator: "\n  "))\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    Glibc.exit(code.rawValue)
  }

  /// The exit code of any error.
  static func exit(of error: any Error) -> StandingProcessExit {
    if let own = exitCode(of: error) { return own }
    return switch error {
    case let error as ClusterError: StandingProcessExit(error.code)
    case is MetricsError: .unavailable
    // The broker rejects the key of this process.
    case let error as BusError where error.code == .refused: .configuration
    default: .fault
    }
  }
}
