// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Foundation
import Glibc
import ShownText
import Synchronization

/// Shows how far a build is: on a terminal in one line, which is replaced, and else a line for each tenth. Any thread.
final class BuildProgress: Sendable {
  private let shown = Mutex((tenth: -1, isLineOpen: false))
  private let isTerminal = Output.sink == nil && isatty(STDOUT_FILENO) == 1

  /// Shows the last step of what the build has written.
  func follow(_ output: Data) {
    let log = BuildLog(String(decoding: output.suffix(4096), as: UTF8.self))
    // The first steps plan the build, with their own numbers.
    guard let steps = log.steps, steps.all > 8 else { return }
    shown.withLock { shown in
      if isTerminal {
        shown.isLineOpen = true
        replaceLine(by: "  [\(steps.done)/\(steps.all)] \(log.step)")
      } else if steps.done * 10 / steps.all > shown.tenth {
        shown.tenth = steps.done * 10 / steps.all
        Output.print("  [\(steps.done)/\(steps.all)] \(log.step)")
      }
    }
  }

  /// Removes the line from a terminal.
  func end() {
    shown.withLock { shown in
      if shown.isLineOpen { replaceLine(by: "") }
      shown.isLineOpen = false
    }
  }

  private func replaceLine(by text: String) {
    let line = Array("\r\u{1B}[K\(text.escapingControls.prefix(78))".utf8)
    _ = write(STDOUT_FILENO, line, line.count)
  }
}

/// The errors of a build, at the places of the author's files.
struct BuildReport {
  private let log: BuildLog
  /// The folder of the package that was built.
  private let folder: String
  /// The author's file of a file of the package, by its path in the package.
  private let origins: [String: String]

  /// The most errors that are printed.
  private static let limit = 20

  init(_ log: BuildLog, folder: String, origins: [String: String]) {
    self.log = log
    self.folder = folder
    self.origins = origins
  }

  private var errors: [BuildLog.Diagnostic] { log.diagnostics.filter(\.isError) }

  var lines: [String] {
    let shown = errors.prefix(Self.limit).map { error in
      "\(ShownPath.of(origin(of: error.path))):\(error.line):\(error.column): error: \(error.message)"
    }
    let rest = errors.count - shown.count
    return shown + (rest > 0 ? ["… and \(rest) more errors"] : []) + (errors.isEmpty ? log.errors : [])
  }

  var summary: String {
    guard let first = errors.first else { return "the package cannot be built" }
    let files = Set(errors.map(\.path)).count
    return errors.count == 1
      ? "the package does not compile: \(first.message)"
      : "the package does not compile: \(errors.count) errors in \(files) file\(files == 1 ? "" : "s")"
  }

  /// The author's file of a file of the package.
  private func origin(of path: String) -> String {
    let prefix = folder + "/"
    guard path.hasPrefix(prefix) else { return path }
    return origins[String(path.dropFirst(prefix.count))] ?? path
  }
}
