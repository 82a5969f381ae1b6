// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
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

  /// The SDKs beside the tool, or in the archive that `WIDGETLAB_HOME` names. An archive has one.
  static func find(
    ownPath: String = ExecutableSearch.ownPath, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> [InstalledSDK] {
    // The tool is in libexec/widgetlab.
    var home = URL(fileURLWithPath: ownPath).deletingLastPathComponent().appendingPathComponent("../..")
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

/// What a package of an author is built with: an installed SDK, or a clone or the sources of an archive, whose modules are
/// compiled.
struct WidgetLabPackage {
  /// The folder of the clone, of the sources or of the SDK, absolute.
  let folder: String
  /// The folder with the flags of the SDK; `nil` for sources.
  let flags: String?
  /// The libraries that it offers to authors.
  let modules: Set<String>
  /// Names that no target of an author may have: all names in the clone's manifest, or those of the SDK's modules.
  let names: Set<String>

  /// The file in the folder of WidgetLab's executables that has the path of the clone, which `scripts/install` writes. In an
  /// archive, the folder beside the SDK with the sources.
  static let sourceFile = "source"

  /// The folder for what is compiled of manifests. The sources of a Debian package belong to root.
  var manifests: String {
    if let flags { return flags + "/manifests" }
    guard access(folder, W_OK) != 0, let cache = InstalledSDK.cache(ProcessInfo.processInfo.environment) else {
      return folder + "/.build/manifests"
    }
    return cache + "/widgetlab/manifests"
  }

  /// Chooses the SDK of the tool's archive if the compiler is the one that made it, and its sources or a clone otherwise.
  /// Says why when there is an SDK and it is not used.
  ///
  /// - Parameter named: a clone that is used in any case.
  /// - Throws: a command error when there is neither.
  static func choose(
    _ named: String?, ownPath: String = ExecutableSearch.ownPath,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) async throws -> WidgetLabPackage {
    let installed = named == nil ? InstalledSDK.find(ownPath: ownPath, environment: environment) : []
    guard let first = installed.first else { return try find(named, ownPath: ownPath, environment: environment) }
    let swift = try SwiftTool(environment: environment)
    let compiler = try await swift.compiler()
    if let sdk = installed.first(where: { $0.obstacle(for: compiler) == nil }) {
      let flags = try sdk.writeFlags(runtime: swift.runtime, environment: environment)
      return WidgetLabPackage(sdk, flags: flags)
    }
    let reason = first.obstacle(for: compiler) ?? ""
    do {
      let package = try find(nil, ownPath: ownPath, environment: environment)
      Output.printText("\(reason): WidgetLab's modules are compiled from \(package.folder)")
      return package
    } catch let error as CommandError {
      throw CommandError(
        error.exit, "\(reason), and there are no sources of WidgetLab that it could compile", at: error.place,
        advice: "install \(first.facts.compiler), or name a clone of WidgetLab with --widgetlab")
    }
  }

  /// An SDK.
  init(_ sdk: InstalledSDK, flags: String) {
    folder = sdk.folder
    self.flags = flags
    modules = Set(sdk.facts.libraries)
    names = Set(sdk.facts.names)
  }

  /// Finds the clone or the sources: those that are named, `WIDGETLAB_HOME`, the clone in which this tool was built or from
  /// which it was installed, or the sources in the archive of this tool.
  ///
  /// - Throws: a command error that lists the places.
  static func find(
    _ named: String?, ownPath: String = ExecutableSearch.ownPath,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> WidgetLabPackage {
    var places: [String] = []
    if let named {
      places = [named]
    } else {
      if let home = environment[ExecutableSearch.homeVariable], !home.isEmpty {
        places += [home, "\(home)/\(sourceFile)"]
      }
      // A scratch folder such as .build-thread, too.
      if let build = ownPath.firstRange(of: /\/\.build[^\/]*\//) { places.append(String(ownPath[..<build.lowerBound])) }
      let folder = URL(fileURLWithPath: ownPath).deletingLastPathComponent().path
      if let source = try? String(contentsOfFile: "\(folder)/\(sourceFile)", encoding: .utf8) {
        places.append(source.trimmingCharacters(in: .whitespacesAndNewlines))
      }
      if folder.hasSuffix("/libexec/widgetlab") { places.append("\(folder)/../../\(sourceFile)") }
    }
    for place in places {
      let path = URL(fileURLWithPath: place).standardizedFileURL.path
      if let package = WidgetLabPackage(path) { return package }
    }
    throw CommandError(
      Exit.configuration, "the clone of WidgetLab is not found, which the package needs",
      at: places.isEmpty ? nil : places.joined(separator: ", "),
      advice: "name its folder with --widgetlab, or set \(ExecutableSearch.homeVariable) to it")
  }

  private init?(_ folder: String) {
    guard let manifest = try? String(contentsOfFile: folder + "/Package.swift", encoding: .utf8),
      manifest.contains("name: \"WidgetLab\"")
    else { return nil }
    self.folder = folder
    flags = nil
    let libraries = manifest.matches(of: /\.library\(\s*name:\s*"([^"]+)"/).map { String($0.output.1) }
    modules = Set(libraries).subtracting(["WidgetLabTesting"])
    names = Set(manifest.matches(of: /"([A-Za-z0-9_]+)"/).map { String($0.output.1) })
  }
}

/// The 64-bit hash FNV-1a. It names files, because it is the same in each run; it protects against nothing.
///
/// Source: Fowler, Noll and Vo, *The FNV Non-Cryptographic Hash Algorithm*.
enum FNV1a {
  /// - Parameter start: the hash of the bytes before these.
  static func hash(_ bytes: some Sequence<UInt8>, after start: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
    bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
