// SPDX-License-Identifier: Apache-2.0

import ChildProcesses
import Foundation
import Glibc

/// How a build of a package ended.
struct PackageBuild {
  let isBuilt: Bool
  let summary: String
  let log: String

  /// Builds a package, shows how far it is, and prints the errors.
  ///
  /// - Parameters:
  ///   - options: of `swift build`.
  ///   - folder: of the package, absolute.
  ///   - origins: the author's file of a file of the package, by its path in the package.
  static func run(
    _ swift: SwiftTool, _ options: [String], _ folder: String, _ origins: [String: String] = [:]
  ) async throws -> PackageBuild {
    let log = folder + "/.build/widgetlab-build.log"
    let progress = BuildProgress()
    defer { progress.end() }
    let ending = try await swift.run(["build", "--package-path", folder] + options, log: log) { progress.follow($0) }
    progress.end()
    guard ending != .exited(code: 0) else { return PackageBuild(isBuilt: true, summary: "", log: log) }
    let output = BuildLog(String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self))
    let report = BuildReport(output, folder: folder, origins: origins)
    for line in report.lines { Output.printError(line) }
    return PackageBuild(isBuilt: false, summary: report.summary, log: log)
  }

  /// The duration of a build, as a text.
  static func time(since began: ContinuousClock.Instant) -> String {
    (ContinuousClock.now - began).formatted(
      .units(allowed: [.minutes, .seconds], width: .narrow, fractionalPart: .show(length: 1)))
  }
}

/// A package of the author with a `widgetlab.yaml`: it is built as it is.
struct OwnPackage {
  /// Absolute.
  let folder: String

  /// `nil` when the folder has no package, or one that `widgetlab new --from` writes.
  init?(_ path: String) {
    folder = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let files = ["Package.swift", "widgetlab.yaml"].map { "\(folder)/\($0)" }
    guard files.allSatisfy({ access($0, R_OK) == 0 }), PackageFolder(path: folder).record == nil else { return nil }
  }

  /// - Parameter named: a clone of WidgetLab that was named.
  /// - Throws: a command error when it cannot be built.
  func build(_ named: String?) async throws {
    let swift = try SwiftTool()
    if let flags = try await WidgetLabPackage.choose(named).flags {
      setenv(StarterPackage.flagsVariable, flags, 1)
    }
    Output.print("building \(ShownPath.of(folder))")
    let began = ContinuousClock.now
    let build = try await again(swift)
    guard build.isBuilt else { throw CommandError(Exit.configuration, build.summary, at: build.log) }
    Output.print("built in \(PackageBuild.time(since: began))")
  }

  /// Builds what has changed since `build`, which has chosen WidgetLab's flags.
  func again(_ swift: SwiftTool) async throws -> PackageBuild { try await PackageBuild.run(swift, [], folder) }
}
