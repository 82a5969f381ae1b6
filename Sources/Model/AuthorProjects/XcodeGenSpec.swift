// SPDX-License-Identifier: Apache-2.0

/// A `project.yml` of XcodeGen with the files that it includes, and with its templates inserted into the targets.
///
/// Source: XcodeGen, *Project Spec*.
struct XcodeGenSpec {
  /// Absolute.
  let path: String
  /// All keys but those of the targets.
  let root: SpecValue
  /// The targets with their names, one for each platform.
  private(set) var targets: [(name: String, value: SpecValue)] = []
  private(set) var notes: [ProjectNote] = []

  var folder: String { FilePath.folder(path) }
  var name: String { root["name"]?.text ?? FilePath.name(folder) }

  /// How many files may include each other.
  private static let depth = 16

  /// - Throws: `not-found`, `damaged` or `no-widget`.
  init(_ path: String, files: any ProjectFiles) throws(ProjectError) {
    self.path = path
    var notes: [ProjectNote] = []
    root = try Self.load(path, files, &notes, depth: 0)
    self.notes = notes
    guard let all = root["targets"], !all.map.isEmpty else {
      throw ProjectError(
        .noWidget, "this description of XcodeGen has no targets", at: path,
        advice: "name another file, or run `xcodegen generate` in \(folder), then this command again")
    }
    noteUnknown(root, Self.rootKeys, of: "the project")
    for (key, value) in all.map.sorted(by: { $0.key < $1.key }) {
      let target = expand(value, name: key)
      noteUnknown(target, Self.targetKeys, of: key)
      add(target, name: target["name"]?.text ?? key)
    }
  }

  // MARK: Files

  private static func load(
    _ path: String, _ files: any ProjectFiles, _ notes: inout [ProjectNote], depth: Int
  ) throws(ProjectError) -> SpecValue {
    guard let text = files.text(path) else {
      throw ProjectError(
        .notFound, "this description cannot be read", at: path, advice: "correct the path in `include`")
    }
    guard depth < Self.depth else {
      throw ProjectError(.damaged, "this description includes itself", at: path, advice: "correct `include`")
    }
    let own = try SpecReader.read(text, at: path)
    var result = SpecValue(.map([:]))
    let includes = own["include"].map { $0.list.isEmpty ? [$0] : $0.list } ?? []
    for include in includes {
      guard let name = include.text ?? include["path"]?.text else { continue }
      if let condition = include["enable"], condition.boolean != true {
        if condition.boolean == nil {
          notes.append(ProjectNote(name, "is not included: its condition \(condition.text ?? "") is not known here"))
        }
        continue
      }
      let other = FilePath.absolute(name, in: FilePath.folder(path))
      var value = try load(other, files, &notes, depth: depth + 1)
      if include["relativePaths"]?.boolean != false {
        value = SpecPaths(from: FilePath.folder(other), to: FilePath.folder(path)).moved(value)
      }
      result = value.merged(over: result)
    }
    return own.merged(over: result)
  }

  // MARK: Targets

  /// Inserts the templates into a target.
  private func expand(_ target: SpecValue, name: String) -> SpecValue {
    var result = SpecValue(.map([:]), line: target.line)
    var attributes = ["target_name": target["name"]?.text ?? name]
    attributes.merge(target["templateAttributes"]?.map.compactMapValues(\.setting) ?? [:]) { $1 }
    var visited: Set<String> = []
    func add(_ templates: [String]) {
      for template in templates where visited.insert(template).inserted {
        guard let value = root["targetTemplates"]?[template] else { continue }
        add(value["templates"]?.texts ?? [])
        result = value.merged(over: result)
      }
    }
    add(target["templates"]?.texts ?? [])
    return target.merged(over: result.replacing(attributes))
  }

  /// Adds a target for each platform.
  private mutating func add(_ target: SpecValue, name: String) {
    guard let platforms = target["platform"]?.list, !platforms.isEmpty else {
      let platform = target["platform"]?.text ?? "auto"
      targets.append((name, target.replacing(["platform": platform])))
      return
    }
    for platform in platforms.compactMap(\.text) {
      let prefix = target["platformPrefix"]?.text ?? ""
      let suffix = target["platformSuffix"]?.text ?? (prefix.isEmpty ? "_${platform}" : "")
      var keys = target.map
      keys["platform"] = SpecValue(.text(platform, isPlain: true))
      // All of them can be imported by one name.
      keys["productName"] = keys["productName"] ?? SpecValue(.text(name, isPlain: false))
      let values = ["platform": platform]
      let value = SpecValue(.map(keys), line: target.line).replacing(values)
      targets.append((SpecValue(.text(prefix + name + suffix, isPlain: false)).replacing(values).text ?? name, value))
    }
  }

  private mutating func noteUnknown(_ value: SpecValue, _ known: Set<String>, of owner: String) {
    for (key, child) in value.map.sorted(by: { $0.value.line < $1.value.line }) {
      let name = key.hasSuffix(":REPLACE") ? String(key.dropLast(":REPLACE".count)) : key
      if !known.contains(name) {
        notes.append(ProjectNote("line \(child.line): \(key)", "this key of \(owner) is not known, and is left out"))
      }
    }
  }

  private static let rootKeys: Set<String> = [
    "aggregateTargets", "attributes", "breakpoints", "configFiles", "configs", "fileGroups", "include",
    "localPackages", "name", "options", "packages", "projectReferences", "schemeTemplates", "schemes",
    "settingGroups", "settingPresets", "settings", "targetTemplates", "targets",
  ]
  private static let targetKeys: Set<String> = [
    "attributes", "buildRules", "buildToolPlugins", "configFiles", "dependencies", "deploymentTarget",
    "directlyEmbedCarthageDependencies", "entitlements", "info", "legacy", "name", "onlyCopyFilesOnInstall",
    "platform", "platformPrefix", "platformSuffix", "postBuildScripts", "postCompileScripts", "postbuildScripts",
    "preBuildScripts", "prebuildScripts", "productName", "putResourcesBeforeSourcesBuildPhase",
    "requiresObjCLinking", "scheme", "settings", "sources", "supportedDestinations", "templateAttributes",
    "templates", "transitivelyLinkDependencies", "type",
  ]
}

/// Moves the relative paths of an included description to the folder of the one that includes it.
private struct SpecPaths {
  private let prefix: String

  init(from folder: String, to other: String) { prefix = FilePath.relative(folder, to: other) }

  func moved(_ root: SpecValue) -> SpecValue {
    guard prefix != "." else { return root }
    var keys = root.map
    for key in ["targets", "targetTemplates"] {
      keys[key] = keys[key].map { mapped($0) { target(in: $0) } }
    }
    keys["configFiles"] = keys["configFiles"].map { mapped($0, path) }
    keys["packages"] = keys["packages"].map { mapped($0) { changed($0, ["path"], path) } }
    keys["localPackages"] = keys["localPackages"].map(path)
    return SpecValue(.map(keys), line: root.line)
  }

  private func target(in value: SpecValue) -> SpecValue {
    var result = changed(value, ["sources", "sources:REPLACE"]) { sources in
      switch sources.content {
      case .list(let list): SpecValue(.list(list.map(source)), line: sources.line)
      default: source(sources)
      }
    }
    result = changed(result, ["info", "entitlements"]) { changed($0, ["path"], path) }
    return changed(result, ["configFiles"]) { mapped($0, path) }
  }

  private func source(_ value: SpecValue) -> SpecValue {
    value.text == nil ? changed(value, ["path"], path) : path(value)
  }

  private func path(_ value: SpecValue) -> SpecValue {
    switch value.content {
    case .text(let text, let isPlain) where !text.hasPrefix("/"):
      SpecValue(.text("\(prefix)/\(text)", isPlain: isPlain), line: value.line)
    case .list(let list): SpecValue(.list(list.map(path)), line: value.line)
    default: value
    }
  }

  private func mapped(_ value: SpecValue, _ change: (SpecValue) -> SpecValue) -> SpecValue {
    changed(value, Array(value.map.keys), change)
  }

  private func changed(_ value: SpecValue, _ keys: [String], _ change: (SpecValue) -> SpecValue) -> SpecValue {
    guard case .map(var map) = value.content else { return value }
    for key in keys { map[key] = map[key].map(change) }
    return SpecValue(.map(map), line: value.line)
  }
}
