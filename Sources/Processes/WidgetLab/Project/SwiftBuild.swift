// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Cluster
import Foundation
import Glibc
import Messages
import Synchronization

/// The command `swift` of this machine.
struct SwiftTool {
  /// An absolute path.
  let path: String

  /// - Throws: a command error when no folder of `PATH` has it.
  init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
    let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
    guard let found = folders.map({ $0 + "/swift" }).first(where: { access($0, X_OK) == 0 }) else {
      throw CommandError(
        Exit.configuration, "no swift on the PATH", advice: "install Swift 6.3, or add the folder of `swift` to PATH")
    }
    path = found
  }

  /// The toolchain's folder with the shared libraries of Swift.
  var runtime: String {
    let folder = URL(fileURLWithPath: path + "c").resolvingSymlinksInPath().deletingLastPathComponent()
    return folder.appendingPathComponent("../lib/swift/linux").standardizedFileURL.path
  }

  /// What `swiftc --version` says.
  ///
  /// - Throws: a command error when it does not run.
  func compiler() async throws -> InstalledSDK.Compiler {
    let log = NSTemporaryDirectory() + "/widgetlab-compiler-\(UUID().uuidString)"
    defer { unlink(log) }
    let ending = try await Deadline.within(.seconds(60), what: "swiftc does not tell its version", at: path) {
      try await run(["--version"], log: log, executable: path + "c")
    }
    let output = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
    guard ending == .exited(code: 0) else {
      throw CommandError(Exit.configuration, "swiftc does not tell its version: \(output.prefix(200))", at: path + "c")
    }
    return InstalledSDK.Compiler(output)
  }

  /// An environment without what differs from one terminal to another.
  ///
  /// SwiftPM compiles the manifests of all packages again in an environment that it has not seen: for those of WidgetLab's
  /// sources ten seconds of CPU time.
  static func environment(_ inherited: [String: String]) -> [String: String] {
    inherited.filter { name, _ in !ofTerminals.contains(name) && !prefixesOfTerminals.contains(where: name.hasPrefix) }
  }

  private static let ofTerminals: Set<String> = [
    "_", "COLORTERM", "COLUMNS", "GPG_TTY", "INVOCATION_ID", "JOURNAL_STREAM", "LINES", "OLDPWD", "PWD", "SHLVL",
    "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "STY", "TMUX", "TMUX_PANE", "VTE_VERSION", "WINDOW", "WINDOWID",
    "WT_SESSION",
  ]
  private static let prefixesOfTerminals = ["GNOME_TERMINAL_", "KITTY_", "KONSOLE_", "VSCODE_", "XDG_SESSION_"]

  /// Runs a command of Swift, with its output in a file, and ends it when this task is cancelled.
  ///
  /// - Parameters:
  ///   - executable: another one than `swift`.
  ///   - follow: receives what was written to the file, from time to time and at the end.
  func run(
    _ arguments: [String], log: String, executable: String? = nil, follow: @escaping @Sendable (Data) -> Void = { _ in }
  ) async throws -> ChildEnding {
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: log).deletingLastPathComponent().path, withIntermediateDirectories: true)
    unlink(log)
    let child = try await SpawnedProcess.start(
      executable ?? path, arguments, environment: Self.environment(ProcessInfo.processInfo.environment), log: log)
    return try await withThrowingTaskGroup(of: ChildEnding?.self) { group in
      group.addTask { await child.ending() }
      group.addTask {
        // Ends by cancellation.
        while true {
          try await Task.sleep(for: .milliseconds(200))
          follow(FileManager.default.contents(atPath: log) ?? Data())
        }
      }
      defer { group.cancelAll() }
      do {
        while let ending = try await withTaskCancellationHandler(
          operation: { try await group.next() }, onCancel: { child.signal(SIGTERM) })
        {
          guard let ending else { continue }
          try Task.checkCancellation()
          follow(FileManager.default.contents(atPath: log) ?? Data())
          return ending
        }
        throw CancellationError()
      } catch {
        _ = await child.stop(within: .seconds(5))
        throw error
      }
    }
  }
}

/// The output of `swift build` so far.
struct BuildLog {
  /// A message of the compiler at a place of a file.
  struct Diagnostic: Hashable {
    let path: String
    let line: Int
    let column: Int
    let isError: Bool
    let message: String
  }

  /// The steps that are done, and all steps; `nil` before the first one.
  private(set) var steps: (done: Int, all: Int)?
  /// The last step, such as `Compiling SwiftUI Text.swift`.
  private(set) var step = ""
  /// In the order of their first occurrence.
  private(set) var diagnostics: [Diagnostic] = []
  /// Errors without a place.
  private(set) var errors: [String] = []

  init(_ text: String) {
    var seen: Set<Diagnostic> = []
    // An error in the expansion of a macro, whose place is in the note below it.
    var expanded: (macro: Substring, isError: Bool, message: Substring)?
    func add(_ diagnostic: Diagnostic, to diagnostics: inout [Diagnostic]) {
      if seen.insert(diagnostic).inserted { diagnostics.append(diagnostic) }
    }
    for line in text.split(whereSeparator: \.isNewline) {
      if let match = line.prefixMatch(of: /\[(\d+)\/(\d+)\] (.*)/) {
        steps = (Int(match.output.1) ?? 0, Int(match.output.2) ?? 0)
        step = String(match.output.3)
      } else if let match = line.prefixMatch(of: /(\/[^:]+):(\d+):(\d+): (error|warning): (.*)/) {
        let diagnostic = Diagnostic(
          path: String(match.output.1), line: Int(match.output.2) ?? 0, column: Int(match.output.3) ?? 0,
          isError: match.output.4 == "error", message: String(match.output.5))
        add(diagnostic, to: &diagnostics)
      } else if let match = line.prefixMatch(of: /macro expansion ([^:]+):\d+:\d+: (error|warning): (.*)/) {
        expanded = (match.output.1, match.output.2 == "error", match.output.3)
      } else if let message = expanded,
        let match = line.firstMatch(of: /(\/[^:]+):(\d+):(\d+): note: expanded code originates here/)
      {
        let diagnostic = Diagnostic(
          path: String(match.output.1), line: Int(match.output.2) ?? 0, column: Int(match.output.3) ?? 0,
          isError: message.isError, message: "\(message.message) (in the expansion of \(message.macro))")
        add(diagnostic, to: &diagnostics)
        expanded = nil
      } else if line.hasPrefix("error: "), !errors.contains(String(line)) {
        errors.append(String(line))
      }
    }
  }
}

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
      "\(ShownPath.of(origin(of: error.path))):\(error.line):\(error.column): error: \(Self.named(error.message))"
    }
    let rest = errors.count - shown.count
    return shown + (rest > 0 ? ["… and \(rest) more errors"] : []) + (errors.isEmpty ? log.errors : [])
  }

  var summary: String {
    guard let first = errors.first else { return "the package cannot be built" }
    let files = Set(errors.map(\.path)).count
    return errors.count == 1
      ? "the package does not compile: \(Self.named(first.message))"
      : "the package does not compile: \(errors.count) errors in \(files) file\(files == 1 ? "" : "s")"
  }

  /// A message about a missing module with the name that the author has written, and the remedy.
  static func named(_ message: String) -> String {
    guard let match = message.wholeMatch(of: /no such module '(\w+)(\.\w+)?'/),
      let name = AuthorModules.aliases.first(where: { $0.value == match.output.1 })?.key
    else { return message }
    let remedy =
      match.output.2 == nil
      ? "add .product(name: \"\(name)\", package: \"widgetlab\") to the dependencies of the target in Package.swift"
      : "write `import \(name)`, and add the product \(name) of widgetlab to the dependencies of the target"
    return "no such module '\(name)\(match.output.2 ?? "")': \(remedy)"
  }

  /// The author's file of a file of the package.
  private func origin(of path: String) -> String {
    let prefix = folder + "/"
    guard path.hasPrefix(prefix) else { return path }
    return origins[String(path.dropFirst(prefix.count))] ?? path
  }
}
