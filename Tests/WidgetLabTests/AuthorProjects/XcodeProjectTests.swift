// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Testing

@Suite struct `An Xcode project` {
  @Test func `the sources of the target are found in groups, folders beside the project and other trees`() throws {
    let widget = try #require(try SmallProject().read().widgets.first)
    #expect(widget.sources == ["/p/App/Widget/Weather.swift", "/p/Shared/Model.swift"])
    #expect(widget.name == "Weather Widget")
    #expect(widget.module == "Weather_Widget")
  }

  @Test func `the resources have the names of their bundle, with the folder of a language`() throws {
    let widget = try #require(try SmallProject().read().widgets.first)
    #expect(
      widget.resources == [
        "Assets.xcassets": "/p/App/Widget/Assets.xcassets",
        "de.lproj/Localizable.strings": "/p/App/Widget/de.lproj/Localizable.strings",
        "en.lproj/Localizable.strings": "/p/App/Widget/en.lproj/Localizable.strings",
      ])
  }

  @Test func `build settings are those of Debug, with references to other settings inserted`() throws {
    let widget = try #require(try SmallProject().read().widgets.first)
    #expect(widget.bundle == "com.example.Weather.Widget")
    #expect(widget.app.bundle == "com.example.Weather")
    #expect(widget.app.displayName == "The Weather")
    #expect(widget.version == "2.1")
    #expect(widget.compiler.conditions == ["DEBUG", "WIDGET"])
    #expect(widget.compiler.languageMode == 5)
    #expect(widget.platform == "iOS")
    #expect(widget.entitlements.groups == ["group.com.example.Weather"])
    #expect(widget.entitlements.pushEnvironment == "development")
  }

  @Test func `an unknown build setting of the Info.plist is empty and is not an error`() throws {
    let widget = try #require(try SmallProject().read().widgets.first)
    #expect(widget.infoPlistSettings == ["CURRENT_PROJECT_VERSION": "1", "HOST": ""])
  }

  @Test func `an unknown build setting of an identifier is listed`() throws {
    var project = SmallProject()
    project.objects["WD"] = project.objects["WD"]?.replacing(
      "$(PREFIX).Weather.Widget", with: "$(NOPE)com.example.Weather.W")
    let widget = try #require(try project.read().widgets.first)
    #expect(widget.bundle == "com.example.Weather.W")
    #expect(widget.notes.contains { $0.subject == "$(NOPE)" && $0.reason.contains("not known") })
  }

  @Test func `settings of an xcconfig file are below those of the project, and have conditions and includes`() throws {
    var project = SmallProject()
    project.objects["FX"] = "isa = PBXFileReference; path = Base.xcconfig; sourceTree = SOURCE_ROOT;"
    project.objects["G"] = "isa = PBXGroup; children = (GW, GS, FX, ); sourceTree = \"<group>\";"
    project.objects["PD"] = """
      isa = XCBuildConfiguration; name = Debug; baseConfigurationReference = FX;
        buildSettings = { SDKROOT = iphoneos; };
      """
    project.files.texts["/p/App/Base.xcconfig"] = """
      #include "More.xcconfig"
      PREFIX[sdk=iphoneos*] = com.phone // the phone
      PREFIX = com.other
      """
    project.files.texts["/p/App/More.xcconfig"] = "SWIFT_VERSION = 6.0\nPREFIX = com.more\n"
    let widget = try #require(try project.read().widgets.first)
    #expect(widget.compiler.languageMode == 6)
    #expect(widget.bundle == "com.phone.Weather.Widget")
  }

  @Test func `a synchronised folder has all its files except those that are excepted`() throws {
    var project = SmallProject()
    project.objects["W"] = """
      isa = PBXNativeTarget; name = Widget; productType = "com.apple.product-type.app-extension";
        buildConfigurationList = WL; buildPhases = (); fileSystemSynchronizedGroups = (SG, );
      """
    project.objects["GW"] = nil
    project.objects["G"] = "isa = PBXGroup; children = (SG, SA, ); sourceTree = \"<group>\";"
    project.objects["SG"] = """
      isa = PBXFileSystemSynchronizedRootGroup; path = Widget; sourceTree = "<group>"; exceptions = (E, );
      """
    project.objects["E"] = """
      isa = PBXFileSystemSynchronizedBuildFileExceptionSet; target = W; membershipExceptions = (Info.plist, Old.swift, );
      """
    project.objects["SA"] = """
      isa = PBXFileSystemSynchronizedRootGroup; path = Weather; sourceTree = "<group>"; exceptions = (EA, );
      """
    project.objects["EA"] = """
      isa = PBXFileSystemSynchronizedBuildFileExceptionSet; target = W; membershipExceptions = (Deep/Shared.swift, );
      """
    project.files.texts["/p/App/Widget/Old.swift"] = ""
    project.files.texts["/p/App/Widget/Views/Big.swift"] = ""
    project.files.texts["/p/App/Weather/Deep/Shared.swift"] = ""
    project.files.texts["/p/App/Weather/App.swift"] = ""
    let widget = try #require(try project.read().widgets.first)
    #expect(
      widget.sources == [
        "/p/App/Weather/Deep/Shared.swift", "/p/App/Widget/Views/Big.swift", "/p/App/Widget/Weather.swift",
      ])
    #expect(
      widget.resources.keys.sorted() == [
        "Assets.xcassets", "de.lproj/Localizable.strings", "en.lproj/Localizable.strings",
      ])
  }

  @Test func `an extension with another extension point is not a widget`() throws {
    var project = SmallProject()
    project.files.texts["/p/App/Widget/Info.plist"] = SmallProject.infoPlist.replacing(
      "widgetkit-ext", with: "share-ext")
    let error = #expect(throws: ProjectError.self) { try project.read() }
    #expect(error?.code == .noWidget)
  }

  @Test func `a target without its own Info.plist is a widget when it links WidgetKit`() throws {
    var project = SmallProject()
    project.files.texts["/p/App/Widget/Info.plist"] = nil
    project.files.texts["/p/App/Widget/Weather.swift"] = "struct Weather {}"
    project.objects["W"] = project.objects["W"]?.replacing("(S, R, )", with: "(S, R, L, )")
    project.objects["L"] = "isa = PBXFrameworksBuildPhase; files = (BF, );"
    project.objects["BF"] = "isa = PBXBuildFile; fileRef = FW;"
    project.objects["FW"] = "isa = PBXFileReference; name = WidgetKit.framework; sourceTree = SDKROOT;"
    #expect(try project.read().widgets.first?.infoPlist == nil)
  }

  @Test func `packages of the project are known with their place and requirement`() throws {
    var project = SmallProject()
    project.objects["W"]? += " packageProductDependencies = (PP, PQ, );"
    project.objects["PP"] = "isa = XCSwiftPackageProductDependency; productName = Algorithms; package = PR1;"
    project.objects["PR1"] = """
      isa = XCRemoteSwiftPackageReference; repositoryURL = "https://github.com/apple/swift-algorithms";
        requirement = { kind = upToNextMajorVersion; minimumVersion = 1.2.0; };
      """
    project.objects["PQ"] = "isa = XCSwiftPackageProductDependency; productName = Core; package = PR2;"
    project.objects["PR2"] = "isa = XCLocalSwiftPackageReference; relativePath = ../Core;"
    let products = try #require(try project.read().widgets.first).products
    #expect(
      products == [
        PackageProduct(
          name: "Algorithms",
          place: .remote(url: "https://github.com/apple/swift-algorithms", requirement: "from: \"1.2.0\"")),
        PackageProduct(name: "Core", place: .local("/p/Core")),
      ])
  }

  @Test(arguments: [
    ("kind = branch; branch = main;", "branch: \"main\""),
    ("kind = exactVersion; version = 1.0.0;", "exact: \"1.0.0\""),
    ("kind = upToNextMinorVersion; minimumVersion = 1.0;", ".upToNextMinor(from: \"1.0\")"),
    ("kind = versionRange; minimumVersion = 1.0; maximumVersion = 2.0;", "\"1.0\"..<\"2.0\""),
    ("kind = branch; branch = \"a\\\"), .run(\\\"b\";", nil), ("kind = written; requirement = \"run()\";", nil),
  ])
  func `a requirement is passed on only in the forms that SwiftPM has`(text: String, expected: String?) throws {
    var project = SmallProject()
    project.objects["W"]? += " packageProductDependencies = (PP, );"
    project.objects["PP"] = "isa = XCSwiftPackageProductDependency; productName = A; package = PR;"
    project.objects["PR"] =
      "isa = XCRemoteSwiftPackageReference; repositoryURL = \"https://e.org/a\"; requirement = { \(text) };"
    let place = try #require(try project.read().widgets.first).products.first?.place
    #expect(place == expected.map { .remote(url: "https://e.org/a", requirement: $0) } ?? .unknown)
  }

  @Test func `the settings of concurrency of a new project are read`() throws {
    var project = SmallProject()
    project.objects["WD"] = project.objects["WD"]?.replacing(
      "MARKETING_VERSION = 2.1;",
      with: "SWIFT_DEFAULT_ACTOR_ISOLATION = MainActor; SWIFT_APPROACHABLE_CONCURRENCY = YES;")
    let widget = try #require(try project.read().widgets.first)
    #expect(widget.compiler.isMainActorByDefault)
    #expect(widget.compiler.upcomingFeatures.contains("NonisolatedNonsendingByDefault"))
  }

  @Test func `a file that does not exist is listed`() throws {
    var project = SmallProject()
    project.files.texts["/p/Shared/Model.swift"] = nil
    let widget = try #require(try project.read().widgets.first)
    #expect(widget.sources == ["/p/App/Widget/Weather.swift"])
    #expect(widget.notes.contains { $0.subject == "../Shared/Model.swift" })
  }

  // MARK: What cannot be read

  @Test(arguments: [
    ("{ objects = {", "not a property list"), ("{ objects = {}; rootObject = X; }", "no root object"),
    (String(repeating: "(", count: 100_000), "not a property list"),
    ("{\n<<<<<<< HEAD\n}", "line 2 is a conflict"),
  ])
  func `a damaged project file is reported with its path`(text: String, words: String) {
    let files = FilesInMemory(texts: [SmallProject.path + "/project.pbxproj": text])
    let error = #expect(throws: ProjectError.self) { try AuthorProject.read(SmallProject.path, files: files) }
    #expect(error?.code == .damaged)
    #expect(error?.what.contains(words) == true, "\(String(describing: error))")
    #expect(error?.path == SmallProject.path + "/project.pbxproj")
  }

  @Test func `a group that contains itself is read once`() throws {
    var project = SmallProject()
    project.objects["GS"] = "isa = PBXGroup; path = ../Shared; sourceTree = SOURCE_ROOT; children = (F4, GS, G, );"
    #expect(try project.read().widgets.count == 1)
  }

  @Test func `a build setting that refers to itself is empty`() throws {
    var project = SmallProject()
    project.objects["PD"] = project.objects["PD"]?.replacing(
      "PREFIX = com.example", with: "PREFIX = \"$(B)\"; B = \"$(PREFIX)\"")
    #expect(try project.read().widgets.first?.bundle.isEmpty == false)
  }

  @Test func `a path that does not exist is reported`() {
    let error = #expect(throws: ProjectError.self) {
      try AuthorProject.read("/p/nothing", files: FilesInMemory(texts: [:]))
    }
    #expect(error?.code == .notFound)
  }
}
