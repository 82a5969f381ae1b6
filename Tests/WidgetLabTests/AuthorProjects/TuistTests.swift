// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Foundation
import ProjectDescription
import Testing

@Suite struct `A manifest of Tuist` {
  private static let point: InfoPlist = .extendingDefault(with: [
    "NSExtension": ["NSExtensionPointIdentifier": "com.apple.widgetkit-extension"]
  ])

  private static let files = [
    "/p/Project.swift": "import ProjectDescription", "/p/Tuist/Config.swift": "",
    "/p/Widget/Sources/Sky.swift": "import WidgetKit\n@main struct Sky: Widget {}\n",
    "/p/Widget/Sources/Old/Old.swift": "", "/p/Widget/Resources/Assets.xcassets/Contents.json": "{}",
    "/p/Widget/Resources/de.lproj/Localizable.strings": "", "/p/App/App.swift": "", "/p/App/Days/day.json": "{}",
  ]

  private static func widget(
    product: Product = .appExtension, infoPlist: InfoPlist = point, sources: SourceFilesList = ["Widget/Sources/**"],
    resources: ResourceFileElements = ["Widget/Resources/**"], folders: [BuildableFolder] = [],
    entitlements: Entitlements? = nil, scripts: [TargetScript] = [], dependencies: [TargetDependency] = [],
    settings: Settings? = nil
  ) -> Target {
    .target(
      name: "SkyWidget", destinations: .iOS, product: product, bundleId: "com.example.Sky.Widget",
      deploymentTargets: .iOS("17.0"), infoPlist: infoPlist, sources: sources, resources: resources,
      buildableFolders: folders, entitlements: entitlements, scripts: scripts, dependencies: dependencies,
      settings: settings)
  }

  private static let app = Target.target(
    name: "Sky", destinations: .iOS, product: .app, bundleId: "com.example.Sky", sources: ["App/**"],
    dependencies: [.target(name: "SkyWidget")])

  private func project(
    _ widget: Target = Self.widget(), packages: [Package] = [], settings: Settings? = nil
  ) -> Project {
    Project(name: "Weather", packages: packages, settings: settings, targets: [Self.app, widget])
  }

  private func read(
    _ projects: [String: Project], path: String = "/p", files: [String: String] = [:]
  ) throws -> AuthorProject {
    let manifests = projects.mapValues { Data($0.description.json.utf8) }
    let all = FilesInMemory(texts: Self.files.merging(files) { $1 })
    return try AuthorProject.read(path, manifests: manifests, files: all)
  }

  private func widget(_ project: Project, files: [String: String] = [:]) throws -> WidgetTarget {
    try #require(try read(["/p/Project.swift": project], files: files).widgets.first)
  }

  // MARK: What is read

  @Test(arguments: ["/p", "/p/Project.swift"])
  func `is read as the project that Tuist generates`(path: String) throws {
    let project = try read(["/p/Project.swift": project()], path: path)
    #expect(project.name == "Weather" && project.path == "/p/Project.swift")
    let widget = try #require(project.widgets.first)
    #expect(project.widgets.count == 1)
    #expect(widget.name == "SkyWidget" && widget.module == "SkyWidget")
    #expect(widget.bundle == "com.example.Sky.Widget" && widget.app.bundle == "com.example.Sky")
    #expect(widget.deploymentTarget == "17.0" && widget.platform == "iOS")
    #expect(widget.sources == ["/p/Widget/Sources/Old/Old.swift", "/p/Widget/Sources/Sky.swift"])
    #expect(widget.resources.keys.sorted() == ["Assets.xcassets", "de.lproj/Localizable.strings"])
    #expect(widget.compiler.languageMode == 5 && widget.compiler.conditions == ["DEBUG"])
  }

  @Test func `has to run first`() throws {
    let error = #expect(throws: ProjectError.self) { try read([:]) }
    #expect(error?.code == .unevaluated && error?.path == "/p/Project.swift")
  }

  @Test func `with patterns and exceptions has the files that it names`() throws {
    let target = Self.widget(
      sources: [.glob("Widget/Sources/**", excluding: ["Widget/Sources/Old/**"])],
      resources: [.folderReference(path: "App/Days"), .glob(pattern: "//Widget/Resources/*.xcassets")])
    let widget = try widget(project(target))
    #expect(widget.sources == ["/p/Widget/Sources/Sky.swift"])
    #expect(widget.resources.keys.sorted() == ["Assets.xcassets", "Days"])
  }

  @Test func `with a synchronised folder has its files`() throws {
    let folder = BuildableFolder.folder("Widget", exceptions: [.exception(excluded: ["Sources/Old/Old.swift"])])
    let widget = try widget(project(Self.widget(sources: [], resources: [], folders: [folder])))
    #expect(widget.sources == ["/p/Widget/Sources/Sky.swift"])
    #expect(widget.resources["Assets.xcassets"] != nil)
  }

  @Test func `has the settings of the project below those of the target, for debugging`() throws {
    let project = project(
      Self.widget(
        settings: .settings(
          configurations: [
            .release(name: .release, settings: ["MARKETING_VERSION": "9", "CURRENT_PROJECT_VERSION": "8"]),
            .debug(
              name: "Debug",
              settings: [
                "CURRENT_PROJECT_VERSION": "7", "SWIFT_ACTIVE_COMPILATION_CONDITIONS": ["$(inherited)", "SKY"],
              ]),
          ])), settings: .settings(base: SettingsDictionary().swiftVersion("6.0").marketingVersion("2.1")))
    let widget = try widget(project)
    #expect(widget.compiler.languageMode == 6 && widget.compiler.conditions == ["DEBUG", "SKY"])
    #expect(widget.version == "2.1" && widget.build == "7")
    let plist = try #require(widget.generatedInfoPlist)
    let keys = try PropertyListSerialization.propertyList(from: plist, format: nil) as? [String: Any]
    #expect(keys?["CFBundlePackageType"] as? String == "XPC!")
  }

  @Test func `has settings of files between those of the project and of the target`() throws {
    let settings = Settings.settings(
      configurations: [.debug(name: .debug, xcconfig: "Project.xcconfig")],
      defaultSettings: .recommended(excluding: ["SWIFT_VERSION"]))
    let target = Self.widget(
      settings: .settings(configurations: [.debug(name: .debug, xcconfig: "Widget.xcconfig")]))
    let files = [
      "/p/Project.xcconfig": "SWIFT_VERSION = 6.0\nMARKETING_VERSION = 3\n",
      "/p/Widget.xcconfig": "MARKETING_VERSION = 4\n",
    ]
    let widget = try widget(project(target, settings: settings), files: files)
    #expect(widget.compiler.languageMode == 6 && widget.version == "4")
  }

  @Test func `leaves out what counts only for other platforms`() throws {
    let target = Self.widget(
      sources: [
        "Widget/Sources/Sky.swift", .glob("Widget/Sources/Old/**", compilationCondition: .when([.macos])),
      ], resources: [.folderReference(path: "App/Days", inclusionCondition: .when([.tvos]))])
    let widget = try widget(project(target))
    #expect(widget.sources == ["/p/Widget/Sources/Sky.swift"] && widget.resources.isEmpty)
  }

  @Test func `has entitlements and an Info.plist of a file, or as keys`() throws {
    let keys = try widget(
      project(
        Self.widget(entitlements: .dictionary(["com.apple.security.application-groups": ["group.com.example"]]))))
    #expect(keys.entitlements.groups == ["group.com.example"])
    let plist = try widget(
      project(Self.widget(infoPlist: "Widget/Info.plist")), files: ["/p/Widget/Info.plist": SmallProject.infoPlist])
    #expect(plist.infoPlist == "/p/Widget/Info.plist" && plist.generatedInfoPlist == nil)
  }

  @Test func `in the form of Tuist 3 is read too`() throws {
    let target = Target(
      name: "SkyWidget", platform: .iOS, product: .appExtension, bundleId: "com.example.Sky.Widget",
      deploymentTarget: .iOS(targetVersion: "16.0", devices: [.iphone, .ipad]), infoPlist: Self.point,
      sources: "Widget/Sources/**")
    #expect(try widget(project(target)).deploymentTarget == "16.0")
  }

  // MARK: Dependencies

  @Test func `has the products of packages, of the project and of Tuist's folder`() throws {
    let target = Self.widget(dependencies: [
      .package(product: "Rain"), .external(name: "Nuke"), .sdk(name: "WidgetKit", type: .framework), .xctest,
      .external(name: "Mac", condition: .when([.macos])),
    ])
    let project = project(
      target, packages: [.package(url: "https://example.com/Rain.git", .upToNextMajor(from: "1.2.0"))])
    let package = """
      let package = Package(name: "P", dependencies: [
        .package(url: "https://example.com/kean/Nuke", .upToNextMinor(from: "12.0.0")), .package(path: "../Other"),
      ])
      """
    let widget = try widget(project, files: ["/p/Tuist/Package.swift": package])
    #expect(
      widget.products == [
        PackageProduct(
          name: "Rain", place: .remote(url: "https://example.com/Rain.git", requirement: "from: \"1.2.0\"")),
        PackageProduct(
          name: "Nuke",
          place: .remote(url: "https://example.com/kean/Nuke", requirement: ".upToNextMinor(from: \"12.0.0\")")),
      ])
  }

  @Test func `has the frameworks of other projects, whose manifests run too`() throws {
    let core = Project(
      name: "Core",
      targets: [
        .target(
          name: "Core", destinations: .iOS, product: .framework, bundleId: "com.example.Core", sources: ["Sources/**"])
      ])
    let project = project(Self.widget(dependencies: [.project(target: "Core", path: "//Modules/Core")]))
    let files = [
      "/p/Modules/Core/Project.swift": "import ProjectDescription", "/p/Modules/Core/Sources/Core.swift": "",
    ]
    let error = #expect(throws: ProjectError.self) {
      try read(["/p/Project.swift": project], path: "/p/Project.swift", files: files)
    }
    #expect(error?.path == "/p/Modules/Core/Project.swift")
    let whole = try read(
      ["/p/Project.swift": project, "/p/Modules/Core/Project.swift": core], path: "/p", files: files)
    #expect(whole.widgets.first?.libraries["Core"]?.sources == ["/p/Modules/Core/Sources/Core.swift"])
  }

  @Test func `has the widget of another project once, with the app that contains it`() throws {
    let app = Project(
      name: "App",
      targets: [
        .target(
          name: "Sky", destinations: .iOS, product: .app, bundleId: "com.example.Sky", sources: ["App/**"],
          dependencies: [.project(target: "SkyWidget", path: "Widgets")])
      ])
    let widgets = Project(name: "Widgets", targets: [Self.widget(sources: ["Sky.swift"], resources: [])])
    let whole = try read(
      ["/p/Project.swift": app, "/p/Widgets/Project.swift": widgets],
      files: [
        "/p/Widgets/Project.swift": "import ProjectDescription",
        "/p/Widgets/Sky.swift": "import WidgetKit\n@main struct Sky: Widget {}\n",
        "/p/Tuist/ProjectDescriptionHelpers/Project.swift": "import ProjectDescription",
      ])
    #expect(whole.path == "/p/Project.swift" && whole.widgets.count == 1)
    #expect(whole.widgets.first?.sources == ["/p/Widgets/Sky.swift"])
    #expect(whole.widgets.first?.app.bundle == "com.example.Sky")
  }

  @Test(arguments: [
    (
      ".package(url: \"https://e.com/apple/swift-algorithms.git\", .exact(\"1.0.0\"),)", "Algorithms",
      "exact: \"1.0.0\""
    ),
    (".package(url: \"https://e.com/o/Nuke\", branch: \"main\", traits: [\"A\"])", "Nuke", "branch: \"main\""),
    (".package(url: \"https://e.com/o/Nuke\", .upToNextMajor(from: \"2.0.0\"))", "Nuke", "from: \"2.0.0\""),
  ])
  func `has products of Tuist's package in all forms`(package: String, product: String, requirement: String) throws {
    let target = Self.widget(dependencies: [.external(name: product)])
    let text = "dependencies: [\(package), .package(path: \"../Other\")]"
    let place = try widget(project(target), files: ["/p/Tuist/Package.swift": text]).products.first?.place
    guard case .remote(_, let found) = place else { return #expect(place == nil, "not found") }
    #expect(found == requirement)
  }

  @Test func `names what is left out`() throws {
    let widget = try widget(
      project(
        Self.widget(
          scripts: [.pre(script: "swiftlint", name: "Lint")],
          dependencies: [.xcframework(path: "Ads.xcframework"), .project(target: "Gone", path: "../Gone")])))
    let subjects = widget.notes.map(\.subject)
    #expect(subjects.contains("Lint") && subjects.contains("Ads.xcframework"))
    #expect(subjects.contains { $0.hasSuffix("Gone/Project.swift") })
  }

  // MARK: What is wrong

  @Test func `without a widget, and one that printed something else, are refused`() throws {
    let none = #expect(throws: ProjectError.self) {
      try read(["/p/Project.swift": Project(name: "P", targets: [Self.app])], path: "/p/Project.swift")
    }
    #expect(none?.code == .noWidget)
    let damaged = #expect(throws: ProjectError.self) {
      try AuthorProject.read(
        "/p/Project.swift", manifests: ["/p/Project.swift": Data("[]".utf8)], files: FilesInMemory(texts: Self.files))
    }
    #expect(damaged?.code == .damaged)
  }

  @Test func `prints texts that JSON can hold`() throws {
    let json = Description.map(["a": .text("\"\\\n\u{1}é"), "b": .list([.integer(-3), .number(0.5), .boolean(true)])])
      .json
    let keys = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(keys["a"] as? String == "\"\\\n\u{1}é")
    #expect((keys["b"] as? [NSNumber])?.map(\.doubleValue) == [-3, 0.5, 1])
  }
}
