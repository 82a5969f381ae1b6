// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The objects of a `project.pbxproj`, by their identifiers.
///
/// Source: the files that Xcode writes; Apple does not document the format.
struct XcodeProject {
  /// The path of the `.xcodeproj`.
  let path: String
  /// The folder of the `.xcodeproj`: `SRCROOT`.
  let folder: String
  private let objects: [String: [String: Any]]
  let root: XcodeObject
  /// The path of each file and folder in the project, by the identifier of its reference.
  private(set) var paths: [String: String] = [:]

  /// How deep the lists and dictionaries of a file may be nested. Xcode's have 4 levels.
  private static let depthLimit = 64

  /// - Throws: `not-found` or `damaged`.
  init(_ path: String, files: any ProjectFiles) throws(ProjectError) {
    let file = path + "/project.pbxproj"
    guard let data = files.contents(file) else {
      throw ProjectError(.notFound, "there is no project.pbxproj", at: path, advice: "name a project of Xcode")
    }
    guard Self.depth(of: data) <= Self.depthLimit,
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil),
      let keys = list as? [String: Any], let all = keys["objects"] as? [String: Any]
    else { throw Self.damaged(data, file) }
    let objects = all.compactMapValues { $0 as? [String: Any] }
    guard let identifier = keys["rootObject"] as? String, let root = objects[identifier] else {
      throw ProjectError(.damaged, "the project file has no root object", at: file, advice: Self.advice)
    }
    let folder = root["projectDirPath"] as? String ?? ""
    self.init(
      path, folder: FilePath.absolute(folder, in: FilePath.folder(path)), objects: objects, root: identifier)
  }

  /// A project of objects that no file has.
  ///
  /// - Parameters:
  ///   - path: where its `.xcodeproj` would be.
  ///   - root: the identifier of the object of the project.
  init(_ path: String, folder: String, objects: [String: [String: Any]], root: String) {
    self.path = path
    self.folder = folder
    self.objects = objects
    self.root = XcodeObject(id: root, keys: objects[root] ?? [:])
    if let main = object(self.root.text("mainGroup")) {
      var visited: Set<String> = []
      walk(main, in: folder, &visited)
    }
  }

  private static let advice = "open the project in Xcode, or get the file from version control again"

  private static func damaged(_ data: Data, _ file: String) -> ProjectError {
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    if let line = lines.firstIndex(where: { $0.hasPrefix("<<<<<<<") || $0.hasPrefix(">>>>>>>") }) {
      return ProjectError(
        .damaged, "line \(line + 1) is a conflict of a merge", at: file, advice: "resolve the conflict")
    }
    return ProjectError(
      .damaged, "the project file cannot be read: it is not a property list", at: file, advice: advice)
  }

  /// The deepest nesting of braces and parentheses outside of texts. Foundation's parser recurses.
  private static func depth(of data: Data) -> Int {
    var (depth, deepest, isQuoted, isEscaped) = (0, 0, false, false)
    for byte in data {
      if isEscaped {
        isEscaped = false
      } else if isQuoted {
        if byte == UInt8(ascii: "\\") { isEscaped = true }
        if byte == UInt8(ascii: "\"") { isQuoted = false }
      } else {
        switch byte {
        case UInt8(ascii: "\""): isQuoted = true
        case UInt8(ascii: "{"), UInt8(ascii: "("):
          depth += 1
          deepest = max(deepest, depth)
        case UInt8(ascii: "}"), UInt8(ascii: ")"): depth -= 1
        default: break
        }
      }
    }
    return deepest
  }

  /// The object with an identifier; `nil` when the file does not have it.
  func object(_ id: String?) -> XcodeObject? {
    guard let id, let keys = objects[id] else { return nil }
    return XcodeObject(id: id, keys: keys)
  }

  func objects(_ ids: [String]) -> [XcodeObject] { ids.compactMap { object($0) } }

  /// All objects of a class, in the order of their identifiers.
  func all(_ isa: String) -> [XcodeObject] {
    objects.filter { $0.value["isa"] as? String == isa }.map { XcodeObject(id: $0, keys: $1) }.sorted { $0.id < $1.id }
  }

  /// The name of the project without its ending.
  var name: String { FilePath.stem(path) }

  private mutating func walk(_ group: XcodeObject, in folder: String, _ visited: inout Set<String>) {
    // A damaged file can have a group in itself.
    guard visited.insert(group.id).inserted else { return }
    guard let place = place(of: group, in: folder) else { return }
    paths[group.id] = place
    for child in objects(group.texts("children")) {
      if child.isa == "PBXGroup" || child.isa == "PBXVariantGroup" || child.isa == "XCVersionGroup" {
        walk(child, in: place, &visited)
      } else {
        paths[child.id] = self.place(of: child, in: place)
      }
    }
  }

  /// The path of a reference; `nil` for one of a build product or of the SDK.
  private func place(of object: XcodeObject, in folder: String) -> String? {
    let path = object.text("path") ?? ""
    switch object.text("sourceTree") ?? "<group>" {
    case "<group>": return FilePath.absolute(path, in: folder)
    case "SOURCE_ROOT": return FilePath.absolute(path, in: self.folder)
    case "<absolute>": return FilePath.absolute(path, in: "/")
    default: return nil
    }
  }
}

/// One object of a project file.
struct XcodeObject {
  let id: String
  let keys: [String: Any]

  var isa: String { text("isa") ?? "" }
  var name: String? { text("name") ?? text("path").map(FilePath.name) }

  func text(_ key: String) -> String? { keys[key] as? String }
  func texts(_ key: String) -> [String] { (keys[key] as? [Any])?.compactMap { $0 as? String } ?? [] }
  func dictionary(_ key: String) -> [String: Any] { keys[key] as? [String: Any] ?? [:] }
}

/// The files that belong to a target: those of its build phases, and those of synchronised folders.
struct XcodeMembers {
  /// Absolute paths, in the order of the project.
  var sources: [String] = []
  /// By the name in the bundle.
  var resources: [String: String] = [:]
  /// The files `.intentdefinition` whose classes are generated.
  var definitions: [String] = []
  /// The frameworks that it links, such as `WidgetKit.framework`.
  var frameworks: [String] = []
  var notes: [ProjectNote] = []

  /// Adds a file by its kind.
  ///
  /// - Parameter isResource: whether the file is in the phase of the resources.
  mutating func add(_ path: String, name: String? = nil, isResource: Bool) {
    let name = name ?? XcodeMembers.bundleName(path)
    let ending = FilePath.ending(path)
    if ending == "swift" {
      if !sources.contains(path) { sources.append(path) }
    } else if ending == "intentdefinition" {
      if !definitions.contains(path) { definitions.append(path) }
    } else if let reason = Self.leftOut[ending] {
      notes.append(ProjectNote(FilePath.name(path), reason))
    } else if Self.compiled.contains(ending) {
      if !isResource {
        notes.append(ProjectNote(FilePath.name(path), "only Swift is compiled here, not Objective-C, C or C++"))
      }
    } else if !Self.ignored.contains(ending), resources[name] != path {
      addResource(path, name)
    }
  }

  private mutating func addResource(_ path: String, _ name: String) {
    guard resources[name] != nil else {
      resources[name] = path
      return
    }
    guard FilePath.ending(path) == "xcassets" else {
      notes.append(ProjectNote(name, "two resources have this name; \(path) is left out"))
      return
    }
    // Xcode merges all catalogs of a target.
    var number = 2
    while let other = resources["\(FilePath.stem(path))-\(number).xcassets"], other != path { number += 1 }
    resources["\(FilePath.stem(path))-\(number).xcassets"] = path
  }

  /// The name of a file in a bundle: with the folder of its language.
  static func bundleName(_ path: String) -> String {
    let folder = FilePath.name(FilePath.folder(path))
    return folder.hasSuffix(".lproj") ? "\(folder)/\(FilePath.name(path))" : FilePath.name(path)
  }

  /// Folders that are one file of a project.
  static let opaque: Set<String> = [
    "app", "bundle", "docc", "framework", "icon", "mlpackage", "playground", "xcassets", "xcdatamodeld", "xcframework",
    "xcmappingmodel", "xcodeproj", "xcworkspace",
  ]

  /// Whether a path can be a folder with sources, by its ending.
  static func isSearched(_ path: String) -> Bool { !opaque.contains(FilePath.ending(path)) }

  /// Whether a file is one of the sources, by its ending.
  static func isCompiled(_ path: String) -> Bool {
    let ending = FilePath.ending(path)
    return ending == "swift" || ending == "intentdefinition" || compiled.contains(ending)
  }

  private static let leftOut = [
    "metal": "shaders are not compiled here",
    "mlmodel": "models are not compiled here", "mlpackage": "models are not compiled here",
    "storyboard": "storyboards are not compiled here", "xib": "interface files are not compiled here",
    "xcdatamodel": "there is no Core Data here", "xcdatamodeld": "there is no Core Data here",
    "xcmappingmodel": "there is no Core Data here",
  ]
  static let compiled: Set<String> = ["c", "cc", "cpp", "cxx", "h", "hpp", "m", "mm", "s", "y"]
  /// What Xcode does not copy into a bundle, or what has no meaning here.
  private static let ignored: Set<String> = [
    "app", "appex", "docc", "entitlements", "framework", "icon", "js", "map", "markdown", "md", "modulemap",
    "playground",
    "ts", "xcconfig", "xcframework", "xcodeproj", "xcprivacy", "xcworkspace", "xctestplan",
  ]
}

extension XcodeProject {
  /// The files of a target.
  func members(of target: XcodeObject, infoPlist: String?, files: any ProjectFiles) -> XcodeMembers {
    var members = XcodeMembers()
    for phase in objects(target.texts("buildPhases")) {
      for file in objects(phase.texts("files")) {
        guard let reference = object(file.text("fileRef")), !Self.isWithoutCode(file) else { continue }
        switch phase.isa {
        case "PBXSourcesBuildPhase": add(reference, to: &members, isResource: false, files)
        case "PBXResourcesBuildPhase":
          // A Swift file among the resources is not compiled.
          if FilePath.ending(reference.name ?? "") != "swift" { add(reference, to: &members, isResource: true, files) }
        case "PBXFrameworksBuildPhase": members.frameworks.append(reference.name ?? "")
        default: break
        }
      }
    }
    for group in all("PBXFileSystemSynchronizedRootGroup") {
      add(group, of: target, to: &members, infoPlist: infoPlist, files)
    }
    return members
  }

  /// Whether Xcode generates no classes from an `.intentdefinition`, because another target has them.
  private static func isWithoutCode(_ file: XcodeObject) -> Bool {
    (file.dictionary("settings")["ATTRIBUTES"] as? [Any])?.contains { $0 as? String == "no_codegen" } == true
  }

  private func add(
    _ reference: XcodeObject, to members: inout XcodeMembers, isResource: Bool, _ files: any ProjectFiles
  ) {
    switch reference.isa {
    case "PBXVariantGroup":
      // The versions of a file by language.
      for child in objects(reference.texts("children")) { add(child, to: &members, isResource: isResource, files) }
    case "XCVersionGroup":
      members.add(paths[reference.id] ?? reference.name ?? "", isResource: isResource)
    default:
      guard let path = paths[reference.id] else { return }
      guard files.exists(path) else {
        members.notes.append(
          ProjectNote(FilePath.relative(path, to: folder), "the project names it, and it does not exist"))
        return
      }
      members.add(path, isResource: isResource)
    }
  }

  // MARK: Synchronised folders

  /// Adds the files of a folder whose files belong to targets because they are in it. Its exceptions name files that do
  /// not belong to a target of the folder, and those that belong to another target.
  private func add(
    _ group: XcodeObject, of target: XcodeObject, to members: inout XcodeMembers, infoPlist: String?,
    _ files: any ProjectFiles
  ) {
    guard let folder = paths[group.id] else { return }
    let isOwn = target.texts("fileSystemSynchronizedGroups").contains(group.id)
    var excepted: Set<String> = []
    for set in objects(group.texts("exceptions")) where set.text("target") == target.id {
      excepted.formUnion(set.texts("membershipExceptions"))
    }
    guard isOwn || !excepted.isEmpty else { return }
    guard files.isFolder(folder) else {
      members.notes.append(
        ProjectNote(FilePath.relative(folder, to: self.folder), "the project names this folder, and it does not exist"))
      return
    }
    let whole = Set(group.texts("explicitFolders").map { FilePath.absolute($0, in: folder) })
    for path in SourceFolder(path: folder, whole: whole).files(files) where path != infoPlist {
      if isOwn != Self.isExcepted(path, in: folder, excepted) { members.add(path, isResource: true) }
    }
  }

  /// Whether a list of exceptions has a file, a folder around it, or all its languages.
  private static func isExcepted(_ path: String, in folder: String, _ exceptions: Set<String>) -> Bool {
    guard !exceptions.isEmpty else { return false }
    var name = FilePath.relative(path, to: folder)
    let file = FilePath.name(path)
    if exceptions.contains("/Localized/" + file) || exceptions.contains("/Localized: " + file) { return true }
    while !name.isEmpty {
      if exceptions.contains(name) { return true }
      name = name.split(separator: "/").dropLast().joined(separator: "/")
    }
    return false
  }
}

/// The files below a folder.
struct SourceFolder {
  let path: String
  /// Folders that are one file.
  var whole: Set<String> = []

  /// Folders that never have sources of a widget.
  static let skipped: Set<String> = [
    "Carthage", "DerivedData", "Pods", "SourcePackages", "build", "node_modules", "vendor",
  ]

  /// The absolute paths of all files, sorted by folder. A folder such as an asset catalog is one file.
  func files(_ files: any ProjectFiles) -> [String] {
    var result: [String] = []
    collect(path, depth: 0, files, into: &result)
    return result
  }

  private func collect(_ folder: String, depth: Int, _ files: any ProjectFiles, into result: inout [String]) {
    // A link can lead back to a folder above.
    guard depth < 24 else { return }
    for name in files.entries(of: folder) ?? [] where !name.hasPrefix(".") {
      let path = folder + "/" + name
      guard files.isFolder(path) else {
        result.append(path)
        continue
      }
      if XcodeMembers.opaque.contains(FilePath.ending(path)) || whole.contains(path) {
        result.append(path)
      } else {
        collect(path, depth: depth + 1, files, into: &result)
      }
    }
  }
}

/// The projects, packages and folders that a workspace names.
///
/// Source: the `contents.xcworkspacedata` that Xcode writes; Apple does not document the format.
struct XcodeWorkspace {
  /// Absolute paths, in the order of the workspace.
  let places: [String]

  /// - Parameter path: of the `.xcworkspace`, absolute.
  /// - Returns: `nil` when the workspace has no contents.
  init?(_ path: String, files: any ProjectFiles) {
    guard let text = files.text(path + "/contents.xcworkspacedata") else { return nil }
    let folder = FilePath.folder(path)
    var places: [String] = []
    var groups = [folder]
    for match in text.matches(of: /<(\/?)(Group|FileRef)\b([^>]*)>/) {
      let (isEnd, kind, attributes) = (!match.output.1.isEmpty, match.output.2, match.output.3)
      if isEnd {
        if kind == "Group", groups.count > 1 { groups.removeLast() }
        continue
      }
      let place = Self.place(attributes, in: groups.last ?? folder, folder)
      if kind == "FileRef" {
        if let place { places.append(place) }
      } else if !attributes.hasSuffix("/") {
        groups.append(place ?? groups.last ?? folder)
      }
    }
    self.places = places
  }

  private static func place(_ attributes: Substring, in group: String, _ folder: String) -> String? {
    guard let match = attributes.firstMatch(of: /location\s*=\s*"(\w+):([^"]*)"/) else { return nil }
    let path = String(match.output.2.replacing("&amp;", with: "&").replacing("&apos;", with: "'"))
    return switch match.output.1 {
    case "group": FilePath.absolute(path, in: group)
    case "absolute": FilePath.absolute(path, in: "/")
    case "container": FilePath.absolute(path, in: folder)
    // Such as `self:` of the workspace in a project, and `developer:`.
    default: nil
    }
  }
}

/// Searches local Swift packages for a product that a target links, and whose package the project does not name. Xcode
/// finds it in the workspace.
struct PackageSearch {
  /// The folders with a manifest and its text, in the order of precedence.
  private var manifests: [(folder: String, text: String)] = []

  /// How many folders above the project are searched for workspaces.
  private static let levels = 4
  /// How deep folders are searched for packages.
  private static let depth = 5

  /// Finds nothing.
  init() {}

  init(_ project: XcodeProject, files: any ProjectFiles) {
    var folders = project.all("XCLocalSwiftPackageReference").compactMap { $0.text("relativePath") }
      .map { FilePath.absolute($0, in: project.folder) }
    folders += project.paths.values.sorted()
    // The workspaces of the folders up to the repository's root.
    var top = FilePath.folder(project.path)
    var above = top
    for _ in 0...Self.levels {
      for name in files.entries(of: above) ?? [] where FilePath.ending(name) == "xcworkspace" {
        guard let places = XcodeWorkspace("\(above)/\(name)", files: files)?.places else { continue }
        folders += places
        if places.contains(project.path) { top = above }
      }
      if files.entries(of: above)?.contains(".git") == true {
        top = above
        break
      }
      guard above != "/" else { break }
      above = FilePath.folder(above)
    }
    for folder in folders { add(folder, files) }
    // A workspace can name a folder of packages. A package can also be near the project, unnamed.
    for folder in folders where files.isFolder(folder) && XcodeMembers.isSearched(folder) {
      search(folder, depth: 2, files)
    }
    search(top, depth: Self.depth, files)
  }

  /// The folder of the package with a product.
  func folder(of product: String) -> String? {
    // A manifest can compute its products, so that the name alone also counts.
    manifests.first { Self.declares(product, $0.text) }?.folder
      ?? manifests.first { $0.text.contains("\"\(product)\"") }?.folder
  }

  private static func declares(_ product: String, _ manifest: String) -> Bool {
    manifest.matches(of: /\.(?:library|executable)\(\s*name:\s*"([^"]+)"/).contains { $0.output.1 == product }
  }

  private mutating func add(_ folder: String, _ files: any ProjectFiles) {
    guard let text = files.text(folder + "/Package.swift"), !manifests.contains(where: { $0.folder == folder }) else {
      return
    }
    manifests.append((folder, text))
  }

  private mutating func search(_ root: String, depth: Int, _ files: any ProjectFiles) {
    var folders = [root]
    for _ in 0..<depth {
      var next: [String] = []
      for folder in folders {
        for name in files.entries(of: folder) ?? [] where SourceSearch.isSearched(name) {
          let path = "\(folder)/\(name)"
          if name == "Package.swift" {
            add(folder, files)
          } else if FilePath.ending(path) != "swift", XcodeMembers.isSearched(path) {
            next.append(path)
          }
        }
      }
      folders = next
    }
  }
}
