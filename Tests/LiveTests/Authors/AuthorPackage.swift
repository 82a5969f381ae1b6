import Foundation
// SPDX-License-Identifier: Apache-2.0
import WidgetLabTesting

/// The folder of an author's package: `widgetlab.yaml`, and executables where `swift build` writes them. WidgetLab's
/// own executables are in another folder.
struct AuthorPackage: Sendable {
  /// The folder of `widgetlab.yaml`, absolute.
  let folder: String
  /// The folder of WidgetLab's own executables.
  let tool: String
  private var configuration: String { folder + "/widgetlab.yaml" }
  /// The folder of the cluster's instance; it may not exist yet.
  var instance: String { folder + "/instance" }

  /// The usual configuration: an app and an extension.
  static let app = "com.example.Weather"
  static let widget = "com.example.Weather.Widget"

  /// Makes the folder.
  ///
  /// - Parameters:
  ///   - executable: the extension's executable, as written in the configuration.
  ///   - app: the app's executable; `nil` for no app.
  init(extension executable: String = "WeatherWidget", app: String? = nil) throws {
    folder =
      FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/widgetlab-author-\(UUID().uuidString)"
    tool = try LabCluster.findExecutables()
    try FileManager.default.createDirectory(atPath: folder + "/.build/debug", withIntermediateDirectories: true)
    let apps = app.map { "apps: [{bundle: \(Self.app), executable: \($0)}]\n" } ?? ""
    let yaml = """
      device: {name: phone}
      \(apps)extensions: [{bundle: \(Self.widget), executable: \(executable)}]
      settings: {developerMode: true}
      """
    try yaml.write(toFile: configuration, atomically: true, encoding: .utf8)
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }

  // MARK: Executables

  /// Creates a link to one of WidgetLab's executables at a path of the package.
  func link(_ executable: String, as file: String) throws {
    let path = try make(file)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(tool)/\(executable)")
  }

  /// Writes a file.
  func write(_ data: Data, to file: String, permissions: Int = 0o755) throws {
    let path = try make(file)
    try data.write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
  }

  /// Writes a script that prints a line on standard error and exits.
  func fail(_ file: String, saying words: String, code: Int) throws {
    try write(Data("#!/bin/sh\necho '\(words)' >&2\nexit \(code)\n".utf8), to: file)
  }

  /// - Returns: the path of a file that does not exist, in a folder that does.
  private func make(_ file: String) throws -> String {
    let path = "\(folder)/\(file)"
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    return path
  }

  // MARK: The tool

  /// Runs a command of `widgetlab` in this package.
  func widgetlab(_ arguments: String...) async throws -> LabCluster.Answer { try await widgetlab(arguments) }

  /// Runs a command of `widgetlab` in this package.
  func widgetlab(_ arguments: [String]) async throws -> LabCluster.Answer {
    try await LabCluster.tool(
      arguments + ["--config", configuration, "--instance", instance], executables: tool, in: folder)
  }

  /// Runs `widgetlab up` while `work` runs.
  ///
  /// - Parameter options: more options of `up`.
  func up(_ options: String..., work: () async throws -> Void) async throws {
    let errors = folder + "/up.err"
    let child = try await LabChild.start(
      tool + "/widgetlab",
      ["up", "--config", configuration, "--instance", instance, "--die-with-parent", "\(getpid())"] + options,
      output: folder + "/up.out", errors: errors)
    let ending = Task { await child.ending() }
    do {
      try await ready(errors)
      try await work()
    } catch {
      child.signal(SIGINT)
      _ = await ending.value
      throw error
    }
    child.signal(SIGINT)
    let status = await ending.value
    guard status == 0 else { throw LabError("`widgetlab up` exited with \(status)") }
  }

  /// Returns when the host is ready.
  private func ready(_ errors: String) async throws {
    let answer = try await widgetlab("wait", "--for", "host=ready", "--timeout", "600")
    guard answer.status == 0 else {
      let output = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
      throw LabError("the cluster is not ready: \(answer.errors)\n`widgetlab up` printed:\n\(output)")
    }
  }
}
