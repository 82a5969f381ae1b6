// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuthorProjects
import Cluster
import Foundation
import Glibc

/// The options of the commands that make a package from a project.
struct ProjectOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The folder of the package (default: <project>-WidgetLab beside the project).", valueName: "folder"))
  var output: String?

  @Option(
    help: ArgumentHelp(
      "A clone of WidgetLab, whose modules are compiled (default: the SDK beside this tool, or its clone).",
      valueName: "folder"))
  var widgetlab: String?

  @Flag(help: "Write a configuration with the budget and the spacing of reloads of a device.")
  var budget = false
}

/// A project, and the package that is made from it.
struct ProjectPackage {
  let project: AuthorProject
  let folder: PackageFolder
  private let widgetLab: WidgetLabPackage
  private(set) var plan: PackagePlan

  /// Reads the project.
  ///
  /// - Parameter path: of the project, relative to the working directory unless absolute.
  /// - Throws: a command error with what cannot be read, and what to do.
  init(_ path: String, _ options: ProjectOptions) async throws {
    widgetLab = try await WidgetLabPackage.choose(options.widgetlab)
    project = try await Self.read(URL(fileURLWithPath: path).resolvingSymlinksInPath().path, widgetLab)
    let output = options.output ?? project.defaultOutput
    folder = PackageFolder(path: URL(fileURLWithPath: output).resolvingSymlinksInPath().path)
    var surroundings = PackagePlan.Surroundings(
      output: folder.path, widgetLab: widgetLab.folder, flags: widgetLab.flags, modules: widgetLab.modules,
      taken: widgetLab.names)
    surroundings.hasBudget = options.budget
    plan = PackagePlan(project, in: surroundings)
    try await find(&surroundings)
    guard !plan.products.isEmpty else {
      throw CommandError(
        Exit.configuration, "no widget extension of the project can be built here\n" + Self.lines(plan.omitted),
        at: project.path, advice: "correct the target in Xcode")
    }
  }

  /// Reads a project, and runs the manifests of Tuist that it needs.
  private static func read(_ path: String, _ widgetLab: WidgetLabPackage) async throws -> AuthorProject {
    var manifests: [String: Data] = [:]
    // Another manifest may have the widget, so a failure counts only if none has.
    var failures: [String: any Error] = [:]
    while true {
      do {
        return try AuthorProject.read(path, manifests: manifests)
      } catch let error where error.code == .unevaluated && manifests[error.path] == nil {
        Output.printError("running the manifest \(ShownPath.of(error.path))")
        do {
          manifests[error.path] = try await TuistManifests(widgetLab).description(of: error.path)
        } catch let failure as CommandError {
          failures[error.path] = failure
          manifests[error.path] = Data()
        }
      } catch {
        if let failure = failures[error.path] { throw failure }
        throw CommandError(Exit.configuration, error.what, at: error.path, advice: error.advice)
      }
    }
  }

  /// Plans again with the packages that may have a module that is missing without them.
  private mutating func find(_ surroundings: inout PackagePlan.Surroundings) async throws {
    let scratch = folder.path + "/.build/packages"
    let reader = PackageReader(folder: scratch)
    let linked = project.widgets.flatMap { $0.products + $0.libraries.values.flatMap(\.products) }
    guard !plan.wanted.isEmpty || project.widgets.contains(where: \.isPackageTarget) else { return }
    let probe = PackageProbe(folder: scratch)
    var knownCount = 0
    repeat {
      while case let folders = surroundings.packages.unknown(for: linked), !folders.isEmpty {
        for folder in folders { await reader.describe(folder, in: &surroundings.packages) }
      }
      plan = PackagePlan(project, in: surroundings)
      knownCount = surroundings.packages.remote.count
      for product in plan.wanted.sorted(by: { $0.name < $1.name })
      where surroundings.checkouts[product.place] == nil && surroundings.unavailable[product] == nil {
        if case .local(let place) = product.place {
          surroundings.unavailable[product] = surroundings.packages.failures[place]
          continue
        }
        switch await probe.state(of: product) {
        case .available(let checkout): surroundings.checkouts[product.place] = checkout
        case .unavailable(let reason): surroundings.unavailable[product] = reason
        }
      }
      await choose(plan.wanted.union(linked), reader: reader, in: &surroundings)
      // A package that is compiled here may need others.
    } while surroundings.packages.remote.count > knownCount
    plan = PackagePlan(project, in: surroundings)
  }

  /// Chooses the remote packages that are compiled like local ones, by all of their products that are linked.
  private func choose(
    _ products: Set<PackageProduct>, reader: PackageReader, in surroundings: inout PackagePlan.Surroundings
  ) async {
    for (place, checkout) in surroundings.checkouts.sorted(by: { $0.value < $1.value })
    where surroundings.packages.remote[place] == nil {
      if surroundings.packages.packages[checkout] == nil, surroundings.packages.failures[checkout] == nil {
        await reader.describe(checkout, in: &surroundings.packages)
      }
      let remote = RemotePackages(surroundings.packages, modules: surroundings.modules)
      let names = products.filter { $0.place == place }.map(\.name)
      guard surroundings.packages.packages[checkout] != nil, remote.areForApple(names, in: checkout) else { continue }
      surroundings.packages.remote[place] = checkout
    }
  }

  /// Plans again without some targets.
  ///
  /// - Parameter reasons: by the name of the project's target.
  mutating func omit(_ reasons: [String: String]) {
    var surroundings = plan.surroundings
    surroundings.omitted.merge(reasons) { $1 }
    plan = PackagePlan(project, in: surroundings)
  }

  /// Plans again without the sources that apps share with their extensions.
  ///
  /// - Parameter bundles: the identifiers of the apps.
  mutating func omitSharedSources(of bundles: Set<String>) {
    var surroundings = plan.surroundings
    surroundings.appsWithoutSources.formUnion(bundles)
    plan = PackagePlan(project, in: surroundings)
  }

  /// The folders with the files from which the package is made: that of the project, and those outside of it.
  var watched: [String] {
    let place = URL(fileURLWithPath: project.path)
    let isFolder = place.hasDirectoryPath && !["xcodeproj", "xcworkspace"].contains(place.pathExtension)
    let own = isFolder ? place : place.deletingLastPathComponent()
    let others = plan.origins.values.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
    return Set([own.path] + others).sorted().reduce(into: []) { kept, path in
      if !kept.contains(where: { (path + "/").hasPrefix($0 + "/") }) { kept.append(path) }
    }
  }

  func write() throws -> PackageFolder.Changes { try folder.write(plan, project: project.path) }

  // MARK: Reports

  /// A line for each note.
  static func lines(_ notes: [ProjectNote]) -> String {
    notes.map { "  \($0.subject): \($0.reason)" }.joined(separator: "\n")
  }

  /// What the package has, and what it leaves out.
  func report(_ changes: PackageFolder.Changes) -> [String] {
    var lines: [String] = []
    let state = changes.isNew ? "wrote" : changes.written + changes.removed > 0 ? "updated" : "unchanged:"
    lines.append("\(state) \(folder.path)")
    for product in plan.products {
      let kind =
        product.isExtension
        ? "widget extension \(product.origin)"
        : product.hasSharedSources ? "stand-in for the app, with the sources that both have" : "stand-in for the app"
      lines.append("  \(product.name)  \(product.bundle)  (\(kind))")
    }
    if !changes.keptFiles.isEmpty {
      lines.append("kept, because you have changed them: \(changes.keptFiles.joined(separator: ", "))")
    }
    let views = plan.items.keys.count { $0.hasSuffix(PackagePlan.viewEnding) }
    if views > 0 {
      lines.append(
        "files of which a view is compiled, in which `#if os(…)` is true: \(views); run this command again after changing them"
      )
    }
    if !plan.omitted.isEmpty { lines.append("left out targets:\n" + Self.lines(plan.omitted)) }
    if !plan.notes.isEmpty { lines.append("left out, or different from Xcode:\n" + Self.lines(plan.notes)) }
    for (target, modules) in plan.missing.sorted(by: { $0.key < $1.key }) {
      lines.append("\(target) imports modules that do not exist here:\n" + Self.lines(missing: modules))
    }
    return lines
  }

  /// A line for each module, with the first place of its import.
  static func lines(missing: [PackagePlan.MissingModule]) -> String {
    var seen: Set<String> = []
    return missing.filter { seen.insert($0.module).inserted }.map { first in
      let count = missing.count { $0.module == first.module }
      return "  \(first.module): \(ShownPath.of(first.path)):\(first.line)\(count > 1 ? ", and \(count - 1) more" : "")"
    }.joined(separator: "\n")
  }
}

/// Paths in messages: relative to the working directory if they are below it.
enum ShownPath {
  static func of(_ path: String) -> String {
    let here = FileManager.default.currentDirectoryPath + "/"
    return path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
  }
}

/// The folder of a package that `widgetlab new --from` writes, and updates when it is run again.
struct PackageFolder {
  /// What the last run wrote: `.widgetlab-package.json`.
  struct Record: Codable {
    /// The path of the project.
    var project: String
    /// The paths of all files and links in the package.
    var files: [String] = []
    /// The texts that the author may change, as they were written.
    var texts: [String: String] = [:]
  }

  /// What a run changed.
  struct Changes {
    var isNew = false
    var written = 0
    var removed = 0
    /// Files that are kept because the author has changed them.
    var keptFiles: [String] = []
  }

  /// Absolute.
  let path: String

  private static let recordName = ".widgetlab-package.json"
  private var recordPath: String { "\(path)/\(Self.recordName)" }

  /// What the last run wrote; `nil` without one.
  var record: Record? { try? JSONFile.read(Record.self, at: recordPath) }

  /// Writes a package, and removes what an earlier run wrote and the package no longer has. What is the same is not
  /// touched, so that a build compiles only what has changed.
  ///
  /// - Throws: a command error when the folder is another one's, or cannot be written.
  func write(_ plan: PackagePlan, project: String) throws -> Changes {
    let earlier = try earlierRecord()
    var changes = Changes()
    changes.isNew = earlier == nil
    var record = Record(project: project)
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for file in earlier?.files ?? [] where plan.items[file] == nil {
        try remove(file, written: earlier?.texts[file], &changes)
      }
      for (file, item) in plan.items.sorted(by: { $0.key < $1.key }) {
        record.files.append(file)
        if case .text(let text) = item { record.texts[file] = text }
        try write(item, at: file, earlier: earlier?.texts[file], &changes)
      }
      try JSONFile.write(record, to: recordPath)
    } catch let error as CocoaError {
      throw CommandError(
        Exit.configuration, "the package cannot be written: \(error.localizedDescription)", at: path,
        advice: "choose a writable folder with --output")
    }
    return changes
  }

  private func earlierRecord() throws -> Record? {
    if let record { return record }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    // Packages that the project needs are resolved before the package is written.
    guard names.allSatisfy({ $0 == ".build" }) else {
      throw CommandError(
        Exit.configuration, "this folder exists, and `widgetlab new` has not written it", at: path,
        advice: "choose another one with --output")
    }
    return nil
  }

  private func write(
    _ item: PackagePlan.Item, at file: String, earlier: String?, _ changes: inout Changes
  ) throws {
    let place = "\(path)/\(file)"
    switch item {
    case .link(let target):
      let destination = Self.relative(target, to: URL(fileURLWithPath: place).deletingLastPathComponent().path)
      guard try link(place, to: destination) else { return }
    case .resource(let target):
      guard try link(place, to: target) else { return }
    case .view(let data, _):
      guard Self.isLink(place) || FileManager.default.contents(atPath: place) != data else { return }
      try prepare(place)
      try data.write(to: URL(fileURLWithPath: place))
    case .text(let text):
      let current = try? String(contentsOfFile: place, encoding: .utf8)
      guard current != text else { return }
      if let current, current != earlier {
        changes.keptFiles.append(file)
        return
      }
      try prepare(place)
      try text.write(toFile: place, atomically: true, encoding: .utf8)
    }
    changes.written += 1
  }

  /// - Returns: whether the link has changed.
  private func link(_ place: String, to destination: String) throws -> Bool {
    guard (try? FileManager.default.destinationOfSymbolicLink(atPath: place)) != destination else { return false }
    try prepare(place)
    try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: destination)
    return true
  }

  /// Makes the folder of a path, and removes what is at the path.
  private func prepare(_ place: String) throws {
    let folder = URL(fileURLWithPath: place).deletingLastPathComponent().path
    unlink(place)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func remove(_ file: String, written: String?, _ changes: inout Changes) throws {
    let place = "\(path)/\(file)"
    if let written, let current = try? String(contentsOfFile: place, encoding: .utf8), current != written {
      changes.keptFiles.append(file)
      return
    }
    guard unlink(place) == 0 else { return }
    changes.removed += 1
    var folder = URL(fileURLWithPath: place).deletingLastPathComponent().path
    // Only empty folders can be removed.
    while folder.count > path.count, rmdir(folder) == 0 {
      folder = URL(fileURLWithPath: folder).deletingLastPathComponent().path
    }
  }

  private static func isLink(_ path: String) -> Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
  }

  /// The path from a folder to a file, with `..`.
  private static func relative(_ path: String, to folder: String) -> String {
    let (target, base) = (path.split(separator: "/"), folder.split(separator: "/"))
    let shared = zip(target, base).prefix { $0 == $1 }.count
    return (Array(repeating: "..", count: base.count - shared) + target.dropFirst(shared).map(String.init))
      .joined(separator: "/")
  }
}
