// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuthorProjects
import Cluster
import Foundation
import Testing

@testable import WidgetLab

@Suite struct `The plan of a project's files` {
  private func text(_ plan: PackagePlan, _ path: String) throws -> String {
    guard case .text(let text) = plan.items[path] else {
      Issue.record("\(path) is not a text: \(plan.items.keys.sorted())")
      return ""
    }
    return text
  }

  @Test func `sources and resources are links`() throws {
    let plan = try SmallProject().plan()
    #expect(plan.items["Sources/Weather_Widget/App/Widget/Weather.swift"] == .link("/p/App/Widget/Weather.swift"))
    #expect(plan.items["Sources/Weather_Widget/Shared/Model.swift"] == .link("/p/Shared/Model.swift"))
    #expect(
      plan.items["Resources/Weather_Widget/de.lproj/Localizable.strings"]
        == .link("/p/App/Widget/de.lproj/Localizable.strings"))
    #expect(plan.items["Resources/Weather_Widget/Assets.xcassets"] == .link("/p/App/Widget/Assets.xcassets"))
  }

  @Test func `a source that a symbolic link lists again is added once`() throws {
    var project = SmallProject()
    project.objects["F1"] = "isa = PBXFileReference; path = Shared/Model.swift; sourceTree = \"<group>\";"
    project.files.texts["/p/App/Widget/Shared/Model.swift"] = project.files.texts["/p/Shared/Model.swift"]
    #expect(try project.plan().items.keys.filter { $0.hasSuffix("/Model.swift") }.count == 2)
    project.files.links["/p/App/Widget/Shared"] = "/p/Shared"
    #expect(try project.plan().items.keys.filter { $0.hasSuffix("/Model.swift") }.count == 1)
  }

  @Test func `a source with os(iOS) is a view that names the author's file and line`() throws {
    var project = SmallProject()
    project.files.texts["/p/Shared/Model.swift"] = "import Foundation\n#if os(iOS)\nlet a = 1\n#endif\n"
    let plan = try project.plan()
    let view =
      "#sourceLocation(file: \"/p/Shared/Model.swift\", line: 1)\nimport Foundation\n#if true\nlet a = 1\n#endif\n"
    let path = "Sources/Weather_Widget/Shared/Model.view.swift"
    #expect(plan.items[path] == .view(Data(view.utf8), of: "/p/Shared/Model.swift"))
    #expect(plan.origins[path] == "/p/Shared/Model.swift")
  }

  @Test func `the manifest has the targets with their settings, and only the libraries that they import`() throws {
    let manifest = try text(try SmallProject().plan(), "Package.swift")
    #expect(manifest.contains(".package(name: \"widgetlab\", path: \"/lab/widgetlab\")"))
    #expect(manifest.contains("name: \"Weather_Widget\""))
    #expect(manifest.contains(".product(name: \"WidgetKit\", package: \"widgetlab\")"))
    #expect(!manifest.contains("\"SwiftUI\""))
    #expect(manifest.contains("author + [.swiftLanguageMode(.v5), .define(\"WIDGET\")]"))
    #expect(manifest.contains("name: \"TheWeatherApp\""))
  }

  @Test func `the configuration has identifiers, groups, entitlements, resources and the app`() throws {
    let configuration = try text(try SmallProject().plan(), "widgetlab.yaml")
    #expect(
      configuration.hasSuffix(
        """
        appGroups: [group.com.example.Weather]
        apps:
          - bundle: com.example.Weather
            executable: TheWeatherApp
            displayName: "The Weather"
            version: "1.0"
            build: "1"
        extensions:
          - bundle: com.example.Weather.Widget
            executable: Weather_Widget
            version: "2.1"
            build: "1"
            infoPlist: "../Widget/Info.plist"
            buildSettings:
              HOST: ""
            entitlements: {aps-environment: development, keychain-access-groups: [com.example.keys]}
            resources:
              - Resources/Weather_Widget/Assets.xcassets
              - Resources/Weather_Widget/de.lproj
              - Resources/Weather_Widget/en.lproj
        settings: {developerMode: true}   # no budget and no spacing of reloads

        """), "\(configuration)")
  }

  @Test func `--budget of run and new turns off developerMode, and run names the absence of a budget`() throws {
    #expect(try RunCommand.parse(["--budget"]).project.budget)
    #expect(try NewCommand.parse(["Weather", "--budget"]).options.budget)
    for hasBudget in [true, false] {
      let small = SmallProject()
      var surroundings = try small.plan().surroundings
      surroundings.hasBudget = hasBudget
      let yaml = try text(PackagePlan(try small.read(), in: surroundings, files: small.all), "widgetlab.yaml")
      let settings = try ClusterConfiguration(yaml: yaml).settings
      #expect(settings.developerMode != hasBudget)
      #expect((RunCommand.budgetLine(settings) == nil) == hasBudget)
    }
  }

  @Test func `a target with the name of one of WidgetLab's gets another name`() throws {
    let plan = try SmallProject().plan(taken: ["Weather_Widget"])
    #expect(plan.products.first?.name == "Weather_WidgetTarget")
    #expect(plan.notes.contains { $0.reason.contains("its module is Weather_WidgetTarget here") })
  }

  @Test func `a module that does not exist is named with the file and the line`() throws {
    var project = SmallProject()
    project.files.texts["/p/Shared/Model.swift"] = "import Foundation\nimport HealthKit\nlet unit = HKUnit.count()\n"
    let plan = try project.plan()
    #expect(
      plan.missing == [
        "Weather Widget": [PackagePlan.MissingModule(module: "HealthKit", path: "/p/Shared/Model.swift", line: 2)]
      ])
  }

  @Test func `a library of the project that is imported is a target too`() throws {
    var project = SmallProject()
    project.addCore("import SwiftUI\n")
    let plan = try project.plan()
    #expect(plan.missing.isEmpty)
    #expect(plan.items["Sources/Core/Core.swift"] == .link("/p/App/Core.swift"))
    #expect(try text(plan, "Package.swift").contains(".target(name: \"Core\")"))
  }

  @Test func `only the products of packages that are imported and can be had are dependencies`() throws {
    var project = SmallProject()
    project.files.texts["/p/App/Widget/Weather.swift"] = "import WidgetKit\nimport Tools\n@main struct W: Widget {}\n"
    project.files.texts["/p/Core/Package.swift"] = ".target(name: \"Tools\")"
    project.objects["W"]? += " packageProductDependencies = (PP, PQ, );"
    project.objects["PP"] = "isa = XCSwiftPackageProductDependency; productName = Algorithms; package = PR1;"
    project.objects["PR1"] = """
      isa = XCRemoteSwiftPackageReference; repositoryURL = "https://github.com/apple/swift-algorithms.git";
        requirement = { kind = exactVersion; version = 1.2.0; };
      """
    project.objects["PQ"] = "isa = XCSwiftPackageProductDependency; productName = Core; package = PR2;"
    project.objects["PR2"] = "isa = XCLocalSwiftPackageReference; relativePath = ../Core;"
    #expect(try project.plan().missing["Weather Widget"]?.map(\.module) == ["Tools"])
    let widgets = try project.read()
    var surroundings = PackagePlan.Surroundings(
      output: "/out", widgetLab: "/lab", modules: ["UIKit", "WidgetKit"], taken: [])
    for product in widgets.widgets[0].products { surroundings.checkouts[product.place] = "/p/Core" }
    let plan = PackagePlan(widgets, in: surroundings, files: project.all)
    #expect(plan.missing.isEmpty)
    let manifest = try text(plan, "Package.swift")
    #expect(manifest.contains(".package(path: \"/p/Core\")"))
    #expect(manifest.contains(".product(name: \"Core\", package: \"core\")"))
  }

  @Test func `an app whose name has other letters than ASCII is named after its bundle identifier`() throws {
    var project = SmallProject()
    project.objects["AD"] = project.objects["AD"]?.replacing("The Weather", with: "天气")
    #expect(try project.plan().products.map(\.name) == ["Weather_Widget", "WeatherApp"])
  }

  @Test func `a target without sources is left out, and the others remain`() throws {
    var project = SmallProject()
    project.objects["P"] = project.objects["P"]?.replacing("(A, W, )", with: "(A, W, E, )")
    project.objects["E"] = """
      isa = PBXNativeTarget; name = Empty; productType = "com.apple.product-type.app-extension"; buildConfigurationList = WL;
        buildPhases = ();
      """
    let plan = try project.plan()
    #expect(plan.omitted == [ProjectNote("Empty", "the target has no Swift sources")])
    #expect(plan.products.map(\.name) == ["Weather_Widget", "TheWeatherApp"])
  }

  @Test func `a project whose only target has no sources gives no package`() throws {
    var project = SmallProject()
    project.objects["S"] = "isa = PBXSourcesBuildPhase; files = ();"
    let plan = try project.plan()
    #expect(plan.products.isEmpty && plan.items.isEmpty)
    #expect(plan.omitted.map(\.subject) == ["Weather Widget"])
  }
}
