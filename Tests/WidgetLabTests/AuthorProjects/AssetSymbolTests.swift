// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Foundation
import Testing

@Suite struct `Symbols of asset catalogs` {
  private static let names = [
    "AccentColor.colorset", "app-background.colorset", "accent.colorset", "red.colorset", "HNLogo.imageset",
    "HeroImage.imageset", "1st.imageset", "Plain/inside.colorset", "Icons/star.imageset", "icons/moon.imageset",
    "🎨/dab.imageset", "AppIcon.appiconset",
  ]

  private func source(_ setting: String = "") throws -> String? {
    var project = SmallProject()
    let catalog = "/p/App/Widget/Assets.xcassets"
    for name in Self.names { project.files.texts["\(catalog)/\(name)/Contents.json"] = "{}" }
    for folder in ["Icons", "icons", "🎨"] {
      project.files.texts["\(catalog)/\(folder)/Contents.json"] = #"{"properties": {"provides-namespace": true}}"#
    }
    project.objects["WD"] = project.objects["WD"]?.replacing("buildSettings = {", with: "buildSettings = { \(setting)")
    let plan = try project.plan()
    guard case .view(let data, let file)? = plan.items["Sources/Weather_Widget/GeneratedAssetSymbols.swift"],
      case .text(let manifest)? = plan.items["Package.swift"]
    else { return nil }
    #expect(file == catalog)
    for module in ["SwiftUI", "UIKit"] {
      #expect(manifest.contains(".product(name: \"\(module)\", package: \"widgetlab\")"))
    }
    return String(decoding: data, as: UTF8.self)
  }

  @Test func `colours and images have the names that Xcode gives them, within a type for each namespace`() throws {
    let text = try #require(try source())
    #expect(
      text.hasSuffix(
        """
        extension ColorResource {
          nonisolated static let `accent` = ColorResource(name: "AccentColor", bundle: .main)
          nonisolated static let `inside` = ColorResource(name: "inside", bundle: .main)
          nonisolated static let `appBackground` = ColorResource(name: "app-background", bundle: .main)
          nonisolated static let `red` = ColorResource(name: "red", bundle: .main)
        }

        extension ImageResource {
          nonisolated static let `_1st` = ImageResource(name: "1st", bundle: .main)
          nonisolated static let `hnLogo` = ImageResource(name: "HNLogo", bundle: .main)
          nonisolated static let `hero` = ImageResource(name: "HeroImage", bundle: .main)
          enum `Icons` {
            nonisolated static let `star` = ImageResource(name: "Icons/star", bundle: .main)
            nonisolated static let `moon` = ImageResource(name: "icons/moon", bundle: .main)
          }
        }

        """), "\(text)")
  }

  @Test func `a build setting adds members of SwiftUI's and UIKit's types, except names that they have`() throws {
    let text = try #require(try source("ASSETCATALOG_COMPILER_GENERATE_SWIFT_ASSET_SYMBOL_EXTENSIONS = YES;"))
    for line in [
      "extension ShapeStyle where Self == Color {",
      "  nonisolated static var `accent`: Color { Color(ColorResource.accent) }",
      "  nonisolated static var `appBackground`: UIColor { UIColor(resource: .appBackground) }",
      "  nonisolated static var `hero`: UIImage { UIImage(resource: .hero) }",
    ] { #expect(text.contains(line + "\n"), "\(line)") }
    #expect(!text.contains("`red`: Color"))
  }

  @Test func `a framework has the symbols of its catalogs, in its own bundle`() throws {
    var project = SmallProject()
    project.files.texts["/p/App/Widget/Weather.swift"] = "import WidgetKit\nimport Core\n@main struct W: Widget {}\n"
    project.objects["P"] = project.objects["P"]?.replacing("(A, W, )", with: "(A, W, C, )")
    project.objects["C"] = """
      isa = PBXNativeTarget; name = Core; productType = "com.apple.product-type.framework"; buildConfigurationList = AL;
        buildPhases = (CS, CR, );
      """
    project.objects["CS"] = "isa = PBXSourcesBuildPhase; files = (BC, );"
    project.objects["BC"] = "isa = PBXBuildFile; fileRef = FC;"
    project.objects["FC"] = "isa = PBXFileReference; path = Core.swift; sourceTree = SOURCE_ROOT;"
    project.objects["CR"] = "isa = PBXResourcesBuildPhase; files = (BA, );"
    project.objects["BA"] = "isa = PBXBuildFile; fileRef = FA;"
    project.objects["FA"] = "isa = PBXFileReference; path = Core.xcassets; sourceTree = SOURCE_ROOT;"
    project.objects["G"] = "isa = PBXGroup; children = (GW, GS, FC, FA, ); sourceTree = \"<group>\";"
    project.files.texts["/p/App/Core.swift"] = "import Foundation\n"
    project.files.texts["/p/App/Core.xcassets/loading.colorset/Contents.json"] = "{}"
    let plan = try project.plan()
    guard case .view(let data, _)? = plan.items["Sources/Core/GeneratedAssetSymbols.swift"],
      case .text(let manifest)? = plan.items["Package.swift"]
    else { return #expect(Bool(false), "\(plan.items.keys.sorted())") }
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains(#"static let `loading` = ColorResource(name: "loading", bundle: .module)"#), "\(text)")
    #expect(manifest.contains(#"resources: [.copy("ResourcesOfBundle/Core.xcassets")]"#), "\(manifest)")
    #expect(plan.items["Sources/Core/ResourcesOfBundle/Core.xcassets"] == .resource("/p/App/Core.xcassets"))
  }

  @Test func `another build setting turns the symbols off`() throws {
    #expect(try source("ASSETCATALOG_COMPILER_GENERATE_ASSET_SYMBOLS = NO;") == nil)
  }
}
