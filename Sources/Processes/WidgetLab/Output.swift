// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Cluster
import Foundation
import Glibc
import JournalAnalysis
import Messages

/// Receives the lines of a command instead of the terminal. Any thread.
protocol OutputSink: Sendable {
  /// A line, without its end.
  func line(_ text: String, isError: Bool)
}

/// Prints to the terminal. Each line is written whole and at once, so that the reader of a pipe sees it immediately.
///
/// Names, errors and output come from servers, providers and authors' processes. So control characters are printed as
/// `\u{1b}`, and in JSON as `\u001b`; only the colours of `TerminalColor` reach a terminal.
enum Output {
  /// Whether colours are used: standard output is a terminal and `NO_COLOR` is not set.
  static var isColored: Bool {
    sink == nil && isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  /// Prints a line on standard output. A line end within it is escaped: a text from outside forges no line.
  static func print(_ line: String) { print(line, isColored: isColored) }
  /// Prints a line on standard output, with its colours where they are wanted.
  static func print(_ line: String, isColored: @autoclosure () -> Bool) {
    printWhole(TerminalColor.shown(line, if: isColored()))
  }
  /// Prints a line on standard error.
  static func printError(_ line: String) { printWhole(line.escapingControls, isError: true) }

  /// Prints a text of several lines.
  static func printText(_ text: String, isError: Bool = false) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      printWhole(line.escapingControls, isError: isError)
    }
  }

  /// Clears a terminal.
  static func clearTerminal() { printWhole("\u{1b}[H\u{1b}[2J") }

  private static func printWhole(_ line: String, isError: Bool = false) {
    if let sink { return sink.line(line, isError: isError) }
    write(line + "\n", to: isError ? STDERR_FILENO : STDOUT_FILENO)
  }

  /// Receives the output of the current task; nil for the terminal.
  @TaskLocal static var sink: (any OutputSink)?

  /// Prints one JSON object with sorted keys as a line on standard output.
  static func json<T: Encodable>(_ value: T) throws {
    json(data: try jsonData(value))
  }

  /// Prints JSON as a line on standard output.
  static func json(data: Data) { printWhole(String(decoding: data, as: UTF8.self).escapingControlsOfJSON) }

  static func jsonData<T: Encodable>(_ value: T, pretty: Bool = false) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
      pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
    return Data(String(decoding: try encoder.encode(value), as: UTF8.self).escapingControlsOfJSON.utf8)
  }

  /// Writing to a closed pipe ends this process by SIGPIPE, like every filter.
  private static func write(_ text: String, to descriptor: CInt) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written > 0 { bytes = bytes.dropFirst(written) } else if errno != EINTR && errno != EAGAIN { return }
    }
  }
}

/// The exit codes of every command. `widgetlab --help` prints them.
enum Exit {
  /// The answer is no: no reply, a missing demo step, a process that is not running.
  static let no = ExitCode(1)
  /// The demo observed a violation.
  static let forbidden = ExitCode(2)
  /// No law of `check` is broken, and one cannot be judged.
  static let unknown = ExitCode(2)
  /// The command line is wrong (same code as the argument parser's).
  static let usage = ExitCode(64)
  /// The instance is not running, or its bus does not reply.
  static let unavailable = ExitCode(69)
  /// This tool or a process of the cluster failed.
  static let broken = ExitCode(70)
  /// A file that the user named cannot be written: `EX_IOERR`.
  static let output = ExitCode(74)
  /// Another `widgetlab up` holds the instance.
  static let held = ExitCode(75)
  /// The configuration or an executable is not usable.
  static let configuration = ExitCode(78)

  /// The demo, a campaign or a simulation was interrupted, as a shell reports SIGINT.
  static let interrupted = ExitCode(130)

  static let table = """
    EXIT CODES
      0   success; the answer is yes
      1   the answer is no: no reply, no such process, a missing demo step,
          a broken law
      2   the demo observed a violation; `check`, `chaos` or `simulate`
          cannot judge a law
      64  the command line is wrong
      69  the instance is not running, or its bus does not reply
      70  widgetlab or a process of the cluster failed
      74  the journal of `simulate` cannot be written
      75  another `widgetlab up` holds the instance
      78  the configuration or an executable is not usable
      130 the demo, a campaign or a simulation was interrupted
    """
}

/// A failed command's message to the user: what happened, where, and what to do.
struct CommandError: Error, CustomStringConvertible {
  let exit: ExitCode
  let what: String
  let place: String?
  let advice: String?

  init(_ exit: ExitCode, _ what: String, at place: String? = nil, advice: String? = nil) {
    self.exit = exit
    self.what = what
    self.place = place
    self.advice = advice
  }

  /// The error of a command that fails while the disk of an instance is full; `nil` when it has space.
  static func noSpace(in folder: String, _ exit: ExitCode) -> CommandError? {
    DiskSpace(at: folder)?.shortage.map { shortage in
      CommandError(
        exit, shortage, at: folder,
        advice: "remove files or enlarge the file system: a cluster that runs then continues by itself")
    }
  }

  var description: String {
    var lines = ["widgetlab: \(what)"]
    if let place { lines.append("  where: \(place)") }
    if let advice { lines.append("  do:    \(advice)") }
    return lines.joined(separator: "\n")
  }
}

/// Runs a command's work. Prints an error to standard error and exits with its exit code.
func reporting(_ work: () async throws -> Void) async throws {
  do {
    try await work()
  } catch let commandError as CommandError {
    Output.printText(commandError.description, isError: true)
    throw commandError.exit
  } catch let exit as ExitCode {
    throw exit
  } catch {
    Output.printText("widgetlab: \(error)", isError: true)
    throw Exit.broken
  }
}

/// A file for the report of a campaign or a fleet; its name determines the format.
struct ReportFile: ExpressibleByArgument, Sendable {
  private enum Format: String { case json, md, html }

  let path: String
  private let format: Format

  /// `nil` when the name has another extension.
  init?(argument: String) {
    guard let format = Format(rawValue: URL(fileURLWithPath: argument).pathExtension) else { return nil }
    path = argument
    self.format = format
  }

  /// Writes the report of a campaign. Replaces an existing file.
  func write(_ report: CampaignReport) throws {
    try write {
      switch format {
      case .json: try Output.jsonData(report)
      case .md: Data(CampaignMarkdown.page(report).utf8)
      case .html: Data(CampaignPage.page(report).utf8)
      }
    }
  }

  /// Writes the report of a fleet. Replaces an existing file.
  func write(_ report: FleetReport) throws {
    try write {
      switch format {
      case .json: try Output.jsonData(report, pretty: true)
      case .md: Data(report.markdown.utf8)
      case .html: Data(report.page.utf8)
      }
    }
  }

  private func write(_ data: () throws -> Data) throws {
    do {
      try NamedFile.write(try data(), to: path)
    } catch {
      throw CommandError(
        Exit.broken, "the report cannot be written: \(error.localizedDescription)", at: path,
        advice: "name a file in a writable folder")
    }
  }

  static let help = ArgumentHelp(
    "A file for the report: .json, .md or .html (a page with plots); may be repeated.", valueName: "file")
}
