// SPDX-License-Identifier: Apache-2.0

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
  init(_ name: String, _ widgetLab: WidgetLabPackage) throws {
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
      "widgetlab.yaml": Self.configuration(name),
      ".gitignore": "/.build\n/.widgetlab\n",
      ".vscode/extensions.json": "{\"recommendations\": [\"swiftlang.swift-vscode\"]}\n",
      ".vscode/tasks.json": Self.tasks,
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

  private static func literal(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  private static func manifest(_ name: String, _ widgetLab: WidgetLabPackage) -> String {
    let settings: String
    var dependencies = ""
    var products = ""
    if let flags = widgetLab.flags {
      settings = """
        // WidgetLab's SDK. `widgetlab run` names the installed one; the path is for `swift build` and for editors.
        let sdk = "@" + (Context.environment["\(flagsVariable)"] ?? \(literal(flags)))
        let author: [SwiftSetting] = [.unsafeFlags([sdk + "/compile.rsp"])]
        let executable: [LinkerSetting] = [.unsafeFlags([sdk + "/link.rsp"])]
        """
    } else {
      let aliases = AuthorModules.aliases.sorted { $0.key < $1.key }
        .map { "\n    \"-module-alias\", \"\($0.key)=\($0.value)\"," }.joined()
      settings = """
        let author: [SwiftSetting] = [
          .unsafeFlags([
            "-Xfrontend", "-import-module", "-Xfrontend", "URLSessionAPI",
            "-module-alias", "FoundationNetworking=URLSessionAPI",\(aliases)
          ])
        ]
        // Locale.current is the device's.
        let executable: [LinkerSetting] = [
          .unsafeFlags(
            ["7currentACvgZ", "19autoupdatingCurrentACvgZ", "18preferredLanguagesSaySSGvgZ"].flatMap {
              ["-Xlinker", "--wrap=$s20FoundationEssentials6LocaleV\\($0)"]
            })
        ]
        """
      dependencies = "\n  dependencies: [.package(name: \"widgetlab\", path: \(literal(widgetLab.folder)))],"
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
    import Foundation
    import Testing

    @testable import \(name)Widget

    @Test func textHasTheDegrees() {
      #expect(Entry(date: Date(), degrees: 21).text == "21 degrees outside")
    }

    """
  }

  private static func configuration(_ name: String) -> String {
    """
    device: {name: phone, model: iPhone 16, version: "26.0"}
    appGroups: []
    apps:
      - bundle: com.example.\(name)
        executable: \(name)App
    extensions:
      - bundle: com.example.\(name).Widget
        executable: \(name)Widget
    settings: {developerMode: true}   # no budget and no spacing of reloads

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
