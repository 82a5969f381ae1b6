// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import FidelityRules
import Foundation
import Testing

@Suite struct `A definition of intents` {
  /// A definition with an enumeration, a type and an intent that uses both.
  static let text = """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
      <key>INEnums</key><array><dict>
        <key>INEnumName</key><string>Unit</string><key>INEnumType</key><string>Regular</string>
        <key>INEnumValues</key><array>
          <dict><key>INEnumValueName</key><string>unknown</string>
            <key>INEnumValueDisplayName</key><string>unknown</string></dict>
          <dict><key>INEnumValueName</key><string>URLUnit</string><key>INEnumValueIndex</key><integer>1</integer>
            <key>INEnumValueDisplayName</key><string>Degrees "C"</string></dict>
          <dict><key>INEnumValueName</key><string>Case</string><key>INEnumValueIndex</key><integer>2</integer>
            <key>INEnumValueDisplayName</key><string>Case</string></dict>
        </array>
      </dict></array>
      <key>INIntents</key><array><dict>
        <key>INIntentName</key><string>ChooseCity</string><key>INIntentTitle</key><string>Choose a city</string>
        <key>INIntentParameters</key><array>
          <dict><key>INIntentParameterName</key><string>unit</string>
            <key>INIntentParameterDisplayName</key><string>Unit</string>
            <key>INIntentParameterConfigurable</key><true/><key>INIntentParameterType</key><string>Integer</string>
            <key>INIntentParameterDisplayPriority</key><integer>2</integer>
            <key>INIntentParameterEnumType</key><string>Unit</string>
            <key>INIntentParameterMetadata</key><dict>
              <key>INIntentParameterMetadataDefaultValue</key><string>URLUnit</string></dict></dict>
          <dict><key>INIntentParameterName</key><string>city</string>
            <key>INIntentParameterDisplayName</key><string>City</string>
            <key>INIntentParameterConfigurable</key><true/><key>INIntentParameterType</key><string>Object</string>
            <key>INIntentParameterDisplayPriority</key><integer>1</integer>
            <key>INIntentParameterObjectType</key><string>City</string>
            <key>INIntentParameterSupportsDynamicEnumeration</key><true/></dict>
          <dict><key>INIntentParameterName</key><string>who</string>
            <key>INIntentParameterType</key><string>Person</string></dict>
        </array>
      </dict></array>
      <key>INTypes</key><array><dict>
        <key>INTypeName</key><string>City</string>
        <key>INTypeProperties</key><array>
          <dict><key>INTypePropertyName</key><string>identifier</string><key>INTypePropertyDefault</key><true/>
            <key>INTypePropertyType</key><string>String</string></dict>
          <dict><key>INTypePropertyName</key><string>height</string>
            <key>INTypePropertyType</key><string>Decimal</string></dict>
        </array>
      </dict></array>
    </dict></plist>
    """

  private var definition: IntentDefinition {
    get throws { try #require(IntentDefinition(Data(Self.text.utf8))) }
  }

  @Test func `its intents, types and enumerations become classes with Xcode's names`() throws {
    let swift = try definition.swift
    #expect(try definition.classes == ["ChooseCityIntent"])
    for line in [
      "public class ChooseCityIntent: INIntent {", "public class City: INObject {",
      "  public var `height`: NSNumber? {",
      "  public var `city`: City? {", "  public var `unit`: Unit {", "    get { _value(\"unit\") ?? .`unknown` }",
      "public protocol ChooseCityIntentHandling: NSObjectProtocol {}",
      "public class ChooseCityIntentResponse: INIntentResponse {", "public enum Unit: Int, Sendable {",
      "  case `unknown` = 0", "  case `uRLUnit` = 1", "  case `case` = 2",
    ] {
      #expect(swift.contains(line + "\n"), "\(line)")
    }
    #expect(!swift.contains("`identifier`"))
  }

  @Test(arguments: [
    ("", "cET4"), ("INTENTS_CODEGEN_LANGUAGE = Automatic;", "cET4"), ("INTENTS_CODEGEN_LANGUAGE = Swift;", "cET4"),
    ("INTENTS_CODEGEN_LANGUAGE = \"Objective-C\";", "cet4"), ("INTENTS_CODEGEN_LANGUAGE = None;", nil),
  ])
  func `the setting of the language decides on the names of cases`(setting: String, expected: String?) throws {
    var project = SmallProject()
    project.objects["F5"] = "isa = PBXFileReference; path = Exam.intentdefinition; sourceTree = SOURCE_ROOT;"
    project.objects["B5"] = "isa = PBXBuildFile; fileRef = F5;"
    project.objects["G"] = "isa = PBXGroup; children = (GW, GS, F5, ); sourceTree = \"<group>\";"
    project.objects["S"] = "isa = PBXSourcesBuildPhase; files = (B1, B4, B5, );"
    project.objects["WD"] = project.objects["WD"]?.replacing("buildSettings = {", with: "buildSettings = { \(setting)")
    project.files.texts["/p/App/Exam.intentdefinition"] = Self.text.replacing("URLUnit", with: "CET4")
    let plan = try project.plan(modules: ["Intents", "SwiftUI", "UIKit", "WidgetKit"])
    let item = plan.items["Sources/Weather_Widget/Exam.intentdefinition.swift"]
    guard case .view(let data, _) = item else { return #expect(item == nil && expected == nil) }
    let swift = String(decoding: data, as: UTF8.self)
    let name = try #require(expected)
    #expect(swift.contains("  case `\(name)` = 1\n") && swift.contains("standard: .string(\"\(name)\")"), "\(swift)")
  }

  @Test func `parameters have their order, title, options and default`() throws {
    let swift = try definition.swift
    let city = try #require(swift.firstRange(of: #"_INParameter("city", title: "City", .object(City.self))"#))
    let unit = try #require(
      swift.firstRange(
        of:
          #"_INParameter("unit", title: "Unit", .enumeration([("unknown", "unknown", 0), ("uRLUnit", "Degrees \"C\"", 1), ("#
      ))
    #expect(city.lowerBound < unit.lowerBound)
    #expect(swift.contains(#"standard: .string("uRLUnit")"#))
  }

  @Test func `a parameter may have the name of its type`() throws {
    let text = Self.text.replacing("<string>city</string>", with: "<string>City</string>")
    let swift = try #require(IntentDefinition(Data(text.utf8))).swift
    let type = try #require(swift.firstRange(of: "public class ChooseCityIntent: INIntent {"))
    let end = try #require(swift[type.upperBound...].firstRange(of: "\n}\n"))
    // Within the class `City` is the parameter.
    #expect(swift[type.upperBound..<end.lowerBound].contains("public var `City`: City? {"))
    #expect(!swift[type.upperBound..<end.lowerBound].contains("City.self"))
    #expect(swift[end.upperBound...].contains(".object(City.self)"))
  }

  @Test func `what is missing is named: a type that does not exist here, and options of an Intents extension`() throws {
    let missing = try definition.missing
    #expect(missing.map(\.subject) == ["ChooseCityIntent.city", "ChooseCityIntent.who"])
    #expect(missing[0].reason.contains("Intents extension"))
    #expect(missing[1].reason == "the type Person does not exist here")
  }

  @Test(arguments: ["", "<plist/>", "{ INIntents = text; }"]) func `other data is no definition`(text: String) {
    #expect(IntentDefinition(Data(text.utf8)) == nil)
  }

  @Test func `a target with a definition has its classes as a source, and imports Intents`() throws {
    let files = FilesInMemory(texts: [
      "/p/Widget/Main.swift": "import WidgetKit\n@main struct A: Widget {}\n",
      "/p/Widget/City.intentdefinition": Self.text,
    ])
    let project = try AuthorProject.read("/p", files: files)
    let plan = PackagePlan(
      project,
      in: PackagePlan.Surroundings(
        output: "/p-WidgetLab", widgetLab: "/lab", modules: ["Intents", "WidgetKit"], taken: [], omitted: [:]),
      files: files)
    let path = "Sources/Widget/City.intentdefinition.swift"
    let view = PackagePlan.Item.view(Data(try definition.swift.utf8), of: "/p/Widget/City.intentdefinition")
    #expect(plan.items[path] == view)
    guard case .text(let manifest) = plan.items["Package.swift"] else { return #expect(Bool(false), "no manifest") }
    #expect(manifest.contains(".product(name: \"Intents\", package: \"widgetlab\")"))
    #expect(plan.notes.contains { $0.subject == "ChooseCityIntent.city" })
  }
}

@Suite struct `Modules with another name` {
  @Test(arguments: [
    ("import os.log\n", "import os\n"), ("import os.log // x\nlet a = 1", "import os // x\nlet a = 1"),
    ("@preconcurrency import UIKit.UIImage\n", "@preconcurrency import UIKit\n"),
  ])
  func `an import of a submodule has a view that imports the module`(text: String, expected: String) {
    let view = ConditionalSource(Data(text.utf8)).view(platform: "iOS")
    #expect(view.map { String(decoding: $0, as: UTF8.self) } == expected)
  }

  @Test(arguments: ["import os\n", "import struct os.Logger\n", "let a = b.import.c\n", "// import os.log\n"])
  func `other imports need no view`(text: String) {
    #expect(ConditionalSource(Data(text.utf8)).view(platform: "iOS") == nil)
  }

  @Test func `the flags of a package have every alias, as those of the samples`() throws {
    let ownSource = try String(contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
    guard case .text(let manifest) = try SmallProject().plan().items["Package.swift"] else {
      return #expect(Bool(false), "no manifest")
    }
    for (name, module) in AuthorModules.aliases {
      let flag = "\"-module-alias\", \"\(name)=\(module)\""
      #expect(manifest.contains(flag))
      #expect(ownSource.contains(flag))
      #expect(ownSource.contains(".library(name: \"\(name)\", targets: [\"\(module)\"])"))
    }
  }
}
