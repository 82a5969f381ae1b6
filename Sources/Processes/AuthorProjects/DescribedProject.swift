// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An Xcode project that another tool generates from a description: what the tool would write, without the files.
struct DescribedProject {
  struct Target {
    var name: String
    /// The ending of Xcode's type, such as `app-extension`.
    var type: String
    /// Files of the sources and of the resources, absolute.
    var sources: [String] = []
    var resources: [String] = []
    /// The names of frameworks of the SDK, such as `WidgetKit.framework`.
    var frameworks: [String] = []
    var products: [PackageProduct] = []
    /// The names of the targets on which it depends; an app embeds those that are extensions.
    var dependencies: [String] = []
    var settings: [String: String] = [:]
    /// The `.xcconfig` file below its settings, absolute.
    var settingsFile: String?
    /// The settings and the file of the project that declares it; `nil` for those of the described project.
    var project: (settings: [String: String], file: String?)?
    var notes: [ProjectNote] = []
  }

  var name: String
  /// The path of the description, absolute.
  var path: String
  /// The folder in which the tool writes the project: `SRCROOT`.
  var folder: String
  var settings: [String: String] = [:]
  var settingsFile: String?
  var targets: [Target] = []
  /// Property lists that the tool writes, by their absolute paths.
  var generated: [String: Data] = [:]
  var notes: [ProjectNote] = []

  /// The widget extensions, read as those of the Xcode project that the tool generates.
  func widgets(files: any ProjectFiles) -> [WidgetTarget] {
    let overlay = FilesWithGenerated(files: files, generated: generated)
    var objects = ProjectObjects()
    let root = objects.add(self)
    let project = XcodeProject("\(folder)/\(name).xcodeproj", folder: folder, objects: objects.all, root: root)
    return XcodeProjectReader(project, files: overlay).widgets().map { widget in
      var widget = widget
      widget.generatedInfoPlist = widget.infoPlist.flatMap { generated[$0] }
      widget.notes += notes + (targets.first { $0.name == widget.name }?.notes ?? [])
      return widget
    }
  }

  /// The settings that say for which system a target is built.
  static func settings(ofPlatform platform: String, from version: String?) -> [String: String] {
    let systems = [
      "iOS": ("iphoneos", "IPHONEOS"), "macOS": ("macosx", "MACOSX"), "watchOS": ("watchos", "WATCHOS"),
      "visionOS": ("xros", "XROS"), "tvOS": ("appletvos", "TVOS"),
    ]
    guard let (sdk, prefix) = systems[platform] else { return [:] }
    var result = ["SDKROOT": sdk]
    result["\(prefix)_DEPLOYMENT_TARGET"] = version
    return result
  }

  /// Keeps a property list that the tool has not written yet, or notes why it cannot be written.
  mutating func generate(_ keys: [String: Any], at place: String) {
    do {
      generated[place] = try PropertyListSerialization.data(fromPropertyList: keys, format: .xml, options: 0)
    } catch {
      notes.append(ProjectNote(FilePath.name(place), "it cannot be written as a property list: \(error)"))
    }
  }

  /// The keys that each generator writes into an `Info.plist`, for a type of target.
  ///
  /// Source: XcodeGen, *Project Spec*, `info`; Tuist, `InfoPlist.extendingDefault`.
  static func standardKeys(ofType type: String) -> [String: Any] {
    let package = type.hasPrefix("application") ? "APPL" : type.contains("extension") ? "XPC!" : "FMWK"
    return [
      "CFBundleDevelopmentRegion": "$(DEVELOPMENT_LANGUAGE)", "CFBundleExecutable": "$(EXECUTABLE_NAME)",
      "CFBundleIdentifier": "$(PRODUCT_BUNDLE_IDENTIFIER)", "CFBundleInfoDictionaryVersion": "6.0",
      "CFBundleName": "$(PRODUCT_NAME)", "CFBundlePackageType": package, "CFBundleShortVersionString": "1.0",
      "CFBundleVersion": "1",
    ]
  }
}

/// The files of a project with property lists that its tool has not written yet.
private struct FilesWithGenerated: ProjectFiles {
  let files: any ProjectFiles
  let generated: [String: Data]

  func contents(_ path: String) -> Data? { generated[path] ?? files.contents(path) }
  func entries(of folder: String) -> [String]? { files.entries(of: folder) }
  func resolved(_ path: String) -> String { files.resolved(path) }
}

/// Makes the objects of a `project.pbxproj`.
private struct ProjectObjects {
  private(set) var all: [String: [String: Any]] = [:]
  /// The references to files, which the main group has.
  private var references: [String] = []
  private var targets: [String: String] = [:]
  /// The references to packages, by the package's place.
  private var packages: [PackageProduct.Place: String] = [:]

  private mutating func add(_ isa: String, _ keys: [String: Any]) -> String {
    let id = String(format: "%06d", all.count)
    all[id] = keys.merging(["isa": isa]) { $1 }
    return id
  }

  /// - Returns: the identifier of the root.
  mutating func add(_ project: DescribedProject) -> String {
    for target in project.targets { targets[target.name] = add("PBXNativeTarget", [:]) }
    for target in project.targets { fill(target) }
    let list = configurations(project.settings, project.settingsFile)
    let group = add("PBXGroup", ["sourceTree": "<group>", "children": references])
    return add(
      "PBXProject",
      [
        "buildConfigurationList": list, "mainGroup": group,
        "targets": project.targets.compactMap { targets[$0.name] },
      ])
  }

  private mutating func fill(_ target: DescribedProject.Target) {
    guard let id = targets[target.name] else { return }
    let phases = [
      phase("PBXSourcesBuildPhase", target.sources.map { file($0) }),
      phase("PBXResourcesBuildPhase", target.resources.map { file($0) }),
      phase("PBXFrameworksBuildPhase", target.frameworks.map { framework($0) }),
    ]
    let list = configurations(target.settings, target.settingsFile, below: target.project)
    all[id] = [
      "isa": "PBXNativeTarget", "name": target.name, "productType": "com.apple.product-type.\(target.type)",
      "buildConfigurationList": list, "buildPhases": phases,
      "dependencies": target.dependencies.compactMap { targets[$0] }.map { add("PBXTargetDependency", ["target": $0]) },
      "packageProductDependencies": target.products.map { product($0) },
    ]
  }

  private mutating func configurations(
    _ settings: [String: String], _ file: String?, below project: (settings: [String: String], file: String?)? = nil
  ) -> String {
    var keys = configuration(settings, file)
    if let project {
      keys[XcodeProjectReader.ownProject] = add("XCBuildConfiguration", configuration(project.settings, project.file))
    }
    return add("XCConfigurationList", ["buildConfigurations": [add("XCBuildConfiguration", keys)]])
  }

  private mutating func configuration(_ settings: [String: String], _ file: String?) -> [String: Any] {
    var keys: [String: Any] = ["name": "Debug", "buildSettings": settings]
    if let file { keys["baseConfigurationReference"] = self.file(file) }
    return keys
  }

  private mutating func phase(_ isa: String, _ files: [String]) -> String {
    add(isa, ["files": files.map { add("PBXBuildFile", ["fileRef": $0]) }])
  }

  private mutating func file(_ path: String) -> String {
    let id = add("PBXFileReference", ["path": path, "sourceTree": "<absolute>"])
    references.append(id)
    return id
  }

  private mutating func framework(_ name: String) -> String {
    add("PBXFileReference", ["name": name, "sourceTree": "SDKROOT"])
  }

  private mutating func product(_ product: PackageProduct) -> String {
    var keys: [String: Any] = ["productName": product.name]
    if let package = package(product.place) { keys["package"] = package }
    return add("XCSwiftPackageProductDependency", keys)
  }

  private mutating func package(_ place: PackageProduct.Place) -> String? {
    if let id = packages[place] { return id }
    switch place {
    case .local(let path): packages[place] = add("XCLocalSwiftPackageReference", ["relativePath": path])
    case .remote(let url, let requirement):
      packages[place] = add(
        "XCRemoteSwiftPackageReference",
        ["repositoryURL": url, "requirement": ["kind": XcodeProjectReader.written, "requirement": requirement]])
    case .unknown: break
    }
    return packages[place]
  }
}
