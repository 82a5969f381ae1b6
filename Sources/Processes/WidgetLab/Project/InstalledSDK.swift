// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc

/// WidgetLab's modules as one compiler has compiled them, beside the tool of an archive. `deploy/package` makes it, and
/// Documentation/decisions/0031-installed-sdk.md describes its files.
struct InstalledSDK {
  /// `sdk.json`.
  struct Facts: Codable, Hashable {
    /// The first line of `swiftc --version`.
    var compiler: String
    /// The triple for which it compiled.
    var target: String
    /// The libraries for authors.
    var libraries: [String]
    /// The names of all modules, which no other target may have.
    var names: [String]
    /// Of all files.
    var hash: String
  }

  /// Absolute.
  let folder: String
  let facts: Facts

  /// Those beside the tool, or in the archive that `WIDGETLAB_HOME` names. An archive has one.
  static func find(
    own: String = ExecutableSearch.ownPath, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> [InstalledSDK] {
    // The tool is in libexec/widgetlab.
    var home = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("../..")
    if let named = environment[ExecutableSearch.homeVariable], !named.isEmpty { home = URL(fileURLWithPath: named) }
    let folder = home.standardizedFileURL.path + "/sdk"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? []
    return versions.compactMap { version in
      let place = "\(folder)/\(version)"
      return (try? JSONFile.read(Facts.self, at: place + "/sdk.json")).map { InstalledSDK(folder: place, facts: $0) }
    }
  }

  // MARK: The compiler

  /// A compiler, as it describes itself.
  struct Compiler: Hashable {
    /// The first line of its output.
    let version: String
    let target: String

    /// - Parameter output: of `swiftc --version`.
    init(_ output: String) {
      let lines = output.split(whereSeparator: \.isNewline).map(String.init)
      // A first line such as that of swiftly is not the compiler's.
      version = lines.first { $0.contains("Swift version ") } ?? ""
      target = lines.lazy.compactMap { $0.prefixMatch(of: /Target: (.*)/).map { String($0.output.1) } }.first ?? ""
    }
  }

  /// Why a compiler cannot use the modules; `nil` when it can. The compiler itself does not find out reliably.
  func obstacle(for compiler: Compiler) -> String? {
    if compiler.version != facts.compiler {
      return "the SDK in \(folder) is of \(facts.compiler), and the compiler is \(compiler.version)"
    }
    guard compiler.target != facts.target else { return nil }
    return "the SDK in \(folder) is for \(facts.target), and the compiler compiles for \(compiler.target)"
  }

  // MARK: The flags

  /// The names of the response files.
  static let responses = ["modules.rsp", "compile.rsp", "link.rsp"]

  /// Writes the response files with the paths of this machine, unless they are there.
  ///
  /// SwiftPM does not build again when a response file has changed. So the name of their folder has a hash of the SDK and
  /// of the toolchain.
  ///
  /// - Parameter runtime: the toolchain's folder with the shared libraries of Swift.
  /// - Returns: the folder.
  /// - Throws: a command error when no folder can be written.
  func writeFlags(
    runtime: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> String {
    let id = facts.hash + "-" + String(FNV1a.hash("\(folder)\n\(runtime)".utf8), radix: 36)
    let places = ["\(folder)/flags/\(id)"] + (Self.cache(environment).map { ["\($0)/widgetlab/\(id)"] } ?? [])
    var failure: (any Error)?
    for place in places {
      do {
        try writeFlags(to: place, runtime: runtime)
        return place
      } catch {
        failure = error
      }
    }
    throw CommandError(
      Exit.configuration, "the flags of the SDK cannot be written: \(failure?.localizedDescription ?? "no folder")",
      at: places.joined(separator: ", "), advice: "set XDG_CACHE_HOME to a folder that you may write to")
  }

  /// The folder for what can be made again.
  static func cache(_ environment: [String: String]) -> String? {
    let named = environment["XDG_CACHE_HOME"].flatMap { $0.isEmpty ? nil : $0 }
    return named ?? environment["HOME"].map { $0 + "/.cache" }
  }

  private func writeFlags(to place: String, runtime: String) throws {
    let plugins = try FileManager.default.contentsOfDirectory(atPath: folder + "/plugins").sorted()
    // The compiler starts a macro without the path of its libraries.
    for plugin in plugins {
      let text = """
        #!/bin/sh
        LD_LIBRARY_PATH=\(Self.shellQuoted(runtime)) exec \(Self.shellQuoted("\(folder)/plugins/\(plugin)")) "$@"

        """
      let script = "\(place)/plugins/\(plugin)"
      try Self.write(text, to: script)
      // Only the owner can change the mode of a file.
      guard access(script, X_OK) == 0 || chmod(script, 0o755) == 0 else {
        throw CocoaError(.fileWriteNoPermission)
      }
    }
    for name in Self.responses {
      let template = try String(contentsOfFile: "\(folder)/\(name).in", encoding: .utf8)
      try Self.write(Self.filled(template, sdk: folder, flags: place), to: "\(place)/\(name)")
    }
  }

  /// A response file: each line is an argument in double quotes.
  static func filled(_ template: String, sdk: String, flags: String) -> String {
    template.replacing("@SDK@", with: quoted(sdk)).replacing("@FLAGS@", with: quoted(flags))
  }

  /// What a text is between double quotes of a response file.
  private static func quoted(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }

  private static func shellQuoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

  /// Writes a file unless it has this text. Another command may write the same at the same time.
  private static func write(_ text: String, to path: String) throws {
    if (try? String(contentsOfFile: path, encoding: .utf8)) == text { return }
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }
}
