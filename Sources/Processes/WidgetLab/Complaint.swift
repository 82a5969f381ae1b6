import ArgumentParser
import Foundation

/// The exit codes of every command. `widgetlab --help` prints them.
enum Exit {
  /// The answer is no: nobody answered, a step was missing, the process does not live.
  static let no = ExitCode(1)
  /// The demo saw something that must never happen.
  static let forbidden = ExitCode(2)
  /// The command line is wrong (the parser's own code).
  static let usage = ExitCode(64)
  /// The instance is not running, or its bus does not answer.
  static let unavailable = ExitCode(69)
  /// This tool or a process of the cluster broke.
  static let broken = ExitCode(70)
  /// Another `widgetlab up` holds the instance.
  static let held = ExitCode(75)
  /// The configuration or an executable cannot be used.
  static let configuration = ExitCode(78)

  /// The demo was asked to stop before its end, as a shell counts SIGINT.
  static let interrupted = ExitCode(130)

  static let table = """
    EXIT CODES
      0   done; the answer is yes
      1   the answer is no: no reply, no such process, a step of the demo missing
      2   the demo saw something that must never happen
      64  the command line is wrong
      69  the instance is not running, or its bus does not answer
      70  widgetlab or a process of the cluster broke
      75  another `widgetlab up` holds the instance
      78  the configuration or an executable cannot be used
      130 the demo was interrupted
    """
}

/// What reaches a person when a command fails: what happened, where, and what to do.
struct Complaint: Error, CustomStringConvertible {
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

  var description: String {
    var lines = ["widgetlab: \(what)"]
    if let place { lines.append("  where: \(place)") }
    if let advice { lines.append("  do:    \(advice)") }
    return lines.joined(separator: "\n")
  }
}

/// Runs a command's work; a failure is printed to standard error and becomes its exit code.
func reporting(_ work: () async throws -> Void) async throws {
  do {
    try await work()
  } catch let complaint as Complaint {
    Output.complain(complaint.description)
    throw complaint.exit
  } catch let exit as ExitCode {
    throw exit
  } catch {
    Output.complain("widgetlab: \(error)")
    throw Exit.broken
  }
}
