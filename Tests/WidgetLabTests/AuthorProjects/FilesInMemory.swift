// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Foundation

/// The files of a project, by absolute path.
struct FilesInMemory: ProjectFiles {
  var texts: [String: String]
  /// Folders that are symbolic links, and what they lead to.
  var links: [String: String] = [:]

  func contents(_ path: String) -> Data? { texts[path].map { Data($0.utf8) } }

  func entries(of folder: String) -> [String]? {
    let inside = texts.keys.filter { $0.hasPrefix(folder + "/") }
    guard !inside.isEmpty else { return nil }
    return Set(inside.map { String($0.dropFirst(folder.count + 1).prefix { $0 != "/" }) }).sorted()
  }
}

extension FilesInMemory {
  func resolved(_ path: String) -> String {
    guard let link = links.first(where: { path.hasPrefix($0.key + "/") }) else { return path }
    return link.value + path.dropFirst(link.key.count)
  }
}

/// A small Xcode project with an app and a widget extension, in which a test replaces parts.
struct SmallProject {
  /// Objects in the text format of a project file, by identifier.
  var objects: [String: String] = [
    "P": """
    isa = PBXProject; buildConfigurationList = PL; mainGroup = G; targets = (A, W, );
      attributes = {LastUpgradeCheck = 1500; };
    """,
    "PL": "isa = XCConfigurationList; buildConfigurations = (PR, PD, );",
    "PD": """
    isa = XCBuildConfiguration; name = Debug; buildSettings = { SDKROOT = iphoneos; SWIFT_VERSION = 5.0;
      PREFIX = com.example; SWIFT_ACTIVE_COMPILATION_CONDITIONS = DEBUG; };
    """,
    "PR": "isa = XCBuildConfiguration; name = Release; buildSettings = { PREFIX = com.release; };",
    "G": "isa = PBXGroup; children = (GW, GS, ); sourceTree = \"<group>\";",
    "GW": "isa = PBXGroup; path = Widget; sourceTree = \"<group>\"; children = (F1, F2, F3, VG, );",
    "GS": "isa = PBXGroup; name = Shared; path = ../Shared; sourceTree = SOURCE_ROOT; children = (F4, );",
    "F1": "isa = PBXFileReference; path = Weather.swift; sourceTree = \"<group>\";",
    "F2": "isa = PBXFileReference; path = Assets.xcassets; sourceTree = \"<group>\";",
    "F3": "isa = PBXFileReference; path = Info.plist; sourceTree = \"<group>\";",
    "F4": "isa = PBXFileReference; path = Model.swift; sourceTree = \"<group>\";",
    "VG": "isa = PBXVariantGroup; name = Localizable.strings; sourceTree = \"<group>\"; children = (V1, V2, );",
    "V1": "isa = PBXFileReference; name = en; path = en.lproj/Localizable.strings; sourceTree = \"<group>\";",
    "V2": "isa = PBXFileReference; name = de; path = de.lproj/Localizable.strings; sourceTree = \"<group>\";",
    "A": """
    isa = PBXNativeTarget; name = Weather; productType = "com.apple.product-type.application"; buildConfigurationList = AL;
      buildPhases = (); dependencies = (D, );
    """,
    "AL": "isa = XCConfigurationList; buildConfigurations = (AD, );",
    "AD": """
    isa = XCBuildConfiguration; name = Debug; buildSettings = { PRODUCT_BUNDLE_IDENTIFIER = "$(PREFIX).Weather";
      INFOPLIST_KEY_CFBundleDisplayName = "The Weather"; };
    """,
    "D": "isa = PBXTargetDependency; target = W;",
    "W": """
    isa = PBXNativeTarget; name = "Weather Widget"; productType = "com.apple.product-type.app-extension";
      buildConfigurationList = WL; buildPhases = (S, R, ); dependencies = ();
    """,
    "WL": "isa = XCConfigurationList; buildConfigurations = (WD, );",
    "WD": """
    isa = XCBuildConfiguration; name = Debug; buildSettings = { INFOPLIST_FILE = Widget/Info.plist;
      PRODUCT_BUNDLE_IDENTIFIER = "$(PREFIX).Weather.Widget"; MARKETING_VERSION = 2.1;
      CODE_SIGN_ENTITLEMENTS = Widget/Widget.entitlements;
      SWIFT_ACTIVE_COMPILATION_CONDITIONS = "$(inherited) WIDGET"; };
    """,
    "S": "isa = PBXSourcesBuildPhase; files = (B1, B4, );",
    "R": "isa = PBXResourcesBuildPhase; files = (B2, BV, );",
    "B1": "isa = PBXBuildFile; fileRef = F1;", "B2": "isa = PBXBuildFile; fileRef = F2;",
    "B4": "isa = PBXBuildFile; fileRef = F4;", "BV": "isa = PBXBuildFile; fileRef = VG;",
  ]

  var files = FilesInMemory(texts: [
    "/p/App/Widget/Weather.swift": "import WidgetKit\n@main struct Weather: Widget {}\n",
    "/p/App/Widget/Assets.xcassets/Contents.json": "{}",
    "/p/App/Widget/Info.plist": SmallProject.infoPlist,
    "/p/App/Widget/Widget.entitlements": """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict><key>com.apple.security.application-groups</key>
    <array><string>group.$(PREFIX).Weather</string></array>
    <key>keychain-access-groups</key><array><string>$(AppIdentifierPrefix)$(PREFIX).keys</string></array>
    <key>aps-environment</key><string>development</string></dict></plist>
    """,
    "/p/App/Widget/en.lproj/Localizable.strings": "", "/p/App/Widget/de.lproj/Localizable.strings": "",
    "/p/Shared/Model.swift": "import Foundation\n",
  ])

  static let path = "/p/App/Weather.xcodeproj"

  /// Adds a framework Core with one source, which the widget imports.
  mutating func addCore(_ source: String) {
    files.texts["/p/App/Widget/Weather.swift"] =
      "import WidgetKit\nimport Core\n@main struct Weather: Widget {}\n"
    objects["P"] = objects["P"]?.replacing("(A, W, )", with: "(A, W, C, )")
    objects["C"] = """
      isa = PBXNativeTarget; name = Core; productType = "com.apple.product-type.framework"; buildConfigurationList = AL;
        buildPhases = (CS, );
      """
    objects["CS"] = "isa = PBXSourcesBuildPhase; files = (BC, );"
    objects["BC"] = "isa = PBXBuildFile; fileRef = FC;"
    objects["FC"] = "isa = PBXFileReference; path = Core.swift; sourceTree = SOURCE_ROOT;"
    objects["G"] = "isa = PBXGroup; children = (GW, GS, FC, ); sourceTree = \"<group>\";"
    files.texts["/p/App/Core.swift"] = source
  }

  static let infoPlist = """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict><key>CFBundleVersion</key><string>$(CURRENT_PROJECT_VERSION)</string>
    <key>NSExtension</key><dict><key>NSExtensionPointIdentifier</key><string>com.apple.widgetkit-extension</string></dict>
    <key>Host</key><string>$(HOST)</string></dict></plist>
    """

  /// The text of the project file.
  var text: String {
    let lines = objects.sorted { $0.key < $1.key }.map { "    \($0.key) /* an object */ = { \($0.value) };" }
    return """
      // !$*UTF8*$!
      {
        archiveVersion = 1;
        objects = {
      \(lines.joined(separator: "\n"))
        };
        rootObject = P;
      }
      """
  }

  /// The files with that of the project.
  var all: FilesInMemory {
    var files = files
    files.texts[Self.path + "/project.pbxproj"] = text
    return files
  }

  func read(_ path: String = SmallProject.path) throws(ProjectError) -> AuthorProject {
    try AuthorProject.read(path, files: all)
  }

  /// The package of the project, in `/p/App/Weather-WidgetLab`.
  func plan(modules: Set<String> = ["SwiftUI", "UIKit", "WidgetKit"], taken takenNames: Set<String> = [])
    throws(ProjectError)
    -> PackagePlan
  {
    let project = try read()
    return PackagePlan(
      project,
      in: PackagePlan.Surroundings(
        output: project.defaultOutput, widgetLab: "/lab/widgetlab", modules: modules, taken: takenNames),
      files: all)
  }
}
