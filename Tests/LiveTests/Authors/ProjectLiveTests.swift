// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WidgetLabTesting

/// `widgetlab new --from` and `widgetlab run` with projects that a test writes. `scripts/test-author-package` also builds
/// and runs one.
@Suite(.live, .timeLimit(.live)) struct `A project of Xcode` {
  /// A folder with a project, which is removed after the work.
  private func inFolder(
    _ files: [String: String],
    _ work: (String, @Sendable ([String]) async throws -> LabCluster.Answer) async throws -> Void
  ) async throws {
    let folder =
      FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/widgetlab-author-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (file, text) in files {
      let path = "\(folder)/\(file)"
      try FileManager.default.createDirectory(
        atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    let executables = try LabCluster.findExecutables()
    try await work(folder) { try await LabCluster.tool($0, executables: executables, in: folder) }
  }

  private static let project = """
    { objects = {
      P = { isa = PBXProject; buildConfigurationList = L; mainGroup = G; targets = (W, E, N, ); };
      L = { isa = XCConfigurationList; buildConfigurations = (C, ); };
      C = { isa = XCBuildConfiguration; name = Debug; buildSettings = {
        PRODUCT_BUNDLE_IDENTIFIER = "com.example.$(TARGET_NAME:rfc1034identifier)"; }; };
      G = { isa = PBXGroup; children = (S, T, ); sourceTree = "<group>"; };
      S = { isa = PBXFileSystemSynchronizedRootGroup; path = Weather; sourceTree = "<group>"; };
      T = { isa = PBXFileSystemSynchronizedRootGroup; path = Health; sourceTree = "<group>"; };
      W = { isa = PBXNativeTarget; name = Weather; productType = "com.apple.product-type.app-extension";
        buildConfigurationList = L; buildPhases = (); fileSystemSynchronizedGroups = (S, ); };
      E = { isa = PBXNativeTarget; name = Health; productType = "com.apple.product-type.app-extension";
        buildConfigurationList = L; buildPhases = (); fileSystemSynchronizedGroups = (T, ); };
      N = { isa = PBXNativeTarget; name = Empty; productType = "com.apple.product-type.app-extension";
        buildConfigurationList = L; buildPhases = (F, ); };
      F = { isa = PBXFrameworksBuildPhase; files = (B, ); };
      B = { isa = PBXBuildFile; fileRef = R; };
      R = { isa = PBXFileReference; name = WidgetKit.framework; sourceTree = SDKROOT; };
    }; rootObject = P; }
    """
  private static let widget = "import WidgetKit\n@main struct Weather: Widget {}\n"
  /// Of a framework that does not exist here: an import of which nothing is used is left out.
  private static let use = "let home = HMHomeManager().primaryHome\n"

  @Test func `new writes all extensions, and lists what is left out with the reason`() async throws {
    let files = [
      "Weather.xcodeproj/project.pbxproj": Self.project, "Weather/Weather.swift": Self.widget,
      "Health/Health.swift": "import HomeKit\n" + Self.widget + Self.use,
    ]
    try await inFolder(files) { folder, widgetlab in
      let answer = try await widgetlab(["new", "--from", folder])
      #expect(answer.status == 0, "\(answer)")
      for part in [
        "wrote \(folder)/Weather-WidgetLab", "Empty: the target has no Swift sources",
        "Health imports modules that do not exist here", "HomeKit: Health/Health.swift:1",
      ] { #expect(answer.output.replacing(folder + "/Health/", with: "Health/").contains(part), "\(part): \(answer)") }
      let yaml = try String(contentsOfFile: folder + "/Weather-WidgetLab/widgetlab.yaml", encoding: .utf8)
      #expect(yaml.contains("com.example.Weather") && yaml.contains("com.example.Health"))
      let again = try await widgetlab(["new", "--from", folder + "/Weather.xcodeproj"])
      #expect(again.output.contains("unchanged: \(folder)/Weather-WidgetLab"), "\(again)")
    }
  }

  @Test func `run names a missing module and compiles nothing`() async throws {
    let files = [
      "Weather.xcodeproj/project.pbxproj": Self.project,
      "Health/Health.swift": "#if canImport(UIKit)\nimport HomeKit\n#endif\n" + Self.widget + Self.use,
    ]
    try await inFolder(files) { folder, widgetlab in
      let answer = try await widgetlab(["run", folder])
      #expect(answer.status == 78, "\(answer)")
      #expect(answer.errors.contains("modules are imported that do not exist here"), "\(answer)")
      #expect(answer.errors.contains("Health.swift:2"), "\(answer)")
      #expect(!FileManager.default.fileExists(atPath: folder + "/Weather-WidgetLab"))
    }
  }

  @Test func `a manifest of Tuist is compiled with its helpers, and read`() async throws {
    let files = [
      "Project.swift": """
      import ProjectDescription
      import ProjectDescriptionHelpers
      import Sky
      print("reading")
      let project = Project.app("Weather", prefix: Sky.prefix)
      """,
      "Plugins/Sky/Plugin.swift": "import ProjectDescription\nlet plugin = Plugin(name: \"Sky\")\n",
      "Plugins/Sky/ProjectDescriptionHelpers/Sky.swift":
        "public enum Sky { public static let prefix = \"com.example\" }\n",
      "Tuist/ProjectDescriptionHelpers/Project+App.swift": """
      import ProjectDescription
      extension Project {
        public static func app(_ name: String, prefix: String) -> Project {
          Project(
            name: name,
            targets: [
              .target(name: name, destinations: .iOS, product: .app, bundleId: "\\(prefix).\\(name)",
                sources: ["App/**"], dependencies: [.target(name: "Widget")]),
              .target(name: "Widget", destinations: .iOS, product: .appExtension,
                bundleId: "\\(prefix).\\(name).Widget",
                infoPlist: .extendingDefault(with: [
                  "NSExtension": ["NSExtensionPointIdentifier": "com.apple.widgetkit-extension"]
                ]), sources: ["Widget/**"]),
            ])
        }
      }
      """,
      "App/App.swift": "", "Widget/Widget.swift": Self.widget,
    ]
    try await inFolder(files) { folder, widgetlab in
      let answer = try await widgetlab(["new", "--from", folder])
      #expect(answer.status == 0, "\(answer)")
      #expect(answer.output.contains("com.example.Weather.Widget  (widget extension Widget)"), "\(answer)")
      #expect(answer.output.contains("wrote \(folder)/Weather-WidgetLab"), "\(answer)")
      try "import ProjectDescription\nlet project = Nothing()\n".write(
        toFile: folder + "/Project.swift", atomically: true, encoding: .utf8)
      let wrong = try await widgetlab(["new", "--from", folder])
      #expect(wrong.status == 78 && wrong.errors.contains("Project.swift:2:15: error: "), "\(wrong)")
      #expect(wrong.errors.contains("tuist generate --no-open"), "\(wrong)")
    }
  }

  /// The executable is linked statically, and the tests of AuthorProjects are not.
  @Test func `lists in the property lists of an XcodeGen project arrive`() async throws {
    let project = """
      name: Weather
      targets:
        Widget:
          {type: app-extension, platform: iOS, sources: [Widget],
           settings: {PRODUCT_BUNDLE_IDENTIFIER: com.example.Weather},
           info: {path: Info.plist, properties: {UIAppFonts: [Sun.ttf],
             NSExtension: {NSExtensionPointIdentifier: com.apple.widgetkit-extension}}},
           entitlements: {path: W.entitlements, properties:
             {com.apple.security.application-groups: [group.sky]}}}
      """
    try await inFolder(["project.yml": project, "Widget/Weather.swift": Self.widget]) { folder, widgetlab in
      let answer = try await widgetlab(["new", "--from", folder + "/project.yml", "--output", folder + "/made"])
      #expect(answer.status == 0, "\(answer)")
      let cluster = try String(contentsOfFile: folder + "/made/widgetlab.yaml", encoding: .utf8)
      #expect(cluster.contains("appGroups: [group.sky]"))
      #expect(!(answer.output + answer.errors).contains("cannot be"), "\(answer)")
    }
  }

  @Test(arguments: [
    (["Weather.xcodeproj/project.pbxproj": "{ objects = {"], "cannot be read: it is not a property list"),
    (["project.yml": "name: Weather"], "xcodegen generate"),
    (["App.swift": "@main struct A: App {}"], "no Swift file with a widget"),
  ])
  func `what cannot be used is reported with what to do`(files: [String: String], words: String) async throws {
    try await inFolder(files) { folder, widgetlab in
      let answer = try await widgetlab(["new", "--from", folder])
      #expect(answer.status == 78, "\(answer)")
      #expect(answer.errors.contains(words), "\(answer)")
      #expect(answer.errors.contains("where: \(folder)") && answer.errors.contains("do:"), "\(answer)")
    }
  }
}
