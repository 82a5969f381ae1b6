// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Foundation
import Testing

@Suite struct `Local packages of a project` {
  /// A project whose widget links the product Feature, whose package the project file does not name.
  private var project: SmallProject {
    var project = SmallProject()
    project.objects["W"]? += " packageProductDependencies = (PP, );"
    project.objects["PP"] = "isa = XCSwiftPackageProductDependency; productName = Feature;"
    project.files.texts["/p/App/Widget/Weather.swift"] = "import WidgetKit\nimport Feature\n@main struct W: Widget {}\n"
    return project
  }

  private static let manifest = "products: [.library(name: \"Feature\", targets: [\"Feature\"])]"

  private func place(_ project: SmallProject) throws -> PackageProduct.Place? {
    try project.read().widgets.first?.products.first?.place
  }

  // MARK: The search

  @Test(arguments: [
    "<FileRef location = \"group:Packages/Feature\"></FileRef>",
    "<Group location = \"container:Packages\" name = \"P\"><FileRef location = \"group:Feature\"></FileRef></Group>",
    "<Group name = \"P\"><FileRef location = \"absolute:/p/Packages/Feature\"></FileRef></Group>",
    "<FileRef location = \"group:Packages\"></FileRef>",
  ])
  func `is found in a workspace above the project, also in a group and in a folder`(reference: String) throws {
    var project = project
    project.files.texts["/p/Packages/Feature/Package.swift"] = Self.manifest
    project.files.texts["/p/All.xcworkspace/contents.xcworkspacedata"] = """
      <Workspace version = "1.0">\(reference)<FileRef location = "group:Other.xcodeproj"></FileRef></Workspace>
      """
    #expect(try place(project) == .local("/p/Packages/Feature"))
  }

  @Test func `is found in a folder of the repository`() throws {
    var project = project
    project.files.texts["/p/Libraries/Deep/Feature/Package.swift"] = Self.manifest
    #expect(try place(project) == .unknown)
    project.files.texts["/p/.git/HEAD"] = ""
    #expect(try place(project) == .local("/p/Libraries/Deep/Feature"))
  }

  @Test func `that declares the product comes before one that only names it`() throws {
    var project = project
    project.files.texts["/p/.git/HEAD"] = ""
    project.files.texts["/p/A/Package.swift"] = "dependencies: [.product(name: \"Feature\", package: \"Feature\")]"
    project.files.texts["/p/B/Package.swift"] = Self.manifest
    #expect(try place(project) == .local("/p/B"))
  }

  // MARK: Its targets

  /// The description of a package as SwiftPM prints it.
  private static func description(
    _ targets: String, products: String = #"{"name": "Feature", "targets": ["Feature"]}"#, dependencies: String = ""
  ) -> Data {
    Data(
      """
      {"name": "Feature", "dependencies": [\(dependencies)], "products": [\(products)], "swiftLanguageVersions": null,
       "targets": [\(targets)], "toolsVersion": {"_version": "5.9.0"}}
      """.utf8)
  }

  private static func target(_ name: String, _ more: String = "") -> String {
    #"{"name": "\#(name)", "type": "regular", "exclude": [], "resources": [], "settings": [], "dependencies": []\#(more)}"#
  }

  /// The plan of a project whose package is in `/p/Feature`.
  private func plan(
    _ packages: [String: Data], files: [String: String], taken takenNames: Set<String> = [],
    _ change: (inout PackagePlan.Surroundings) -> Void = { _ in }
  ) throws -> PackagePlan {
    var project = project
    project.files.texts["/p/.git/HEAD"] = ""
    project.files.texts["/p/Feature/Package.swift"] = Self.manifest
    project.files.texts.merge(files) { $1 }
    var surroundings = PackagePlan.Surroundings(
      output: "/out", widgetLab: "/lab", modules: ["SwiftUI", "UIKit", "WidgetKit"], taken: takenNames)
    for (folder, json) in packages {
      surroundings.packages.packages[folder] = SwiftPackage(json, folder: folder)
    }
    change(&surroundings)
    return PackagePlan(try project.read(), in: surroundings, files: project.all)
  }

  private func manifest(_ plan: PackagePlan) throws -> String {
    guard case .text(let text) = plan.items["Package.swift"] else { throw CocoaError(.fileReadUnknown) }
    return text
  }

  @Test func `is compiled as targets that can import WidgetLab's modules, with their settings`() throws {
    let settings = """
      , "settings": [
        {"tool": "swift", "kind": {"define": {"_0": "PHONE"}}, "condition": {"platformNames": ["ios"]}},
        {"tool": "swift", "kind": {"define": {"_0": "MAC"}}, "condition": {"platformNames": ["macos"]}},
        {"tool": "swift", "kind": {"define": {"_0": "SHIPPED"}}, "condition": {"platformNames": [], "config": "release"}},
        {"tool": "swift", "kind": {"enableExperimentalFeature": {"_0": "Lifetimes"}}},
        {"tool": "swift", "kind": {"swiftLanguageMode": {"_0": "6"}}},
        {"tool": "swift", "kind": {"unsafeFlags": {"_0": ["-Ounchecked"]}}}], "dependencies": [{"byName": ["Core", null]}]
      """
    let json = Self.description(Self.target("Feature", settings) + "," + Self.target("Core"))
    let plan = try plan(
      ["/p/Feature": json],
      files: [
        "/p/Feature/Sources/Feature/View.swift": "import SwiftUI\nimport Core\n",
        "/p/Feature/Sources/Core/Core.swift": "import UIKit\n",
      ])
    #expect(plan.missing.isEmpty)
    #expect(plan.items["Sources/Feature/View.swift"] == .link("/p/Feature/Sources/Feature/View.swift"))
    #expect(plan.items["Sources/Core/Core.swift"] == .link("/p/Feature/Sources/Core/Core.swift"))
    let manifest = try manifest(plan)
    #expect(
      manifest.contains(
        "[.swiftLanguageMode(.v6), .enableExperimentalFeature(\"Lifetimes\"), .define(\"PHONE\")]"), "\(manifest)")
    #expect(manifest.contains(".product(name: \"SwiftUI\", package: \"widgetlab\")"))
    #expect(manifest.contains(".target(name: \"Core\")"))
    #expect(plan.notes.contains { $0.subject == "unsafeFlags -Ounchecked" })
  }

  @Test func `comes before a module of WidgetLab with the same name`() throws {
    let json = Self.description(
      Self.target("Feature", #", "dependencies": [{"byName": ["Network", null]}]"#) + "," + Self.target("Network"))
    let plan = try plan(
      ["/p/Feature": json],
      files: [
        "/p/Feature/Sources/Feature/View.swift": "import SwiftUI\nimport Network\n",
        "/p/Feature/Sources/Network/Client.swift": "import Foundation\n",
      ]
    ) { $0.modules.insert("Network") }
    let manifest = try manifest(plan)
    #expect(plan.missing.isEmpty)
    #expect(manifest.contains(".target(name: \"Network\")"), "\(manifest)")
    #expect(!manifest.contains("Network=NetworkAPI"))
    #expect(!manifest.contains(".product(name: \"Network\", package: \"widgetlab\")"))
    #expect(manifest.contains("Security=SecurityAPI"))
  }

  @Test func `names a module that it imports and that does not exist`() throws {
    let plan = try plan(
      ["/p/Feature": Self.description(Self.target("Feature"))],
      files: ["/p/Feature/Sources/Feature/Store.swift": "\nimport CoreData\nclass A: NSManagedObject {}\n"])
    #expect(
      plan.missing == [
        "Weather Widget": [
          PackagePlan.MissingModule(module: "CoreData", path: "/p/Feature/Sources/Feature/Store.swift", line: 2)
        ]
      ])
  }

  @Test func `has its sources where the manifest says`() throws {
    let places = #", "path": "Code", "exclude": ["Old"], "sources": ["Main", "One.swift"]"#
    let plan = try plan(
      ["/p/Feature": Self.description(Self.target("Feature", places))],
      files: [
        "/p/Feature/Code/Main/A.swift": "", "/p/Feature/Code/One.swift": "", "/p/Feature/Code/Two.swift": "",
        "/p/Feature/Code/Old/B.swift": "",
      ])
    let sources = plan.items.keys.filter { $0.hasPrefix("Sources/Feature/") }.sorted()
    #expect(sources == ["Sources/Feature/Main/A.swift", "Sources/Feature/One.swift"])
  }

  @Test func `has the bundle of its resources`() throws {
    let resources =
      #", "resources": [{"path": "Files", "rule": {"process": {}}}, {"path": "Raw", "rule": {"copy": {}}}]"#
    let folder = "/p/Feature/Sources/Feature"
    let plan = try plan(
      ["/p/Feature": Self.description(Self.target("Feature", resources))],
      files: [
        "\(folder)/A.swift": "", "\(folder)/Files/de.lproj/L.strings": "", "\(folder)/Files/Sub/a.json": "",
        "\(folder)/Raw/b.json": "", "\(folder)/Colours.xcassets/Contents.json": "", "\(folder)/README.md": "",
        "\(folder)/other.json": "", "\(folder)/Model.xcdatamodeld/x": "",
      ])
    let prefix = "Sources/Feature/ResourcesOfBundle/"
    #expect(plan.items[prefix + "de.lproj/L.strings"] == .resource("\(folder)/Files/de.lproj/L.strings"))
    #expect(plan.items[prefix + "a.json"] == .resource("\(folder)/Files/Sub/a.json"))
    #expect(plan.items[prefix + "Raw"] == .resource("\(folder)/Raw"))
    #expect(plan.items[prefix + "Colours.xcassets"] == .resource("\(folder)/Colours.xcassets"))
    #expect(plan.items.keys.count { $0.hasPrefix(prefix) } == 4)
    #expect(plan.notes.contains { $0.subject == "Model.xcdatamodeld" })
    let manifest = try manifest(plan)
    #expect(manifest.contains(".copy(\"ResourcesOfBundle/de.lproj\")"))
    #expect(manifest.contains("defaultLocalization"))
  }

  @Test(arguments: [
    ("regular", "a.c", "Objective-C, C or C++"), ("binary", "A.swift", "binary"), ("macro", "A.swift", "macro"),
    ("regular", "a.txt", "no Swift sources"),
  ])
  func `has no module for a target that cannot be compiled, and the reason is noted`(
    kind: String, file: String, reason: String
  ) throws {
    let targets =
      Self.target("Feature", #", "dependencies": [{"target": ["Hard", null]}]"#) + ","
      + Self.target("Hard").replacing("regular", with: kind)
    let plan = try plan(
      ["/p/Feature": Self.description(targets)],
      files: [
        "/p/Feature/Sources/Feature/A.swift": "import Hard\n#if canImport(Hard)\nimport Nothing\n#endif\n",
        "/p/Feature/Sources/Hard/\(file)": "",
      ])
    #expect(plan.missing["Weather Widget"]?.map(\.module) == ["Hard"])
    #expect(plan.reasonsForMissing.map(\.subject) == ["Hard"], "\(plan.notes)")
    #expect(plan.reasonsForMissing.allSatisfy { $0.reason.contains(reason) }, "\(plan.notes)")
  }

  @Test func `that has the name of a target of WidgetLab gets another name, and its module keeps it`() throws {
    let plan = try plan(
      ["/p/Feature": Self.description(Self.target("Feature"))],
      files: ["/p/Feature/Sources/Feature/A.swift": ""], taken: ["Feature"])
    #expect(plan.missing.isEmpty)
    let manifest = try manifest(plan)
    #expect(manifest.contains(".target(name: \"FeatureTarget\")"))
    #expect(manifest.contains("\"-module-alias\", \"Feature=FeatureTarget\""))
  }

  // MARK: Other packages

  private static let dependencies = """
    {"fileSystem": [{"identity": "tools", "path": "/p/Tools"}]},
    {"sourceControl": [{"identity": "swift-algorithms", "location": {"remote": [{"urlString": "https://example.com/swift-algorithms.git"}]},
      "requirement": {"range": [{"lowerBound": "1.2.0", "upperBound": "2.0.0"}]}}]}
    """

  private static let uses = """
    , "dependencies": [{"product": ["Tools", "tools", null, null]}, {"product": ["Algorithms", "swift-algorithms", null, null]},
    {"product": ["Mac", "tools", null, {"platformNames": ["macos"]}]}]
    """

  @Test func `depends on other local packages, which must be described too`() throws {
    var packages = LocalPackages()
    let product = PackageProduct(name: "Feature", place: .local("/p/Feature"))
    #expect(packages.unknown(for: [product]) == ["/p/Feature"])
    packages.packages["/p/Feature"] = SwiftPackage(
      Self.description(Self.target("Feature", Self.uses), dependencies: Self.dependencies), folder: "/p/Feature")
    #expect(packages.unknown(for: [product]) == ["/p/Tools"])
    packages.failures["/p/Tools"] = "damaged"
    #expect(packages.unknown(for: [product]).isEmpty)
  }

  @Test func `links the products of remote packages that it imports`() throws {
    let json = Self.description(Self.target("Feature", Self.uses), dependencies: Self.dependencies)
    let tools = Self.description(Self.target("Tools"), products: #"{"name": "Tools", "targets": ["Tools"]}"#)
    let files = [
      "/p/Feature/Sources/Feature/A.swift": "import Algorithms\nimport Tools\n", "/p/Tools/Sources/Tools/T.swift": "",
    ]
    let remote = PackageProduct(
      name: "Algorithms",
      place: .remote(url: "https://example.com/swift-algorithms.git", requirement: "from: \"1.2.0\""))
    let without = try plan(["/p/Feature": json, "/p/Tools": tools], files: files)
    #expect(without.missing["Weather Widget"]?.map(\.module) == ["Algorithms"])
    #expect(without.wanted == [remote])
    let with = try plan(["/p/Feature": json, "/p/Tools": tools], files: files) {
      $0.checkouts[remote.place] = "/checkouts/swift-algorithms"
    }
    #expect(with.missing.isEmpty)
    #expect(try manifest(with).contains(".product(name: \"Algorithms\", package: \"swift-algorithms\")"))
    #expect(try manifest(with).contains(".target(name: \"Tools\")"))
  }

  @Test func `include a remote package for Apple's platforms only`() throws {
    let json = Self.description(Self.target("Feature", Self.uses), dependencies: Self.dependencies)
    let place = PackageProduct.Place.remote(
      url: "https://example.com/swift-algorithms.git", requirement: "from: \"1.2.0\"")
    let folder = "/checkouts/swift-algorithms"
    let algorithms = Self.description(
      Self.target("Algorithms"), products: #"{"name": "Algorithms", "targets": ["Algorithms"]}"#)
    let tools = Self.description(Self.target("Tools"), products: #"{"name": "Tools", "targets": ["Tools"]}"#)
    let files = [
      "/p/Feature/Sources/Feature/A.swift": "import Algorithms\nimport Tools\n", "/p/Tools/Sources/Tools/T.swift": "",
      folder + "/Sources/Algorithms/A.swift": "import SwiftUI\n",
    ]
    let plan = try plan(["/p/Feature": json, "/p/Tools": tools, folder: algorithms], files: files) {
      $0.checkouts[place] = folder
      $0.packages.remote[place] = folder
    }
    #expect(plan.missing.isEmpty)
    let manifest = try manifest(plan)
    #expect(manifest.contains(".target(name: \"Algorithms\")"))
    #expect(!manifest.contains(".product(name: \"Algorithms\""))
    #expect(plan.items["Sources/Algorithms/A.swift"] == .link(folder + "/Sources/Algorithms/A.swift"))
  }

  @Test(arguments: [
    ("import SwiftUI\n", true), ("import Foundation\nlet session = URLSession.shared\n", true),
    ("import Foundation\n", false), ("#if canImport(SwiftUI)\nimport SwiftUI\n#endif\n", false),
    ("import Foundation\nimport FoundationNetworking\nlet session = URLSession.shared\n", false),
    ("import Foundation\nfunc < (a: NSNumber, b: NSNumber) -> Bool { false }\n", true),
    ("import Foundation\nlet a = CFStringConvertIANACharSetNameToEncoding(b)\n", true),
    ("import Foundation\n#if !os(Linux)\nlet a = b as CFString\n#endif\n", false),
    ("import CoreFoundation\nlet a: CFIndex = 0\n", false),
    ("import Foundation\n// URLSession\n", false), ("#if os(Linux)\nimport Glibc\n#else\nimport os\n#endif\n", false),
  ]) func `of which a remote one is for Apple's platforms only by its sources`(source: String, expected: Bool) {
    var packages = LocalPackages()
    packages.packages["/c/Sky"] = SwiftPackage(Self.description(Self.target("Sky")), folder: "/c/Sky")
    func isForApple(_ files: [String: String]) -> Bool {
      let remote = RemotePackages(packages, modules: ["Security", "SwiftUI", "os"], files: FilesInMemory(texts: files))
      return remote.areForApple(["Sky"], in: "/c/Sky")
    }
    #expect(isForApple(["/c/Sky/Sources/Sky/A.swift": source]) == expected)
  }

  @Test func `of which a remote one needs sources in Swift, and one of its products decides for all`() {
    var packages = LocalPackages()
    let both = Self.target("Rain", #", "dependencies": [{"target": ["CRain", null]}]"#) + "," + Self.target("CRain")
    packages.packages["/c/Sky"] = SwiftPackage(
      Self.description(Self.target("Sky") + "," + both, products: ""), folder: "/c/Sky")
    let files = [
      "/c/Sky/Sources/Sky/A.swift": "import SwiftUI\n", "/c/Sky/Sources/Rain/B.swift": "import Foundation\n",
      "/c/Sky/Sources/CRain/a.swift": "",
    ]
    func isForApple(_ products: [String], _ files: [String: String]) -> Bool {
      RemotePackages(packages, modules: ["SwiftUI"], files: FilesInMemory(texts: files))
        .areForApple(products, in: "/c/Sky")
    }
    #expect(!isForApple(["Rain"], files))
    #expect(isForApple(["Rain", "Sky"], files))
    var withC = files
    withC["/c/Sky/Sources/CRain/a.swift"] = nil
    withC["/c/Sky/Sources/CRain/a.c"] = "int a;"
    #expect(!isForApple(["Rain", "Sky"], withC))
    #expect(isForApple(["Sky"], withC))
  }

  @Test func `name a product of a remote package without the package`() throws {
    let dependencies = ["Other", "Nuke"].map {
      #"{"sourceControl": [{"location": {"remote": [{"urlString": "https://example.com/\#($0)"}]}, "requirement": {"exact": ["1.0.0"]}}]}"#
    }
    let json = Self.description(
      Self.target("Feature", #", "dependencies": [{"byName": ["Nuke", null]}]"#),
      dependencies: dependencies.joined(separator: ","))
    let plan = try plan(["/p/Feature": json], files: ["/p/Feature/Sources/Feature/A.swift": "import Nuke\n"])
    #expect(
      plan.wanted.contains(
        PackageProduct(
          name: "Nuke", place: .remote(url: "https://example.com/Nuke", requirement: "exact: \"1.0.0\""))))
  }

  // MARK: A package with a widget

  @Test func `with a widget and no project are compiled as their manifest says`() throws {
    let files = FilesInMemory(texts: [
      "/p/Package.swift": "",
      "/p/Sources/Sky/Sky.swift": "import WidgetKit\nimport Core\n@main struct Sky: Widget {}\n",
      "/p/Sources/Sky/Old.swift": "import Nothing\n", "/p/Sources/Core/Core.swift": "import SwiftUI\n",
    ])
    let project = try AuthorProject.read("/p", files: files)
    #expect(project.widgets.first?.products == [PackageProduct(name: "Sky", place: .local("/p"))])
    var surroundings = PackagePlan.Surroundings(
      output: "/out", widgetLab: "/lab", modules: ["SwiftUI", "UIKit", "WidgetKit"], taken: [])
    let sky = Self.target(
      "Sky",
      #"""
      , "dependencies": [{"target": ["Core", null]}], "exclude": ["Old.swift"],
      "settings": [{"tool": "swift", "kind": {"define": {"_0": "SKY"}}}]
      """#)
    surroundings.packages.packages["/p"] = SwiftPackage(
      Self.description(sky + "," + Self.target("Core"), products: ""), folder: "/p")
    let plan = PackagePlan(project, in: surroundings, files: files)
    #expect(plan.missing.isEmpty, "\(plan.missing)")
    #expect(plan.items["Sources/Sky/Sky.swift"] != nil && plan.items["Sources/Sky/Old.swift"] == nil)
    #expect(plan.items["Sources/Core/Core.swift"] != nil)
    #expect(try manifest(plan).contains(".define(\"SKY\")"))
    #expect(plan.products.map(\.name) == ["Sky", "pApp"])
  }

  @Test(arguments: ["", "{}", "[]", #"{"name": "A"}"#])
  func `whose description is damaged is not one`(text: String) {
    #expect(SwiftPackage(Data(text.utf8), folder: "/p") == nil)
  }
}
