// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing

@testable import WidgetLab

/// `widgetlab new --from` and the parts of `widgetlab run` that need no build.
@Suite final class `The package of a project on disk` {
  private let folder: String
  private var project: String { folder + "/Weather" }
  private var package: String { folder + "/Weather-WidgetLab" }

  init() throws {
    folder =
      FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/widgetlab-project-\(UUID().uuidString)"
    try write("Weather/View.swift", "import SwiftUI\n#if os(iOS)\nlet phone = true\n#endif\n")
    try write("Weather/Weather.swift", "import WidgetKit\n@main struct Weather: Widget {}\n")
    try write("Weather/de.lproj/Localizable.strings", "")
    try write(
      "clone/Package.swift",
      """
      name: "WidgetLab", products: [.library(name: "SwiftUI", targets: []), .library(name: "WidgetKit", targets: []),
      .library(name: "UIKit", targets: [])]
      """)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func write(_ file: String, _ text: String) throws {
    let path = "\(folder)/\(file)"
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }

  private func make() async throws -> (ProjectPackage, PackageFolder.Changes) {
    let options = try ProjectOptions.parse(["--widgetlab", folder + "/clone"])
    let package = try await ProjectPackage(project, options)
    return (package, try package.write())
  }

  private func text(_ file: String) -> String? { try? String(contentsOfFile: "\(package)/\(file)", encoding: .utf8) }

  @Test(.timeLimit(.minutes(1))) func `links lead to the author's files, and a view has the author's path`()
    async throws
  {
    let (_, changes) = try await make()
    #expect(changes.isNew)
    let link = "\(package)/Sources/Weather/Weather.swift"
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "../../../Weather/Weather.swift")
    #expect(text("Sources/Weather/Weather.swift")?.contains("@main") == true)
    #expect(
      text("Sources/Weather/View.view.swift")?.hasPrefix("#sourceLocation(file: \"\(project)/View.swift\"") == true)
    #expect(text("Resources/Weather/de.lproj/Localizable.strings") == "")
    #expect(text("widgetlab.yaml")?.contains("com.example.Weather.Weather") == true)
  }

  @Test(.timeLimit(.minutes(1))) func `a second run changes only what the project has changed`() async throws {
    _ = try await make()
    let (_, none) = try await make()
    #expect(!none.isNew && none.written == 0 && none.removed == 0)
    try write("Weather/View.swift", "import SwiftUI\n")
    try write("Weather/New.swift", "")
    try FileManager.default.removeItem(atPath: project + "/de.lproj")
    let (_, changes) = try await make()
    #expect(text("Sources/Weather/View.view.swift") == nil)
    #expect(text("Sources/Weather/View.swift") == "import SwiftUI\n")
    #expect(text("Sources/Weather/New.swift") == "")
    #expect(!FileManager.default.fileExists(atPath: package + "/Resources"))
    #expect(changes.removed == 2)
  }

  @Test(.timeLimit(.minutes(1))) func `what the author has changed is kept`() async throws {
    _ = try await make()
    try write("Weather-WidgetLab/widgetlab.yaml", "device: {name: mine}\n")
    let (package, changes) = try await make()
    #expect(changes.keptFiles == ["widgetlab.yaml"])
    #expect(text("widgetlab.yaml") == "device: {name: mine}\n")
    #expect(package.report(changes).contains { $0.contains("kept, because you have changed them: widgetlab.yaml") })
  }

  @Test(.timeLimit(.minutes(1))) func `a manifest says which files and targets a widget of a package has`()
    async throws
  {
    try write(
      "Weather/Package.swift",
      """
      // swift-tools-version: 6.0
      import PackageDescription
      let name = "Sky"
      let package = Package(
        name: "Weather",
        targets: [
          .executableTarget(name: name, dependencies: ["Core"], exclude: ["Old.swift"]), .target(name: "Core"),
        ])
      """)
    try write("Weather/Sources/Sky/Sky.swift", "import WidgetKit\nimport Core\n@main struct Sky: Widget {}\n")
    try write("Weather/Sources/Sky/Old.swift", "import Nothing\n")
    try write("Weather/Sources/Core/Core.swift", "import SwiftUI\n")
    try FileManager.default.removeItem(atPath: project + "/Weather.swift")
    let (made, changes) = try await make()
    let report = made.report(changes).joined(separator: "\n")
    #expect(!report.contains("do not exist here"), "\(report)")
    #expect(text("Sources/Core/Core.swift") == "import SwiftUI\n")
    #expect(text("Sources/Sky/Old.swift") == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: project).contains(".build") == false)
  }

  @Test(.timeLimit(.minutes(1))) func `a damaged manifest is named with SwiftPM's message`() async throws {
    try write("Weather/Package.swift", "// swift-tools-version: 6.0\nlet package = Nothing()\n")
    try write("Weather/Weather.swift", "import WidgetKit\nimport Core\n@main struct Weather: Widget {}\n")
    let (made, changes) = try await make()
    let report = made.report(changes).joined(separator: "\n")
    #expect(report.contains("Core: \(project)/Weather.swift:2"), "\(report)")
    #expect(report.contains("cannot find 'Nothing' in scope"), "\(report)")
  }

  @Test(.timeLimit(.minutes(1))) func `a folder that another tool has written is refused`() async throws {
    try write("Weather-WidgetLab/Package.swift", "")
    let error = await #expect(throws: CommandError.self) { try await self.make() }
    #expect(error?.exit == Exit.configuration)
    #expect(error?.what.contains("has not written it") == true)
  }

  @Test(.timeLimit(.minutes(1))) func `a missing clone of WidgetLab is reported with the places`() async throws {
    let options = try ProjectOptions.parse(["--widgetlab", folder + "/nowhere"])
    let error = await #expect(throws: CommandError.self) { try await ProjectPackage(self.project, options) }
    #expect(error?.place?.contains("/nowhere") == true)
    #expect(error?.advice?.contains("--widgetlab") == true)
  }

  @Test func `the clone is that of the executable, or the one that the installation names`() throws {
    let clone = folder + "/clone"
    for scratch in [".build", ".build-thread"] {
      let built = try WidgetLabPackage.find(nil, ownPath: clone + "/\(scratch)/debug/widgetlab", environment: [:])
      #expect(built.folder == clone)
      #expect(built.modules == ["SwiftUI", "UIKit", "WidgetKit"])
    }
    try write("prefix/libexec/widgetlab/source", clone + "\n")
    let installed = try WidgetLabPackage.find(
      nil, ownPath: folder + "/prefix/libexec/widgetlab/widgetlab", environment: [:])
    #expect(installed.folder == clone)
  }

  @Test func `the sources of an archive are beside its SDK`() throws {
    try write("archive/source/Package.swift", #"let package = Package(name: "WidgetLab")"#)
    let source = folder + "/archive/source"
    let beside = try WidgetLabPackage.find(
      nil, ownPath: folder + "/archive/libexec/widgetlab/widgetlab", environment: [:])
    #expect(beside.folder == source)
    let named = try WidgetLabPackage.find(nil, ownPath: "/a/b/c", environment: ["WIDGETLAB_HOME": folder + "/archive"])
    #expect(named.folder == source)
  }
}

@Suite(.timeLimit(.minutes(1))) struct `The waiters for a signal` {
  @Test func `a cancelled wait takes no signal from a later one`() async {
    let waiters = SignalWaiters()
    let first = Task { await waiters.next() }
    first.cancel()
    await first.value
    let second = Task { await waiters.next() }
    waiters.received()
    await second.value
  }

  @Test func `a signal that comes while no task waits is kept`() async {
    let waiters = SignalWaiters()
    waiters.received()
    waiters.received()
    await waiters.next()
    await waiters.next()
  }

  @Test func `each signal ends one wait`() async {
    let waiters = SignalWaiters()
    await withTaskGroup { group in
      for _ in 0..<3 { group.addTask { await waiters.next() } }
      for _ in 0..<3 {
        waiters.received()
        await group.next()
      }
    }
  }
}

@Suite struct `The output of swift build` {
  private let output = """
    [1/10] Compiling SwiftUI Text.swift
    [7/10] Compiling Weather View.swift
    /p/Sources/Weather/View.swift:3:7: error: cannot find 'a' in scope
    1 | import SwiftUI
      |       `- error: cannot find 'a' in scope
    /p/Sources/Weather/View.swift:3:7: error: cannot find 'a' in scope
    /a b/Other.swift:10:2: warning: unused
    error: fatalError
    """

  @Test func `has the last step, and each message of the compiler once`() {
    let log = BuildLog(output)
    #expect(log.steps?.done == 7 && log.steps?.all == 10)
    #expect(log.step == "Compiling Weather View.swift")
    #expect(log.diagnostics.map(\.path) == ["/p/Sources/Weather/View.swift", "/a b/Other.swift"])
    #expect(log.diagnostics.map(\.isError) == [true, false])
    #expect(log.diagnostics.first?.line == 3)
    #expect(log.errors == ["error: fatalError"])
  }

  @Test func `has an error of a macro's expansion at the place of the macro`() {
    let log = BuildLog(
      """
      macro expansion @Model:17:1: error: return from initializer without initializing all stored properties
          `- /p/Sources/Weather/Item.swift:23:1: note: expanded code originates here
      21 |   let key: UUID
      macro expansion @Model:18:1: warning: unused
      /p/Sources/Weather/Item.swift:24:2: note: expanded code originates here
      """)
    #expect(log.diagnostics.map(\.line) == [23, 24])
    #expect(log.diagnostics.map(\.isError) == [true, false])
    #expect(log.diagnostics.first?.path == "/p/Sources/Weather/Item.swift")
    #expect(
      log.diagnostics.first?.message
        == "return from initializer without initializing all stored properties (in the expansion of @Model)")
  }

  @Test(arguments: [
    ("OSAPI", "no such module 'os': add .product(name: \"os\", package: \"widgetlab\")"),
    ("OSAPI.log", "no such module 'os.log': write `import os`"), ("CombineAPI", "no such module 'Combine'"),
    ("HealthKit", "no such module 'HealthKit'"),
  ]) func `names a missing module as the author has written it`(module: String, message: String) {
    let report = BuildReport(BuildLog("/p/a.swift:1:8: error: no such module '\(module)'"), folder: "/p", origins: [:])
    #expect(report.lines.first?.hasPrefix("/p/a.swift:1:8: error: \(message)") == true, "\(report.lines)")
    #expect(report.summary.hasPrefix("the package does not compile: \(message)"))
  }

  @Test func `comes from an environment that another terminal has too`() {
    let same = ["PATH": "/usr/bin", "HOME": "/home/ada", "WIDGETLAB_SDK_FLAGS": "/flags"]
    let one = ["WINDOWID": "1", "SSH_TTY": "/dev/pts/1", "KONSOLE_DBUS_SESSION": "/Sessions/1", "OLDPWD": "/tmp"]
    #expect(SwiftTool.environment(same.merging(one) { $1 }) == same)
  }
}
