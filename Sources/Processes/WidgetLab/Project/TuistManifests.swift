// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Cluster
import Foundation

/// Runs manifests of Tuist: each is compiled with WidgetLab's `ProjectDescription` and with the helpers of the project, and
/// prints its description. What is compiled is kept, by its content and the compiler.
struct TuistManifests {
  /// The folder of the clone or of the SDK, which has the sources of `ProjectDescription`.
  private let widgetLab: String
  private let scratch: String

  init(_ package: WidgetLabPackage) {
    widgetLab = package.folder
    scratch = package.manifests
  }

  private static let patience = Duration.seconds(120)
  private static let helpers = "ProjectDescriptionHelpers"

  /// The description of a manifest, as JSON.
  ///
  /// - Throws: a command error with the compiler's message.
  func description(of manifest: String) async throws -> Data {
    let swift = try SwiftTool()
    let folder = URL(fileURLWithPath: manifest).deletingLastPathComponent().path
    let description = try await module(
      "ProjectDescription", sources: Self.sources(in: widgetLab + "/Sources/SDK/ProjectDescription"), after: [],
      language: "6", swift)
    var modules = [description]
    let root = AuthorProject.tuistRoot(of: folder)
    for (name, sources) in Self.plugins(in: root + "/Plugins") {
      modules.append(try await module(name, sources: sources, after: [description], language: "5", swift))
    }
    let helpers = Self.sources(in: "\(root)/Tuist/\(Self.helpers)")
    if !helpers.isEmpty {
      modules.append(try await module(Self.helpers, sources: helpers, after: modules, language: "5", swift))
    }
    let place = scratch + "/" + Self.digest(of: [manifest], modules + [Self.compiler(swift)])
    if access(place, X_OK) != 0 {
      let new = place + ".new-\(getpid())"
      try await compile(
        ["-swift-version", "5", manifest, "-o", new] + modules.flatMap { ["-I", $0, "\($0)/module.o"] }, of: manifest,
        log: place + ".log", swift)
      try move(new, to: place)
    }
    let ending = try await Deadline.within(Self.patience, what: "the manifest does not end", at: manifest) {
      try await swift.run(["--print-description"], log: place + ".out", executable: place)
    }
    let output = FileManager.default.contents(atPath: place + ".out") ?? Data()
    // A manifest may print, too.
    guard ending == .exited(code: 0),
      let line = output.split(separator: UInt8(ascii: "\n")).last(where: { $0.first == UInt8(ascii: "{") })
    else {
      throw CommandError(
        Exit.configuration, "the manifest made no project (\(ending))", at: manifest,
        advice: "see \(place).out; or run `tuist generate --no-open` in \(folder), then this command again")
    }
    return Data(line)
  }

  /// Compiles a module.
  ///
  /// - Returns: its folder, with the module and `module.o`.
  private func module(
    _ name: String, sources: [String], after modules: [String], language: String, _ swift: SwiftTool
  ) async throws -> String {
    let place = scratch + "/" + Self.digest(of: sources, modules + [name, Self.compiler(swift)])
    guard !FileManager.default.fileExists(atPath: place + "/module.o") else { return place }
    guard !sources.isEmpty else {
      throw CommandError(
        Exit.configuration, "the clone of WidgetLab has no sources of \(name)", at: widgetLab,
        advice: "name a complete clone with --widgetlab")
    }
    let new = place + ".new-\(getpid())"
    // Nothing is left of a module that does not compile.
    defer { try? FileManager.default.removeItem(atPath: new) }
    try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: true)
    try await compile(
      [
        "-swift-version", language, "-package-name", "manifests", "-parse-as-library", "-whole-module-optimization",
        "-module-name", name, "-emit-module", "-emit-module-path", "\(new)/\(name).swiftmodule", "-emit-object", "-o",
        "\(new)/module.o",
      ] + modules.flatMap { ["-I", $0] } + sources, of: sources[0], log: place + ".log", swift)
    try move(new, to: place)
    return place
  }

  /// Two commands may make the same at the same time: the first one is kept.
  private func move(_ new: String, to place: String) throws {
    guard rename(new, place) != 0 else { return }
    let code = errno
    try? FileManager.default.removeItem(atPath: new)
    guard !FileManager.default.fileExists(atPath: place) else { return }
    throw CommandError(Exit.configuration, "this cannot be written: \(String(cString: strerror(code)))", at: place)
  }

  /// Tells apart compilers: a module of another one cannot be imported.
  private static func compiler(_ swift: SwiftTool) -> String {
    let file = URL(fileURLWithPath: swift.path + "c").resolvingSymlinksInPath()
    let facts = try? file.resourceValues(forKeys: [.contentModificationDateKey, .fileSizeKey])
    return "\(file.path) \(facts?.fileSize ?? 0) \(facts?.contentModificationDate?.timeIntervalSince1970 ?? 0)"
  }

  private func compile(_ arguments: [String], of path: String, log: String, _ swift: SwiftTool) async throws {
    let ending = try await Deadline.within(Self.patience, what: "the manifest is not compiled", at: path) {
      try await swift.run(arguments, log: log, executable: swift.path + "c")
    }
    guard ending != .exited(code: 0) else { return }
    let text = FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let errors = text.split(separator: "\n").filter { $0.contains("error: ") }
    throw CommandError(
      Exit.configuration,
      "this manifest of Tuist does not compile here: \(errors.first.map(String.init) ?? "see \(log)")",
      at: path,
      advice: "run `tuist generate --no-open` in the project's folder, then this command again")
  }

  /// The helpers of the local plugins of a project, by the name that a manifest imports.
  private static func plugins(in folder: String) -> [(name: String, sources: [String])] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? []
    return names.compactMap { name in
      let place = "\(folder)/\(name)"
      let text = try? String(contentsOfFile: place + "/Plugin.swift", encoding: .utf8)
      guard let match = text?.firstMatch(of: /Plugin\(\s*name:\s*"([^"]+)"/) else { return nil }
      let sources = sources(in: "\(place)/\(helpers)")
      return sources.isEmpty ? nil : (String(match.output.1), sources)
    }
  }

  /// The Swift files in a folder, sorted.
  private static func sources(in folder: String) -> [String] {
    guard let names = FileManager.default.enumerator(atPath: folder) else { return [] }
    return names.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
  }

  /// Tells apart files by their paths and contents.
  private static func digest(of paths: [String], _ more: [String]) -> String {
    var hash = FNV1a.hash([])
    for path in paths {
      hash = FNV1a.hash(path.utf8, after: hash)
      hash = FNV1a.hash(FileManager.default.contents(atPath: path) ?? Data(), after: hash)
    }
    for text in more { hash = FNV1a.hash(text.utf8, after: hash) }
    return String(hash, radix: 36)
  }
}
