// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Console
import Synchronization

/// The commands that the page may perform. They are those of the command line: same parser, same code.
struct ConsoleActions: Sendable {
  let cluster: ClusterFacts
  /// ` --instance second`, or nothing.
  let commandSuffix: String
  let session: SharedOperatorSession

  /// The first words of the permitted commands.
  static let permitted: Set<String> = [
    "add", "edit", "remove", "turn", "tap", "reload", "app", "look", "lock", "unlock", "setting", "network", "device",
    "clock", "update", "push", "apns", "kill", "suspend", "resume", "force-quit",
  ]
  /// Options that name files, or another cluster.
  private static let refusedOptions = ["--instance", "--config", "--payload", "--journal", "--executables"]
  private static let lineLimit = 500

  /// Performs a command.
  ///
  /// - Throws: 400 for a command that the console does not perform, or that the parser rejects.
  func perform(_ arguments: [String]) async throws -> ConsoleActionResult {
    let command = try parse(arguments)
    let sink = CollectedOutput(limit: Self.lineLimit)
    let begun = ContinuousClock.now
    let exit = await run(command, sink)
    let (output, errors) = sink.lines
    return ConsoleActionResult(
      command: "widgetlab " + arguments.map(Self.quoted).joined(separator: " ") + commandSuffix, exit: exit,
      output: output, errors: errors, milliseconds: Int(saturating: (ContinuousClock.now - begun) / .milliseconds(1)))
  }

  private func parse(_ arguments: [String]) throws -> any ParsableCommand {
    guard let first = arguments.first, Self.permitted.contains(first) else {
      throw ConsoleError(
        400, "the console does not perform '\(arguments.first ?? "")'",
        advice: "use one of: \(Self.permitted.sorted().joined(separator: ", "))")
    }
    for argument in arguments {
      let name = argument.prefix { $0 != "=" }
      guard argument != "--", !Self.refusedOptions.contains(String(name)), argument.utf8.allSatisfy({ $0 >= 0x20 })
      else {
        throw ConsoleError(
          400, "the console does not accept \(name)", advice: "use the command line for options that name files")
      }
    }
    let own = ["--instance", cluster.folder, "--config", cluster.configurationPath]
    let command: any ParsableCommand
    do {
      command = try WidgetLabTool.parseAsRoot(arguments + own)
    } catch {
      throw ConsoleError(400, WidgetLabTool.message(for: error), advice: "see `widgetlab help \(first)`")
    }
    guard command is any AsyncParsableCommand, !(command is PushLogCommand) else {
      throw ConsoleError(400, "the console does not perform '\(arguments.joined(separator: " "))'")
    }
    return command
  }

  private func run(_ command: any ParsableCommand, _ sink: CollectedOutput) async -> Int32 {
    guard var command = command as? any AsyncParsableCommand else { return Exit.usage.rawValue }
    do {
      try await Output.$sink.withValue(sink) {
        try await SharedOperatorSession.$current.withValue(session) { try await command.run() }
      }
      return 0
    } catch let exit as ExitCode {
      return exit.rawValue
    } catch {
      sink.line(WidgetLabTool.message(for: error), isError: true)
      return WidgetLabTool.exitCode(for: error).rawValue
    }
  }

  /// An argument as a shell reads it.
  static func quoted(_ argument: String) -> String {
    let plain = argument.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || "-_./=:,+@".utf8.contains(byte)
    }
    guard !plain || argument.isEmpty else { return argument }
    return "'" + argument.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}

/// The lines that a command prints. Any thread.
final class CollectedOutput: OutputSink {
  private let limit: Int
  private let state = Mutex<(output: [String], errors: [String])>(([], []))

  init(limit: Int) { self.limit = limit }

  func line(_ text: String, isError: Bool) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    state.withLock { state in
      guard state.output.count + state.errors.count < limit else { return }
      if isError { state.errors += lines } else { state.output += lines }
    }
  }

  /// What was printed on standard output and on standard error.
  var lines: (output: [String], errors: [String]) { state.withLock { $0 } }
}
