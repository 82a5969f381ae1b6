// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Cluster
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
  ///   - printsErrors: whether the errors are printed.
  static func run(
    _ swift: SwiftTool, options: [String], folder: String, origins: [String: String] = [:], printsErrors: Bool = true
  ) async throws -> PackageBuild {
    let log = folder + "/.build/widgetlab-build.log"
    let progress = BuildProgress()
    defer { progress.end() }
    let ending = try await swift.run(["build", "--package-path", folder] + options, log: log) { progress.follow($0) }
    progress.end()
    guard ending != .exited(code: 0) else { return PackageBuild(isBuilt: true, summary: "", log: log) }
    let output = BuildLog(String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self))
    let report = BuildReport(output, folder: folder, origins: origins)
    if printsErrors {
      for line in report.lines { Output.printError(line) }
    }
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
    var foundObjects: [String: [(object: String, target: String)]] = [:]
    for target in (try? FileManager.default.contentsOfDirectory(atPath: objects)) ?? [] where target.hasSuffix(".build")
    {
      for name in (try? FileManager.default.subpathsOfDirectory(atPath: "\(objects)/\(target)")) ?? [] {
        guard let source = saved[URL(fileURLWithPath: name).lastPathComponent] else { continue }
        foundObjects[source, default: []].append(("\(objects)/\(target)/\(name)", "\(objects)/\(target)"))
      }
    }
    // A file of the same name in another target need not have changed.
    let missedSources = foundObjects.filter { source, made in
      guard let written = date(source) else { return false }
      return made.allSatisfy { date($0.object).map { $0 < written } ?? false }
    }
    for made in missedSources.values.joined() {
      unlink(made.object)
      unlink(made.target + "/primary.priors")
    }
    return !missedSources.isEmpty
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
  func again(_ swift: SwiftTool) async throws -> PackageBuild {
    try await PackageBuild.run(swift, options: [], folder: folder)
  }
}

/// Finds out whether SwiftPM can get a remote package that a project needs. One that it cannot get would prevent the build of
/// all others.
struct PackageProbe {
  enum State {
    /// The folder of the package's files.
    case available(String)
    case unavailable(String)
  }

  /// The folder in which packages are resolved, each on its own.
  let folder: String

  private static let patience = Duration.seconds(60)

  func state(of product: PackageProduct) async -> State {
    switch product.place {
    case .local(let path): return .unavailable("the package in \(path) is not read by SwiftPM")
    case .remote(let url, let requirement):
      return await resolve(url, product: product, dependency: "url: \(Self.literal(url)), \(requirement)")
    case .unknown:
      return .unavailable(
        "the project does not say which package has this product, and no local package near it declares it")
    }
  }

  /// Resolves a package that depends only on this one. What was resolved is not asked for again.
  ///
  /// - Parameters:
  ///   - url: of the package.
  ///   - product: one of its products. SwiftPM does not get a package of which no product is used.
  ///   - dependency: the arguments of `.package(…)`.
  private func resolve(_ url: String, product: PackageProduct, dependency: String) async -> State {
    let last = url.split(separator: "/").last.map(String.init) ?? "package"
    let name = last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    // A package in a folder of the dependency's name would have its identity, and SwiftPM would not get the dependency.
    let package = "\(folder)/probe-\(name)-\(product.name)"
    let used = "name: \(Self.literal(product.name)), package: \(Self.literal(product.place.identity))"
    let manifest = """
      // swift-tools-version: 6.0
      import PackageDescription
      let package = Package(
        name: "Probe", dependencies: [.package(\(dependency))],
        targets: [
          .target(name: "Probe", dependencies: [.product(\(used))], path: ".", sources: ["Probe.swift"])
        ])

      """
    let checkout = "\(package)/.build/checkouts/\(name)"
    let file = package + "/Package.swift"
    let isKnown = (try? String(contentsOfFile: file, encoding: .utf8)) == manifest
    let resolved = package + "/Package.resolved"
    if isKnown, [resolved, checkout].allSatisfy(FileManager.default.fileExists(atPath:)) {
      return .available(checkout)
    }
    do {
      unlink(resolved)
      try FileManager.default.createDirectory(atPath: package, withIntermediateDirectories: true)
      try manifest.write(toFile: file, atomically: true, encoding: .utf8)
      try "".write(toFile: package + "/Probe.swift", atomically: true, encoding: .utf8)
      let swift = try SwiftTool()
      let log = package + "/resolve.log"
      let ending = try await Deadline.within(Self.patience, what: "SwiftPM did not get \(url)", at: package) {
        try await swift.run(["package", "--package-path", package, "resolve"], log: log)
      }
      guard ending == .exited(code: 0), FileManager.default.fileExists(atPath: checkout) else {
        return .unavailable("SwiftPM cannot get \(url): see \(log)")
      }
      return .available(checkout)
    } catch {
      return .unavailable("SwiftPM cannot get \(url): \(error)")
    }
  }

  private static func literal(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}

/// Reads the manifests of packages with SwiftPM, which evaluates them. Nothing in their folders is changed.
struct PackageReader {
  /// The folder in which descriptions are kept, each for one text of a manifest.
  let folder: String

  private static let patience = Duration.seconds(60)

  private struct Description: Codable {
    var manifest: String
    var json: Data
  }

  /// Adds the description of a package, or the reason for its absence.
  func describe(_ package: String, in packages: inout LocalPackages) async {
    let path = package + "/Package.swift"
    guard let manifest = try? String(contentsOfFile: path, encoding: .utf8) else {
      packages.failures[package] = "there is no package in \(package)"
      return
    }
    let name = URL(fileURLWithPath: package).lastPathComponent
    // Two packages can have the same name.
    let place = "\(folder)/descriptions/\(name)-\(String(FNV1a.hash(package.utf8), radix: 36))"
    let keptDescription = try? JSONFile.read(Description.self, at: place + ".json")
    do {
      let json: Data
      if let keptDescription, keptDescription.manifest == manifest {
        json = keptDescription.json
      } else {
        json = try await dump(package, log: place + ".log")
        try JSONFile.write(Description(manifest: manifest, json: json), to: place + ".json")
      }
      guard let found = SwiftPackage(json, folder: package) else {
        packages.failures[package] = "SwiftPM's description of \(path) is not known: see \(place).log"
        return
      }
      packages.packages[package] = found
    } catch {
      packages.failures[package] = (error as? CommandError)?.what ?? "\(error)"
    }
  }

  /// The output of `swift package dump-package`.
  private func dump(_ package: String, log: String) async throws -> Data {
    let swift = try SwiftTool()
    let arguments = ["package", "--package-path", package, "--scratch-path", folder + "/scratch", "dump-package"]
    let ending = try await Deadline.within(
      Self.patience, what: "SwiftPM did not read \(package)/Package.swift", at: log
    ) {
      try await swift.run(arguments, log: log)
    }
    let output = FileManager.default.contents(atPath: log) ?? Data()
    let lines = output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard ending == .exited(code: 0), let first = lines.firstIndex(where: { $0.elementsEqual("{".utf8) }),
      let last = lines.lastIndex(where: { $0.elementsEqual("}".utf8) }), first < last
    else {
      let errors = lines.map { String(decoding: $0, as: UTF8.self) }.filter { $0.contains("error: ") }
      // The compiler's message has the line of the manifest; SwiftPM's own has the command that it ran.
      let error = errors.first { $0.contains("Package.swift:") } ?? errors.first
      throw CommandError(
        Exit.configuration,
        "SwiftPM cannot read \(package)/Package.swift: \(error ?? "see \(log)")")
    }
    return Data(lines[first...last].joined(separator: [UInt8(ascii: "\n")]))
  }
}
