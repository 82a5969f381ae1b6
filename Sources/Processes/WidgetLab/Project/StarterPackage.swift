// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuthorProjects
import Cluster
import Foundation
import Glibc

/// A package with a widget, an app and a test, which `widgetlab new NAME` writes.
struct StarterPackage {
  /// Also the beginning of the names of its modules.
  let name: String
  /// The files, by path.
  let files: [String: String]

  /// - Throws: a command error when the name cannot be that of a module.
  init(_ name: String, _ widgetLab: WidgetLabPackage, hasBudget: Bool = false) throws {
    let isName = name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_]*/) != nil
    guard isName, ["Widget", "App"].allSatisfy({ !widgetLab.names.contains(name + $0) }) else {
      throw CommandError(
        Exit.usage, "'\(name)' cannot be the name of a package with a widget",
        advice: "use a letter, then letters, digits and _, and no name of a module of WidgetLab")
    }
    self.name = name
    files = [
      "Package.swift": Self.manifest(name, widgetLab),
      "Sources/\(name)Widget/\(name)Widget.swift": Self.widget(name),
      "Sources/\(name)App/\(name)App.swift":
        "import UIKit\n\n@main class AppDelegate: UIResponder, UIApplicationDelegate {}\n",
      "Tests/\(name)WidgetTests/\(name)WidgetTests.swift": Self.test(name),
      "widgetlab.yaml": Self.configuration(name, hasBudget: hasBudget),
      ".gitignore": "/.build\n/.widgetlab\n",
      ".vscode/extensions.json": "{\"recommendations\": [\"swiftlang.swift-vscode\", \"redhat.vscode-yaml\"]}\n",
      ".vscode/tasks.json": Self.tasks,
      ".vscode/widgetlab.schema.json": ConfigurationSchema.text,
    ]
  }

  /// - Throws: a command error when the folder exists, or cannot be written.
  func write(to folder: String) throws {
    guard access(folder, F_OK) != 0 else {
      throw CommandError(Exit.configuration, "this exists already", at: folder, advice: "choose another name")
    }
    do {
      for (path, text) in files {
        let place = URL(fileURLWithPath: "\(folder)/\(path)")
        try FileManager.default.createDirectory(
          at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: place, atomically: true, encoding: .utf8)
      }
    } catch let error as CocoaError {
      throw CommandError(
        Exit.configuration, "the package cannot be written: \(error.localizedDescription)", at: folder)
    }
  }

  /// The environment variable with which `widgetlab run` names the flags of the installed SDK.
  static let flagsVariable = "WIDGETLAB_SDK_FLAGS"

  private static func manifest(_ name: String, _ widgetLab: WidgetLabPackage) -> String {
    let settings: String
    var dependencies = ""
    var products = ""
    if let flags = widgetLab.flags {
      settings = """
        // WidgetLab's SDK. `widgetlab run` names the installed one; the path is for `swift build` and for editors.
        let sdk = "@" + (Context.environment["\(flagsVariable)"] ?? \(PackageManifest.literal(flags)))
        let author: [SwiftSetting] = [.unsafeFlags([sdk + "/compile.rsp"])]
        let executable: [LinkerSetting] = [.unsafeFlags([sdk + "/link.rsp"])]

        """
    } else {
      settings = PackageManifest.compiled()
      let path = PackageManifest.literal(widgetLab.folder)
      dependencies = "\n  dependencies: [.package(name: \"widgetlab\", path: \(path))],"
      let modules = ["SwiftUI", "UIKit", "WidgetKit"].map { ".product(name: \"\($0)\", package: \"widgetlab\")" }
      products = " dependencies: [\(modules.joined(separator: ", "))],"
    }
    return """
      // swift-tools-version: 6.3

      import PackageDescription

      \(settings)
      let package = Package(
        name: "\(name)",\(dependencies)
        targets: [
          .executableTarget(
            name: "\(name)Widget",\(products) swiftSettings: author, linkerSettings: executable),
          .executableTarget(
            name: "\(name)App",\(products) swiftSettings: author, linkerSettings: executable),
          .testTarget(name: "\(name)WidgetTests", dependencies: ["\(name)Widget"], swiftSettings: author),
        ])

      """
  }

  private static func widget(_ name: String) -> String {
    """
    import SwiftUI
    import WidgetKit

    struct Entry: TimelineEntry {
      let date: Date
      let degrees: Int
      var text: String { "\\(degrees) degrees outside" }
    }

    struct Provider: TimelineProvider {
      func placeholder(in context: Context) -> Entry { Entry(date: .now, degrees: 0) }
      func getSnapshot(in context: Context, completion: @escaping (Entry) -> Void) {
        completion(placeholder(in: context))
      }
      func getTimeline(in context: Context, completion: @escaping (Timeline<Entry>) -> Void) {
        completion(Timeline(entries: [Entry(date: .now, degrees: 21)], policy: .never))
      }
    }

    @main struct \(name)Widget: Widget {
      var body: some WidgetConfiguration {
        StaticConfiguration(kind: "\(name)", provider: Provider()) { entry in
          Text(entry.text).containerBackground(.background, for: .widget)
        }
      }
    }

    """
  }

  private static func test(_ name: String) -> String {
    """
    import SwiftUI
    import Testing

    @testable import \(name)Widget

    @Test func textHasTheDegrees() {
      #expect(Entry(date: Date(), degrees: 21).text == "21 degrees outside")
    }

    """
  }

  private static func configuration(_ name: String, hasBudget: Bool) -> String {
    """
    # yaml-language-server: $schema=.vscode/widgetlab.schema.json
    device: {name: phone, model: iPhone 16, version: "26.0"}
    appGroups: []
    apps:
      - bundle: com.example.\(name)
        executable: \(name)App
    extensions:
      - bundle: com.example.\(name).Widget
        executable: \(name)Widget
    \(ClusterFile.settings(hasBudget: hasBudget))

    """
  }

  /// For Visual Studio Code, without an extension.
  private static let tasks = #"""
    {
      "version": "2.0.0",
      "tasks": [
        {
          "label": "build",
          "type": "shell",
          "command": "swift build",
          "group": {"kind": "build", "isDefault": true},
          "problemMatcher": {\#(matcher)}
        },
        {
          "label": "test",
          "type": "shell",
          "command": "swift test",
          "group": {"kind": "test", "isDefault": true},
          "problemMatcher": {\#(matcher)}
        },
        {
          "label": "run, and build each saved file",
          "type": "shell",
          "command": "widgetlab run --watch",
          "isBackground": true,
          "problemMatcher": {
            \#(matcher),
            "background": {
              "activeOnStart": true,
              "beginsPattern": "^(building|changed: )",
              "endsPattern": "^(built in |watching |.*: the widgets stay as they are)"
            }
          }
        }
      ]
    }

    """#

  /// How `swift build` and `widgetlab run` write an error.
  private static let matcher = #"""
    "owner": "swift", "fileLocation": ["autoDetect", "${workspaceFolder}"],
          "pattern": {
            "regexp": "^(.+):(\\d+):(\\d+): (error|warning|note): (.*)$",
            "file": 1, "line": 2, "column": 3, "severity": 4, "message": 5
          }
    """#
}

/// `widgetlab new`.
struct NewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Writes a SwiftPM package and widgetlab.yaml for the widget extensions of an Xcode project.",
    discussion: """
      Reads the project, and writes a package beside it: links to the sources, the asset catalogs and the translations \
      of each widget extension, its build settings, identifiers, app groups and entitlements, and an app in place of the \
      one that contains it. Nothing of the project is copied or changed. It lists what it leaves out, with the reason. \
      Run it again after a change of the project: it updates the package, and keeps Package.swift, widgetlab.yaml and \
      the app if you have changed them.

      PATH is a .xcodeproj, a .xcworkspace, a project.yml of XcodeGen, a Project.swift of Tuist, or a folder. A folder \
      without any of these is searched for Swift files with `@main` and a Widget or a WidgetBundle. A manifest of Tuist is \
      compiled and run.

      Targets of local Swift packages become targets of the package, and products of others its dependencies.

      In `#if`, os(iOS) is true: a file with such a condition is not a link, but a view in which the condition is \
      replaced. Errors name the lines of your file. The view is written by this command and by `widgetlab run`.

      With a name and without --from it writes a new package: a widget, an app, a test and widgetlab.yaml.

      EXAMPLES
        widgetlab new Weather && cd Weather && widgetlab run
        widgetlab new --from Weather.xcodeproj
        widgetlab new --from ~/Weather --output /tmp/weather
        cd Weather-WidgetLab && swift build && widgetlab up
      """)

  @Option(help: ArgumentHelp("The project.", valueName: "path"))
  var from: String?

  @Argument(help: ArgumentHelp("The name of a new package, and of its folder.", valueName: "name"))
  var name: String?

  @OptionGroup var options: ProjectOptions

  func validate() throws {
    guard from == nil || name == nil else { throw ValidationError("either a name or --from, not both") }
    guard from != nil || name != nil else { throw ValidationError("a name or --from is missing") }
  }

  func run() async throws {
    try await reporting {
      if let name { return try await write(new: name) }
      guard let from else { return }
      let package = try await ProjectPackage(from, options)
      let changes = try package.write()
      for text in package.report(changes) { Output.printText(text) }
      Output.print("next: `widgetlab run \(from)`, or in \(package.folder.path) `swift build` and `widgetlab up`")
    }
  }

  private func write(new name: String) async throws {
    let folder = options.output ?? name
    let widgetLab = try await WidgetLabPackage.choose(options.widgetlab)
    let package = try StarterPackage(name, widgetLab, hasBudget: options.budget)
    try package.write(to: URL(fileURLWithPath: folder).standardizedFileURL.path)
    Output.print("wrote \(folder)")
    Output.print("next: `cd \(folder)` and `widgetlab run`")
  }
}
