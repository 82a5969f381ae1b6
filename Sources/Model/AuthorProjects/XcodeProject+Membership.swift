// SPDX-License-Identifier: Apache-2.0

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
