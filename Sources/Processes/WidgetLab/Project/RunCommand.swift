// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuthorProjects
import Cluster
import Foundation
import Messages

/// `widgetlab run`.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Builds the widget extensions of an Xcode project, and runs them on a device.",
    discussion: """
      Makes the package of the project as `widgetlab new --from` does, builds it, starts its cluster as `widgetlab up` \
      does, opens the app, places each widget and each control of the gallery, and shows the screens. Ctrl-C stops \
      everything. The first build compiles WidgetLab's modules, which takes some minutes; later ones compile what you \
      have changed.

      A module that does not exist here is named before anything is compiled. An extension that cannot be built is left \
      out, and the others run.

      With --watch it builds when you save a file, replaces the app and its extensions, and reloads the widgets. What \
      does not compile is reported, and the widgets stay as they are. Without --watch run the same command in a second \
      terminal after a change of your code.

      A folder with a Package.swift and a widgetlab.yaml, such as one of `widgetlab new Weather`, is built as it is.

      EXAMPLES
        widgetlab run
        widgetlab run Weather.xcodeproj
        widgetlab run . --watch
        widgetlab run ~/Weather --target WeatherWidgetExtension --console
      """)

  @Argument(
    help: ArgumentHelp(
      "A .xcodeproj, a .xcworkspace, a project.yml of XcodeGen, a Project.swift of Tuist, or a folder.",
      valueName: "path"))
  var path = "."

  @OptionGroup var project: ProjectOptions

  @Option(help: ArgumentHelp("Run only this widget extension; may be repeated.", valueName: "name"))
  var target: [String] = []

  @Flag(help: "Build and update again when a source, a resource or a manifest is saved.")
  var watch = false

  @Flag(help: "Also start the console (see `widgetlab console`).")
  var console = false

  @Option(name: .customLong("die-with-parent"), help: .hidden)
  var dieWithParent: Int32?

  func run() async throws {
    let signals = Signals()
    try await reporting {
      if let own = OwnPackage(path) {
        try printBudget(own.folder + "/widgetlab.yaml", isOwn: true)
        let watched = try watch ? WatchedBuild(own) : nil
        guard try await Self.first(signals, { try await own.build(project.widgetlab) }) != nil else {
          throw Exit.interrupted
        }
        return try await show(own.folder, watched, until: signals)
      }
      let package = try await prepare()
      let sources = watch ? SourceWatch(package.watched, without: package.folder.path) : nil
      let changes = try package.write()
      try printBudget(package.folder.path + "/widgetlab.yaml", isOwn: false)
      for text in package.report(changes) { Output.printText(text) }
      guard let built = try await Self.first(signals, { try await Self.build(package) }) else { throw Exit.interrupted }
      let watched = sources.map { WatchedBuild(watch: $0) { try await again(built.plan.surroundings) } }
      try await show(built.folder.path, watched, until: signals)
    }
  }

  /// Prints whether the configuration has no budget, which a device has.
  ///
  /// - Parameter isOwn: whether the author has written the configuration, which `--budget` does not change.
  private func printBudget(_ path: String, isOwn: Bool) throws {
    let settings = try ClusterFacts(folder: "", configurationPath: path).configuration.settings
    if let line = Self.budgetLine(settings) { Output.print(line) }
    guard settings.developerMode, project.budget else { return }
    throw CommandError(
      Exit.usage, isOwn ? "--budget does not change your configuration" : "you have changed this configuration",
      at: path, advice: "write `developerMode: false` in its settings")
  }

  /// What is printed first about a budget that is switched off.
  static func budgetLine(_ settings: ClusterConfiguration.Settings) -> String? {
    guard settings.developerMode else { return nil }
    return "no budget: reloads are free and have no spacing (`developerMode: true` in widgetlab.yaml); on a device "
      + "they are limited, and with --budget here too"
  }

  /// Reads the project, and chooses the targets that can be built.
  private func prepare() async throws -> ProjectPackage {
    var package = try await ProjectPackage(path, project)
    try select(&package)
    try omitMissing(&package)
    return package
  }

  /// Reads the project again and builds it. A target that can no longer be built leaves nothing out.
  ///
  /// - Parameter first: what the first build has left out.
  private func again(_ first: PackagePlan.Surroundings) async throws -> PackageBuild {
    var package = try await ProjectPackage(path, project)
    package.omit(first.omitted)
    package.omitSharedSources(of: first.appsWithoutSources)
    guard package.plan.missing.isEmpty else { throw missingModules(package) }
    _ = try package.write()
    return try await PackageBuild.run(
      try SwiftTool(), options: [], folder: package.folder.path, origins: package.plan.origins)
  }

  /// Starts the cluster of a package that is built, or updates the apps of one that runs.
  private func show(_ folder: String, _ watched: WatchedBuild?, until signals: Signals) async throws {
    let configuration = folder + "/widgetlab.yaml"
    if InstanceLock.holder(in: folder + "/.widgetlab/default") != nil {
      let cluster = try ClusterFacts(folder: folder + "/.widgetlab/default", configurationPath: configuration)
      try await ProjectScreen.update(cluster)
      if let watched { _ = try await Self.first(signals) { await watched.follow(cluster) } }
      return
    }
    let up = try UpCommand.parse(["--config", configuration] + (console ? ["--console"] : []))
    try await up.run(until: signals) { cluster in
      await ProjectScreen.show(cluster)
      await watched?.follow(cluster)
    }
  }

  /// Leaves out the targets that the command line does not name.
  private func select(_ package: inout ProjectPackage) throws {
    guard !target.isEmpty else { return }
    let names = package.project.widgets.map(\.name)
    for name in target where !names.contains(name) {
      throw CommandError(
        Exit.usage, "'\(name)' is not a widget extension of this project", at: package.project.path,
        advice: "use one of: \(names.joined(separator: ", "))")
    }
    let others = names.filter { !target.contains($0) }
    package.omit(Dictionary(others.map { ($0, "it is not named with --target") }, uniquingKeysWith: { $1 }))
  }

  /// Leaves out the targets that import modules that do not exist here.
  ///
  /// - Throws: a command error when no target is left.
  private func omitMissing(_ package: inout ProjectPackage) throws {
    let missing = package.plan.missing
    guard !missing.isEmpty else { return }
    let widgets = package.plan.products.filter(\.isExtension).map(\.origin)
    guard widgets.contains(where: { missing[$0] == nil }) else { throw missingModules(package) }
    package.omit(
      missing.mapValues { "imports modules that do not exist here\n" + ProjectPackage.lines(missing: $0) })
  }

  private func missingModules(_ package: ProjectPackage) -> CommandError {
    let missing = package.plan.missing.sorted { $0.key < $1.key }
    let lines = missing.map { "\($0.key):\n" + ProjectPackage.lines(missing: $0.value) }
    let reasons = package.plan.reasonsForMissing
    let why = reasons.isEmpty ? [] : ["because:\n" + ProjectPackage.lines(reasons)]
    let first = reasons.isEmpty ? "" : "correct what is named above, and run this command again; or "
    return CommandError(
      Exit.configuration, "modules are imported that do not exist here\n" + (lines + why).joined(separator: "\n"),
      at: package.project.path,
      advice: first
        + "put the import and what uses it into `#if canImport(…)`; `widgetlab new --from` writes the package as it is")
  }

  // MARK: Building

  /// - Returns: what an operation returns; `nil` when a signal came first.
  private static func first<Value: Sendable>(
    _ signals: Signals, _ operation: @escaping @Sendable () async throws -> Value
  ) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await operation() }
      group.addTask {
        await signals.next()
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }

  /// Builds the executables. A target that cannot be built is left out if others can.
  ///
  /// - Throws: a command error when none can be built.
  private static func build(_ whole: ProjectPackage) async throws -> ProjectPackage {
    var package = whole
    let swift = try SwiftTool()
    let widgets = package.plan.products.filter(\.isExtension)
    Output.print("building \(package.plan.products.map(\.name).joined(separator: ", "))")
    let began = ContinuousClock.now
    var failed: [String: String] = [:]
    // One build for all, which is planned once; only if that fails, one for each, to find out which cannot be built.
    var all = try await PackageBuild.run(swift, options: [], folder: package.folder.path, origins: package.plan.origins)
    if !all.isBuilt, try await omitSharedSources(&package, swift) {
      all = try await PackageBuild.run(swift, options: [], folder: package.folder.path, origins: package.plan.origins)
    }
    if !all.isBuilt {
      for widget in widgets where widgets.count > 1 {
        let one = try await PackageBuild.run(
          swift, options: ["--product", widget.name], folder: package.folder.path, origins: package.plan.origins)
        if !one.isBuilt { failed[widget.origin] = "it does not compile, see above" }
      }
      guard widgets.count > 1, failed.count < widgets.count else {
        throw CommandError(
          Exit.configuration, all.summary, at: all.log,
          advice: "Documentation/declarations.md lists what exists; the file above has the output of `swift build`")
      }
      package.omit(failed)
      _ = try package.write()
      Output.printText("left out targets:\n" + ProjectPackage.lines(package.plan.omitted))
      let rest = try await PackageBuild.run(
        swift, options: [], folder: package.folder.path, origins: package.plan.origins)
      guard rest.isBuilt else { throw CommandError(Exit.configuration, rest.summary, at: rest.log) }
    }
    Output.print("built in \(PackageBuild.time(since: began))")
    return package
  }

  /// Leaves out the sources that an app shares with its extension where the stand-in does not compile with them: it may
  /// lack names that the app declares in other files.
  ///
  /// - Returns: whether there are any.
  private static func omitSharedSources(_ package: inout ProjectPackage, _ swift: SwiftTool) async throws -> Bool {
    var failed: Set<String> = []
    let (plan, folder) = (package.plan, package.folder.path)
    func isBuilt(_ product: PackagePlan.Product) async throws -> Bool {
      try await PackageBuild.run(swift, options: ["--product", product.name], folder: folder, printsErrors: false)
        .isBuilt
    }
    for app in plan.products where app.hasSharedSources {
      // What the extension cannot compile either is not the stand-in's.
      let widgets = plan.products.filter { $0.isExtension && $0.bundle.hasPrefix(app.bundle + ".") }
      var isExtensionBuilt = false
      for widget in widgets where !isExtensionBuilt { isExtensionBuilt = try await isBuilt(widget) }
      guard isExtensionBuilt else { continue }
      if try await !isBuilt(app) { failed.insert(app.bundle) }
    }
    guard !failed.isEmpty else { return false }
    package.omitSharedSources(of: failed)
    _ = try package.write()
    for bundle in failed.sorted() {
      Output.print(
        "the stand-in for \(bundle) is built without the sources that it shares with its extension: it performs no "
          + "intents")
    }
    return true
  }
}

/// What `widgetlab run --watch` does while the cluster runs.
struct WatchedBuild: Sendable {
  let watch: SourceWatch
  /// Builds what has changed.
  let build: @Sendable () async throws -> PackageBuild

  init(watch: SourceWatch, build: @escaping @Sendable () async throws -> PackageBuild) {
    (self.watch, self.build) = (watch, build)
  }

  init(_ package: OwnPackage) throws {
    let swift = try SwiftTool()
    self.init(watch: SourceWatch([package.folder])) { try await package.again(swift) }
  }

  /// Builds after each change, and updates the cluster. What cannot be built leaves it as it is. Returns when the task is
  /// cancelled.
  func follow(_ cluster: ClusterFacts) async {
    let folders = watch.roots.map { ShownPath.of($0) }.joined(separator: ", ")
    let count = await watch.count
    Output.print("watching \(count == 1 ? "1 file" : "\(count) files") in \(folders)")
    let configuration = FileManager.default.contents(atPath: cluster.configurationPath)
    while let changed = await watch.next() {
      Output.print("changed: \(Self.names(of: changed))")
      do {
        let began = ContinuousClock.now
        var built = try await build()
        if built.isBuilt, built.forgetsObjects(of: changed) { built = try await build() }
        guard built.isBuilt else {
          Output.printError("\(built.summary): the widgets stay as they are")
          continue
        }
        Output.print("built in \(PackageBuild.time(since: began))")
        try await ProjectScreen.update(cluster)
        if FileManager.default.contents(atPath: cluster.configurationPath) != configuration {
          Output.print("\(ShownPath.of(cluster.configurationPath)) has changed: run this command again to use it")
        }
      } catch is CancellationError {
        return
      } catch {
        Output.printText("\(error)", isError: true)
      }
    }
  }

  private static func names(of paths: [String]) -> String {
    let rest = paths.count - 3
    return paths.prefix(3).map { ShownPath.of($0) }.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }
}
