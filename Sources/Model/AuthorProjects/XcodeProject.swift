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
