// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import Foundation

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
  /// Another `widgetlab up` holds the instance.
  static let held = ExitCode(75)
  /// The configuration or an executable is not usable.
  static let configuration = ExitCode(78)

  /// The demo or a campaign was interrupted, as a shell reports SIGINT.
  static let interrupted = ExitCode(130)

  static let table = """
    EXIT CODES
      0   success; the answer is yes
      1   the answer is no: no reply, no such process, a missing demo step,
          a broken law
      2   the demo observed a violation; `check` or `chaos` cannot judge a
          law
      64  the command line is wrong
      69  the instance is not running, or its bus does not reply
      70  widgetlab or a process of the cluster failed
      75  another `widgetlab up` holds the instance
      78  the configuration or an executable is not usable
      130 the demo or a campaign was interrupted
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
