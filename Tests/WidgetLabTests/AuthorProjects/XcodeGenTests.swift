// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Foundation
import Testing

@Suite struct `A description of XcodeGen` {
  private static let widget = "import WidgetKit\n@main struct Weather: Widget {}\n"

  private static let files = [
    "/p/Widget/Weather.swift": widget, "/p/Widget/Assets.xcassets/Contents.json": "{}",
    "/p/Widget/Info.plist": SmallProject.infoPlist, "/p/App/App.swift": "@main struct A: App {}",
  ]

  /// A small description, in which a test replaces parts.
  private static let spec = """
    name: Weather
    options:
      bundleIdPrefix: com.example
      deploymentTarget: {iOS: "17.0"}
    settings:
      MARKETING_VERSION: 2.1
    targets:
      Weather:
        type: application
        platform: iOS
        sources: App
        settings: {PRODUCT_NAME: The Weather}
        dependencies:
          - target: Weather_Widget
      Weather_Widget:
        type: app-extension
        platform: iOS
        sources: [Widget]
        dependencies:
          - sdk: WidgetKit.framework
    """

  private func read(
    _ spec: String, files: [String: String] = Self.files, path: String = "/p"
  ) throws -> AuthorProject {
    try AuthorProject.read(path, files: all(spec, files))
  }

  private func all(_ spec: String, _ files: [String: String] = Self.files) -> FilesInMemory {
    FilesInMemory(texts: files.merging(["/p/project.yml": spec]) { first, _ in first })
  }

  private func widget(_ spec: String, files: [String: String] = Self.files) throws -> WidgetTarget {
    try #require(try read(spec, files: files).widgets.first)
  }

  // MARK: What is read

  @Test(arguments: ["/p", "/p/project.yml"])
  func `is read as the project that it generates`(path: String) throws {
    let project = try read(Self.spec, path: path)
    #expect(project.name == "Weather")
    #expect(project.path == "/p/project.yml")
    let widget = try #require(project.widgets.first)
    #expect(project.widgets.count == 1)
    #expect(widget.sources == ["/p/Widget/Weather.swift"])
    #expect(widget.resources == ["Assets.xcassets": "/p/Widget/Assets.xcassets"])
    #expect(widget.bundle == "com.example.Weather-Widget")
    #expect(widget.app.bundle == "com.example")
    #expect(widget.version == "2.1")
    #expect(widget.deploymentTarget == "17.0")
    #expect(widget.compiler.conditions == ["DEBUG"])
    #expect(widget.infoPlist == "/p/Widget/Info.plist")
    #expect(widget.generatedInfoPlist == nil)
  }

  @Test func `is read when the Xcode project beside it has no widget, and not when it has one`() throws {
    var project = SmallProject()
    project.files.texts["/p/project.yml"] = Self.spec
    project.files.texts["/p/Widget/Weather.swift"] = Self.widget
    #expect(try project.read("/p").path == SmallProject.path)
    project.objects["P"] = project.objects["P"]?.replacing("(A, W, )", with: "(A, )")
    #expect(try project.read("/p").path == "/p/project.yml")
  }

  @Test func `has settings of groups, base and configuration, each over the one before`() throws {
    let spec =
      Self.spec.replacing(
        "    sources: [Widget]\n",
        with: """
              sources: [Widget]
              settings:
                groups: [shared]
                base: {B: base, C: base, PRODUCT_BUNDLE_IDENTIFIER: "org.$(A).$(B).$(C)", SWIFT_VERSION: 6.0}
                configs: {debug: {C: debug}, release: {C: release}}

          """) + "\nsettingGroups:\n  shared: {A: group, B: group, C: group}\n"
    let widget = try widget(spec)
    #expect(widget.bundle == "org.group.base.debug")
    #expect(widget.compiler.languageMode == 6)
  }

  @Test func `has the files of a folder that its patterns choose`() throws {
    let spec = Self.spec.replacing(
      "[Widget]",
      with: """

              - path: Widget
                excludes: ["**/*Tests.swift", "Old", "*.{md,txt}"]
              - {path: Shared, includes: ["Model/**/*.swift"]}
              - {path: Missing.swift, optional: true}
              - {path: Gone.swift}
              - {path: Data, buildPhase: resources, type: folder}
              - {path: Notes, buildPhase: none}
        """)
    let files = Self.files.merging([
      "/p/Widget/Deep/ATests.swift": "", "/p/Widget/Old/B.swift": "", "/p/Widget/c.txt": "", "/p/Data/d.json": "",
      "/p/Shared/Model/Deep/E.swift": "", "/p/Shared/F.swift": "", "/p/Notes/G.swift": "",
    ]) { $1 }
    let widget = try widget(spec, files: files)
    #expect(widget.sources == ["/p/Widget/Weather.swift", "/p/Shared/Model/Deep/E.swift"])
    #expect(widget.resources == ["Assets.xcassets": "/p/Widget/Assets.xcassets", "Data": "/p/Data"])
    #expect(widget.notes.contains { $0.subject == "Gone.swift" && $0.reason.contains("line") })
    #expect(!widget.notes.contains { $0.subject == "Missing.swift" })
  }

  @Test func `inserts templates, with their attributes`() throws {
    let spec = """
      name: Weather
      targetTemplates:
        Base: {platform: iOS, sources: ["${target_name}"]}
        Extension:
          templates: [Base]
          type: app-extension
          settings: {PRODUCT_BUNDLE_IDENTIFIER: "${prefix}.App.${target_name}"}
          sources: [Common]
      targets:
        Widget:
          templates: [Extension]
          templateAttributes: {prefix: org.me}
          settings: {MARKETING_VERSION: "3.0"}
      """
    let widget = try widget(spec, files: Self.files.merging(["/p/Common/A.swift": ""]) { $1 })
    #expect(widget.bundle == "org.me.App.Widget")
    #expect(widget.version == "3.0")
    #expect(widget.sources == ["/p/Widget/Weather.swift", "/p/Common/A.swift"])
  }

  @Test func `the stand-in of the app has the sources that it shares with its extension, if one may have an intent`()
    throws
  {
    let spec = Self.spec.replacing("sources: App", with: "sources: [App, Shared]").replacing(
      "sources: [Widget]", with: "sources: [Widget, Shared]")
    let intent = "import AppIntents\nimport Foundation\nstruct Start: LiveActivityIntent {}\n"
    let files = Self.files.merging(["/p/Shared/Start.swift": intent, "/p/Shared/Model.swift": "let a = 1\n"]) { $1 }
    let project = try read(spec, files: files)
    #expect(project.widgets.first?.app.sharedSources == ["/p/Shared/Model.swift", "/p/Shared/Start.swift"])
    var surroundings = PackagePlan.Surroundings(
      output: "/out", widgetLab: "/lab", modules: ["AppIntents", "Foundation", "UIKit", "WidgetKit"], taken: [])
    let plan = PackagePlan(project, in: surroundings, files: all(spec, files))
    #expect(plan.items["Sources/TheWeatherApp/Start.swift"] == .link("/p/Shared/Start.swift"))
    #expect(plan.items["Sources/TheWeatherApp/Model.swift"] == .link("/p/Shared/Model.swift"))
    #expect(plan.items.keys.filter { $0.hasPrefix("Sources/TheWeatherApp/") }.count == 3)
    #expect(plan.products.map(\.hasSharedSources) == [false, true])
    var manifest = ""
    if case .text(let text)? = plan.items["Package.swift"] { manifest = text }
    let app = manifest.range(of: "name: \"TheWeatherApp\"").map { manifest[$0.upperBound...] } ?? ""
    #expect(app.contains("product(name: \"AppIntents\"") && app.contains("product(name: \"UIKit\""), "\(manifest)")

    // Without an intent nothing needs them, and one that does not compile with them has none.
    let plain = files.merging(["/p/Shared/Start.swift": "let b = 2\n"]) { $1 }
    let without = PackagePlan(try read(spec, files: plain), in: surroundings, files: all(spec, plain))
    #expect(without.products.map(\.hasSharedSources) == [false, false])
    surroundings.appsWithoutSources = Set(project.widgets.map(\.app.bundle))
    let alone = PackagePlan(project, in: surroundings, files: all(spec, files))
    #expect(alone.items["Sources/TheWeatherApp/Start.swift"] == nil)
    #expect(alone.products.map(\.hasSharedSources) == [false, false])
  }

  @Test func `a stand-in whose conditions import a missing module has no sources, and the widget has its own`() throws {
    let spec = Self.spec.replacing("sources: App", with: "sources: [App, Shared]").replacing(
      "sources: [Widget]", with: "sources: [Widget, Shared]"
    ).replacing("The Weather}", with: "The Weather, SWIFT_ACTIVE_COMPILATION_CONDITIONS: APP}")
    let intent =
      "import AppIntents\n#if APP\nimport FirebaseAnalytics\n#endif\nstruct Start: LiveActivityIntent {}\n"
    let files = Self.files.merging(["/p/Shared/Start.swift": intent]) { $1 }
    let surroundings = PackagePlan.Surroundings(
      output: "/out", widgetLab: "/lab", modules: ["AppIntents", "Foundation", "UIKit", "WidgetKit"], taken: [])
    let plan = PackagePlan(try read(spec, files: files), in: surroundings, files: all(spec, files))
    #expect(plan.missing.isEmpty && plan.wanted.isEmpty)
    #expect(plan.products.map(\.hasSharedSources) == [false, false])
    #expect(plan.items["Sources/Weather_Widget/Shared/Start.swift"] == .link("/p/Shared/Start.swift"))
    #expect(plan.items.keys.count { $0.hasPrefix("Sources/TheWeatherApp/") } == 1)
    #expect(plan.notes.contains { $0.reason.contains("FirebaseAnalytics") }, "\(plan.notes)")

    // What the extension lacks too is its own.
    let both = files.merging(["/p/Shared/Start.swift": intent.replacing("#if APP", with: "#if os(iOS)")]) { $1 }
    let lacking = PackagePlan(try read(spec, files: both), in: surroundings, files: all(spec, both))
    #expect(Array(lacking.missing.keys) == ["Weather_Widget"])
    #expect(!lacking.notes.contains { $0.reason.contains("FirebaseAnalytics") })
  }

  @Test func `the stand-in of an app with two extensions has the sources that it shares with each`() throws {
    let spec =
      Self.spec.replacing("sources: App", with: "sources: [App, Shared, Other]").replacing(
        "sources: [Widget]", with: "sources: [Widget, Shared]"
      ).replacing(
        "      - target: Weather_Widget", with: "      - target: Weather_Widget\n      - target: Clock_Widget")
        + """

          Clock_Widget:
            type: app-extension
            platform: iOS
            sources: [Clock, Shared, Other]
            dependencies:
              - sdk: WidgetKit.framework
        """
    let files = Self.files.merging([
      "/p/Shared/Model.swift": "let a = 1\n", "/p/Clock/Clock.swift": Self.widget.replacing("Weather", with: "Clock"),
      "/p/Other/Start.swift": "import AppIntents\nstruct Start: LiveActivityIntent {}\n",
    ]) { $1 }
    let project = try read(spec, files: files)
    #expect(project.widgets.map(\.app.sharedSources.count).sorted() == [1, 2])
    let surroundings = PackagePlan.Surroundings(
      output: "/out", widgetLab: "/lab", modules: ["AppIntents", "UIKit", "WidgetKit"], taken: [])
    let plan = PackagePlan(project, in: surroundings, files: all(spec, files))
    #expect(plan.products.filter(\.hasSharedSources).count == 1)
    let own = plan.items.filter { $0.key.hasPrefix("Sources/TheWeatherApp/") }.map(\.value)
    #expect(own.count == 3)
    #expect(own.contains(.link("/p/Shared/Model.swift")) && own.contains(.link("/p/Other/Start.swift")))
  }

  @Test func `includes other descriptions, with paths relative to them`() throws {
    let spec = """
      include:
        - path: Parts/widget.yml
        - {path: never.yml, enable: false}
      name: Weather
      targets: {Widget: {settings: {MARKETING_VERSION: "9.0"}, "sources:REPLACE": [Widget]}}
      """
    let part = """
      targets:
        Widget: {type: app-extension, platform: iOS, sources: [Old], info: {path: Info.plist, properties: {A: 1}}}
      """
    let widget = try widget(spec, files: Self.files.merging(["/p/Parts/widget.yml": part]) { $1 })
    #expect(widget.sources == ["/p/Widget/Weather.swift"])
    #expect(widget.version == "9.0")
    let second = spec.replacing("\"sources:REPLACE\": [Widget]", with: "sources: [Widget]")
    let files = Self.files.merging(["/p/Parts/widget.yml": part, "/p/Parts/Old/B.swift": ""]) { $1 }
    #expect(try self.widget(second, files: files).sources == ["/p/Parts/Old/B.swift", "/p/Widget/Weather.swift"])
  }

  @Test func `writes an Info.plist and entitlements, which need not be there`() throws {
    let spec = Self.spec.replacing(
      "    sources: [Widget]\n",
      with: """
            sources: [Widget]
            info:
              path: Generated/Info.plist
              properties:
                CFBundleDisplayName: Sky
                Count: 3
                NSExtension: {NSExtensionPointIdentifier: com.apple.widgetkit-extension}
            entitlements:
              path: Generated/W.entitlements
              properties: {com.apple.security.application-groups: [group.sky]}

        """)
    let project = try read(spec)
    let widget = try #require(project.widgets.first)
    #expect(widget.entitlements.groups == ["group.sky"])
    let data = try #require(widget.generatedInfoPlist)
    let keys = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    #expect(keys?["CFBundleDisplayName"] as? String == "Sky")
    #expect(keys?["Count"] as? Int == 3)
    #expect(keys?["CFBundleIdentifier"] as? String == "$(PRODUCT_BUNDLE_IDENTIFIER)")
    let plan = PackagePlan(
      project,
      in: PackagePlan.Surroundings(output: "/out", widgetLab: "/lab", modules: ["UIKit", "WidgetKit"], taken: []),
      files: all(spec))
    #expect(plan.items["Resources/Weather_Widget-Info.plist"] == .view(data, of: "/p/project.yml"))
    guard case .text(let yaml) = plan.items["widgetlab.yaml"] else { throw CocoaError(.fileReadUnknown) }
    #expect(yaml.contains("infoPlist: Resources/Weather_Widget-Info.plist"), "\(yaml)")
  }

  @Test(arguments: [
    ("from: 1.2.0", "from: \"1.2.0\""), ("majorVersion: 1.2.0", "from: \"1.2.0\""),
    ("minorVersion: 1.2.0", ".upToNextMinor(from: \"1.2.0\")"), ("exactVersion: 1.2.0", "exact: \"1.2.0\""),
    ("version: 1.2.0", "exact: \"1.2.0\""), ("branch: main", "branch: \"main\""), ("revision: a1", "revision: \"a1\""),
    ("minVersion: 1.0.0, maxVersion: 1.5.0", "\"1.0.0\"...\"1.5.0\""),
  ])
  func `has packages with their requirements`(version: String, requirement: String) throws {
    let spec =
      Self.spec
        + """

              - {package: Tools, products: [ToolsA, ToolsB]}
              - package: Local
        packages:
          Tools: {github: apple/tools, \(version)}
          Local: {path: ../Local}

        """
    let place = PackageProduct.Place.remote(url: "https://github.com/apple/tools", requirement: requirement)
    #expect(
      try widget(spec).products == [
        PackageProduct(name: "ToolsA", place: place), PackageProduct(name: "ToolsB", place: place),
        PackageProduct(name: "Local", place: .local("/Local")),
      ])
  }

  @Test func `has a target for each of its platforms`() throws {
    let spec = Self.spec.replacing(
      "    type: app-extension\n    platform: iOS", with: "    type: app-extension\n    platform: [iOS, watchOS]")
    let widgets = try read(spec).widgets
    #expect(widgets.map(\.name) == ["Weather_Widget_iOS", "Weather_Widget_watchOS"])
    #expect(widgets.map(\.platform) == ["iOS", "watchOS"])
    #expect(widgets.map(\.module) == ["Weather_Widget", "Weather_Widget"])
  }

  @Test func `has frameworks that the widget imports`() throws {
    let spec = Self.spec + "\n  Core: {type: framework, platform: iOS, sources: [Core]}\n"
    let widget = try widget(spec, files: Self.files.merging(["/p/Core/C.swift": ""]) { $1 })
    #expect(widget.libraries["Core"]?.sources == ["/p/Core/C.swift"])
  }

  @Test func `has several widget extensions`() throws {
    let spec = Self.spec + "\n  Other: {type: app-extension, platform: iOS, sources: [Widget]}\n"
    #expect(try read(spec).widgets.map(\.name) == ["Other", "Weather_Widget"])
  }

  // MARK: What cannot be read

  @Test func `notes a key that is not known, with its line`() throws {
    let widget = try widget(Self.spec + "\n    sorces: [Widget]\nextra: 1\n")
    #expect(widget.notes.contains { $0.subject == "line 21: sorces" }, "\(widget.notes)")
    #expect(widget.notes.contains { $0.subject == "line 22: extra" }, "\(widget.notes)")
  }

  @Test(arguments: [
    ("name: [", "line 2"), ("a: 1\nb: 2\n c: 3\n", "line 3"), ("a: 1\na: 2\n", "twice"),
    ("? [a]\n: 1\ntargets: {}\n", "line 1: a key is a list"), ("include: project.yml\n", "includes itself"),
  ])
  func `that is damaged is reported with the line`(spec: String, words: String) {
    let error = #expect(throws: ProjectError.self) { try read(spec) }
    #expect(error?.code == .damaged)
    #expect(error?.what.contains(words) == true, "\(String(describing: error))")
    #expect(error?.path == "/p/project.yml")
  }

  @Test func `with aliases of aliases is not expanded without bound`() {
    var spec = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...9 {
      let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
      spec += "a\(level): &a\(level) [\(aliases)]\n"
    }
    let error = #expect(throws: ProjectError.self) { try read(spec) }
    #expect(error?.what.contains("more than") == true)
  }

  @Test func `without targets names the command that generates the project`() {
    let error = #expect(throws: ProjectError.self) { try read("name: Weather", path: "/p/project.yml") }
    #expect(error?.code == .noWidget)
    #expect(error?.advice?.contains("xcodegen generate") == true)
  }

  @Test func `without a widget is reported`() {
    let spec = Self.spec.replacing("type: app-extension", with: "type: framework")
    let error = #expect(throws: ProjectError.self) { try read(spec, path: "/p/project.yml") }
    #expect(error?.code == .noWidget)
  }
}
