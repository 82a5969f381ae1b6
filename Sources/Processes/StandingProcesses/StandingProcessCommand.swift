// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import CPlatform
package import Cluster
package import FaultPoints
import Glibc
package import Logging
package import Messages
import PrometheusMetrics

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

/// The options of every standing process.
package struct StandingProcessOptions: ParsableArguments {
  /// The path of the instance's folder.
  @Option(help: "The cluster's folder.", completion: .directory)
  package var instance: String

  /// The pid of the parent. `ParentDeathSignal` reads it before all other options.
  @Option(help: "Exit when the parent process with this id exits.")
  package var dieWithParent: Int32?

  package init() {}

  /// - Returns: `nil` when ArgumentParser must read the arguments.
  package init?(_ arguments: inout PlainArguments) {
    guard let instance = arguments.take("--instance") else { return nil }
    var parent: Int32?
    if let text = arguments.take("--die-with-parent") {
      guard let pid = Int32(text) else { return nil }
      parent = pid
    }
    self.init()
    self.instance = instance
    self.dieWithParent = parent
  }

  /// The instance's folder.
  package var folder: InstanceFolder { InstanceFolder(instance) }

  /// Maps the page of fault points, if the instance has one. Call it before anything is written.
  ///
  /// - Parameter address: of this process.
  /// - Returns: whether it has one.
  /// - Throws: when the page cannot be used.
  @discardableResult
  package func joinFaultPoints(as address: Address) throws(FaultPointError) -> Bool {
    try FaultPointPage.join(folder.faultPoints, as: address)
  }
}

/// The option of a standing process that needs a `widgetlab.yaml`.
package struct ConfigurationOption: ParsableArguments {
  /// The path of the file.
  @Option(name: .customLong("config"), help: "The cluster's widgetlab.yaml.", completion: .file())
  package var path: String

  package init() {}

  /// - Returns: `nil` when ArgumentParser must read the arguments.
  package init?(_ arguments: inout PlainArguments) {
    guard let path = arguments.take("--config") else { return nil }
    self.init()
    self.path = path
  }

  /// Reads the file.
  ///
  /// - Throws: `configuration`, with the line of the mistake.
  package func load() throws(ClusterError) -> ClusterConfiguration { try ClusterConfiguration.load(path) }
}

/// The exit codes of standing processes, with the values of `sysexits.h`. `Documentation/operations.md` lists them.
/// After SIGTERM or SIGINT, and when the parent has exited, the code is 0.
package enum StandingProcessExit: Int32, Sendable {
  /// The command line is wrong: `EX_USAGE`.
  case usage = 64
  /// An endpoint, a port or the instance is in use: `EX_UNAVAILABLE`.
  case unavailable = 69
  /// A fault of the process itself: `EX_SOFTWARE`.
  case fault = 70
  /// A file, a folder, the journal or a database cannot be read or written: `EX_IOERR`.
  case io = 74
  /// `widgetlab.yaml`, a key, a certificate or a limit of the process cannot be used: `EX_CONFIG`.
  case configuration = 78

  /// The exit code of an error of the cluster.
  package init(_ code: ClusterError.Code) {
    self =
      switch code {
      case .configuration, .key, .expansion, .limit: .configuration
      case .notThere: .unavailable
      default: .io
      }
  }
}

/// Arguments of the form `--name VALUE`, in which a cluster starts its processes.
///
/// ArgumentParser needs 3 ms of each start, because it examines the types of a command at run time. A command that
/// reads its options from here starts without it. Everything else is left to ArgumentParser: other forms of options,
/// wrong values, `--help`. The result is the same, so this accepts only what ArgumentParser accepts.
package struct PlainArguments {
  private var pairs: [(name: String, value: String)] = []

  /// Whether all arguments were taken.
  package var isEmpty: Bool { pairs.isEmpty }

  /// - Parameter arguments: without the name of the executable.
  /// - Returns: `nil` unless these are pairs of a long name and a value that does not begin with `-`, each name once.
  package init?(_ arguments: ArraySlice<String>) {
    var name: String?
    for argument in arguments {
      guard let current = name else {
        guard argument.hasPrefix("--"), argument.utf8.count > 2, !argument.utf8.contains(UInt8(ascii: "=")),
          !pairs.contains(where: { $0.name == argument })
        else { return nil }
        name = argument
        continue
      }
      guard !argument.isEmpty, !argument.hasPrefix("-") else { return nil }
      pairs.append((current, argument))
      name = nil
    }
    if name != nil { return nil }
  }

  /// Removes the value of an option; `nil` if it is not among the arguments.
  ///
  /// - Parameter name: with its dashes.
  package mutating func take(_ name: String) -> String? {
    pairs.firstIndex { $0.name == name }.map { pairs.remove(at: $0).value }
  }
}
