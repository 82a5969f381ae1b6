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

  /// Removes the objects of changed Swift files that this build passed over, and what the compiler's driver remembers of their
  /// target, so that the next build compiles them. Seen once, with Swift 6.3.1: a file that was saved 0.1 s after the end of
  /// a build was not compiled by the next one, nor by any until it was saved again. A target that this build does not
  /// contain, such as one of tests, is compiled again by the next build that does.
  ///
  /// - Parameter changed: the paths of files that were saved before this build.
  /// - Returns: whether there are any.
  func forgetsObjects(of changed: [String]) -> Bool {
    func date(_ path: String) -> Date? {
      (try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate]) as? Date
    }
    let saved = Dictionary(
      changed.filter { $0.hasSuffix(".swift") }.map { (URL(fileURLWithPath: $0).lastPathComponent + ".o", $0) }
    ) { first, _ in first }
    let objects = URL(fileURLWithPath: log).deletingLastPathComponent().path + "/debug"
    var found: [String: [(object: String, target: String)]] = [:]
    for target in (try? FileManager.default.contentsOfDirectory(atPath: objects)) ?? [] where target.hasSuffix(".build")
    {
      for name in (try? FileManager.default.subpathsOfDirectory(atPath: "\(objects)/\(target)")) ?? [] {
        guard let source = saved[URL(fileURLWithPath: name).lastPathComponent] else { continue }
        found[source, default: []].append(("\(objects)/\(target)/\(name)", "\(objects)/\(target)"))
      }
    }
    // A file of the same name in another target need not have changed.
    let missed = found.filter { source, made in
      guard let written = date(source) else { return false }
      return made.allSatisfy { date($0.object).map { $0 < written } ?? false }
    }
    for made in missed.values.joined() {
      unlink(made.object)
      unlink(made.target + "/primary.priors")
    }
    return !missed.isEmpty
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
