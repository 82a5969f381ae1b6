// SPDX-License-Identifier: Apache-2.0
/// Reads a description of XcodeGen as the Xcode project that it generates.
///
/// Source: XcodeGen, *Project Spec*, and its presets of settings.
struct XcodeGenReader {
  private let spec: XcodeGenSpec
  private let files: any ProjectFiles
  /// The configuration whose settings are read: that for debugging.
  private let configuration: String

  /// - Throws: `not-found`, `damaged` or `no-widget`.
  init(_ path: String, files: any ProjectFiles) throws(ProjectError) {
    spec = try XcodeGenSpec(path, files: files)
    self.files = files
    let all = (spec.root["configs"]?.map ?? [:]).sorted { $0.key < $1.key }
    configuration =
      all.isEmpty || all.contains { $0.key == "Debug" }
      ? "Debug" : (all.first { $0.value.text == "debug" } ?? all.first)?.key ?? "Debug"
  }

  /// - Throws: `no-widget`.
  func project() throws(ProjectError) -> AuthorProject {
    var described = DescribedProject(name: spec.name, path: spec.path, folder: spec.folder)
    described.notes = spec.notes
    described.settings = presets
    described.settings.merge(settings(spec.root["settings"])) { $1 }
    described.settingsFile = settingsFile(spec.root)
    for (name, value) in spec.targets {
      let target = target(value, name: name, &described)
      described.targets.append(target)
    }
    let widgets = described.widgets(files: files)
    guard !widgets.isEmpty else {
      throw ProjectError(
        .noWidget, "this description of XcodeGen has no widget extension", at: spec.path,
        advice:
          "WidgetLab needs a target of the type app-extension whose Info.plist has NSExtensionPointIdentifier com.apple.widgetkit-extension"
      )
    }
    return AuthorProject(name: spec.name, path: spec.path, widgets: widgets)
  }

  private var presets: [String: String] {
    switch spec.root["options"]?["settingPresets"]?.text {
    case "none", "targets": [:]
    default: ["SWIFT_ACTIVE_COMPILATION_CONDITIONS": "DEBUG", "SWIFT_VERSION": "5.0"]
    }
  }

  // MARK: Settings

  /// The settings of a value: groups below the base, and the base below those of the configuration.
  private func settings(_ value: SpecValue?, depth: Int = 0) -> [String: String] {
    guard let value, depth < 16 else { return [:] }
    let keys = value.map
    guard keys["base"] != nil || keys["configs"] != nil || keys["groups"] != nil else {
      return keys.compactMapValues(\.setting)
    }
    var result: [String: String] = [:]
    for group in keys["groups"]?.texts ?? [] {
      result.merge(settings(spec.root["settingGroups"]?[group], depth: depth + 1)) { $1 }
    }
    result.merge(keys["base"]?.map.compactMapValues(\.setting) ?? [:]) { $1 }
    let configs = keys["configs"]?.map ?? [:]
    // Each key applies to all configurations with its text in their name, unless one has exactly this name.
    let exact = configs.first { $0.key == configuration }
    for (key, settings) in configs.sorted(by: { $0.key < $1.key })
    where exact == nil ? configuration.lowercased().contains(key.lowercased()) : key == exact?.key {
      result.merge(self.settings(settings, depth: depth + 1)) { $1 }
    }
    return result
  }

  private func settingsFile(_ value: SpecValue) -> String? {
    let all = value["configFiles"]?.map ?? [:]
    let name = all[configuration]?.text ?? all.first { $0.key.lowercased() == configuration.lowercased() }?.value.text
    return name.map { FilePath.absolute($0, in: spec.folder) }
  }

  // MARK: Targets

  private func target(
    _ value: SpecValue, name: String, _ described: inout DescribedProject
  ) -> DescribedProject.Target {
    let type = value["type"]?.text ?? ""
    var target = DescribedProject.Target(name: name, type: type)
    target.settings = defaults(of: value, name)
    target.settings.merge(settings(value["settings"])) { $1 }
    target.settingsFile = settingsFile(value)
    var members = members(of: value, &target.notes)
    let plists = members.filter { FilePath.name($0.path) == "Info.plist" }
    members.removeAll { FilePath.name($0.path) == "Info.plist" }
    addInfoPlist(value["info"], found: plists.first?.path, to: &target, in: &described)
    if let entitlements = value["entitlements"], let path = entitlements["path"]?.text {
      let place = FilePath.absolute(path, in: spec.folder)
      described.generate(entitlements["properties"]?.property as? [String: Any] ?? [:], at: place)
      target.settings["CODE_SIGN_ENTITLEMENTS"] = target.settings["CODE_SIGN_ENTITLEMENTS"] ?? place
    }
    for member in members where member.path != target.settings["INFOPLIST_FILE"] {
      if member.isSource { target.sources.append(member.path) } else { target.resources.append(member.path) }
    }
    for dependency in value["dependencies"]?.list ?? [] { add(dependency, to: &target) }
    return target
  }

  private func defaults(of value: SpecValue, _ name: String) -> [String: String] {
    var result: [String: String] = [:]
    let destinations = value["supportedDestinations"]?.texts ?? []
    var platform = value["platform"]?.text ?? "auto"
    if platform == "auto" { platform = destinations.contains("iOS") ? "iOS" : destinations.first ?? "iOS" }
    let ownTarget = value["deploymentTarget"]
    let version =
      ownTarget?.text ?? ownTarget?[platform]?.text ?? spec.root["options"]?["deploymentTarget"]?[platform]?.text
    result.merge(DescribedProject.settings(ofPlatform: platform, from: version)) { $1 }
    if let product = value["productName"]?.text { result["PRODUCT_NAME"] = product }
    if let prefix = spec.root["options"]?["bundleIdPrefix"]?.text,
      settings(spec.root["settings"])["PRODUCT_BUNDLE_IDENTIFIER"] == nil
    {
      let last = name.replacing("_", with: "-").filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }
      result["PRODUCT_BUNDLE_IDENTIFIER"] = "\(prefix).\(last)"
    }
    return result
  }

  /// Names the `Info.plist`: that of the settings, that which XcodeGen writes, or else the first one of the sources.
  private func addInfoPlist(
    _ info: SpecValue?, found foundPath: String?, to target: inout DescribedProject.Target,
    in described: inout DescribedProject
  ) {
    if let path = info?["path"]?.text {
      let place = FilePath.absolute(path, in: spec.folder)
      var keys = DescribedProject.standardKeys(ofType: target.type)
      keys.merge(info?["properties"]?.property as? [String: Any] ?? [:]) { $1 }
      described.generate(keys, at: place)
      target.settings["INFOPLIST_FILE"] = target.settings["INFOPLIST_FILE"] ?? place
    } else if target.settings["GENERATE_INFOPLIST_FILE"] != "YES" {
      target.settings["INFOPLIST_FILE"] = target.settings["INFOPLIST_FILE"] ?? foundPath
    }
  }

  private func add(_ dependency: SpecValue, to target: inout DescribedProject.Target) {
    if let name = dependency["target"]?.text {
      target.dependencies.append(name)
    } else if let name = dependency["sdk"]?.text {
      target.frameworks.append(FilePath.name(name))
    } else if let name = dependency["package"]?.text {
      let products = (dependency["product"]?.texts ?? []) + (dependency["products"]?.texts ?? [])
      for product in products.isEmpty ? [name] : products {
        target.products.append(PackageProduct(name: product, place: place(ofPackage: name)))
      }
    } else if let name = dependency["framework"]?.text ?? dependency["carthage"]?.text {
      target.notes.append(ProjectNote(name, "this framework is not built from sources, and cannot be linked here"))
    }
  }

  private func place(ofPackage name: String) -> PackageProduct.Place {
    guard let package = spec.root["packages"]?[name] else {
      let local = spec.root["localPackages"]?.texts.first { FilePath.name($0) == name }
      return local.map { .local(FilePath.absolute($0, in: spec.folder)) } ?? .unknown
    }
    if let path = package["path"]?.text { return .local(FilePath.absolute(path, in: spec.folder)) }
    guard let url = package["url"]?.text ?? package["github"]?.text.map({ "https://github.com/\($0)" }) else {
      return .unknown
    }
    return .remote(url: url, requirement: requirement(of: package))
  }

  private func requirement(of package: SpecValue) -> String {
    func literal(_ key: String) -> String? { package[key]?.text.map(PackageManifest.literal) }
    if let version = literal("exactVersion") ?? literal("version") { return "exact: \(version)" }
    if let version = literal("minorVersion") { return ".upToNextMinor(from: \(version))" }
    if let branch = literal("branch") { return "branch: \(branch)" }
    if let revision = literal("revision") { return "revision: \(revision)" }
    if let lower = literal("minVersion"), let upper = literal("maxVersion") { return "\(lower)...\(upper)" }
    return "from: \(literal("majorVersion") ?? literal("from") ?? "\"0.0.0\"")"
  }

  // MARK: Sources

  private struct Member {
    let path: String
    let isSource: Bool
  }

  private func members(of value: SpecValue, _ notes: inout [ProjectNote]) -> [Member] {
    let sources = value["sources"].map { $0.list.isEmpty ? [$0] : $0.list } ?? []
    return sources.flatMap { source -> [Member] in
      guard let name = source.text ?? source["path"]?.text else { return [] }
      let path = FilePath.absolute(name, in: spec.folder)
      guard files.exists(path) else {
        if source["optional"]?.boolean != true {
          notes.append(
            ProjectNote(name, "line \(source.line) of the description names it, and it does not exist"))
        }
        return []
      }
      return members(of: source, at: path)
    }
  }

  private func members(of source: SpecValue, at path: String) -> [Member] {
    let phase = source["buildPhase"]?.text
    guard phase != "none", source["buildPhase"]?.map.isEmpty != false else { return [] }
    let isFolder = files.isFolder(path) && XcodeMembers.isSearched(path)
    if !isFolder || source["type"]?.text == "folder" { return [member(path, phase: phase, isFolder: isFolder)] }
    let includes = (source["includes"]?.texts ?? []).map(GlobPattern.init)
    let excludes = (source["excludes"]?.texts ?? []).map(GlobPattern.init)
    return SourceFolder(path: path).files(files).compactMap { file in
      let name = FilePath.relative(file, to: path)
      guard includes.isEmpty || includes.contains(where: { $0.matches(name) }),
        !excludes.contains(where: { $0.matches(name) })
      else { return nil }
      return member(file, phase: phase, isFolder: false)
    }
  }

  private func member(_ path: String, phase: String?, isFolder: Bool) -> Member {
    let isCompiled = XcodeMembers.isCompiled(path) && !isFolder
    return Member(path: path, isSource: phase.map { $0 == "sources" } ?? isCompiled)
  }
}

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
    root = try Self.load(path, files: files, notes: &notes, depth: 0)
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
    _ path: String, files: any ProjectFiles, notes: inout [ProjectNote], depth: Int
  ) throws(ProjectError) -> SpecValue {
    guard let text = files.text(path) else {
      throw ProjectError(
        .notFound, "this description cannot be read", at: path, advice: "correct the path in `include`")
    }
    guard depth < Self.depth else {
      throw ProjectError(.damaged, "this description includes itself", at: path, advice: "correct `include`")
    }
    let ownSpec = try SpecReader.read(text, at: path)
    var result = SpecValue(.map([:]))
    let includes = ownSpec["include"].map { $0.list.isEmpty ? [$0] : $0.list } ?? []
    for include in includes {
      guard let name = include.text ?? include["path"]?.text else { continue }
      if let condition = include["enable"], condition.boolean != true {
        if condition.boolean == nil {
          notes.append(ProjectNote(name, "is not included: its condition \(condition.text ?? "") is not known here"))
        }
        continue
      }
      let other = FilePath.absolute(name, in: FilePath.folder(path))
      var value = try load(other, files: files, notes: &notes, depth: depth + 1)
      if include["relativePaths"]?.boolean != false {
        value = SpecPaths(from: FilePath.folder(other), to: FilePath.folder(path)).moved(value)
      }
      result = value.merged(over: result)
    }
    return ownSpec.merged(over: result)
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

  private mutating func noteUnknown(_ value: SpecValue, _ knownKeys: Set<String>, of owner: String) {
    for (key, child) in value.map.sorted(by: { $0.value.line < $1.value.line }) {
      let name = key.hasSuffix(":REPLACE") ? String(key.dropLast(":REPLACE".count)) : key
      if !knownKeys.contains(name) {
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
    keys["packages"] = keys["packages"].map { mapped($0) { changed($0, keys: ["path"], change: path) } }
    keys["localPackages"] = keys["localPackages"].map(path)
    return SpecValue(.map(keys), line: root.line)
  }

  private func target(in value: SpecValue) -> SpecValue {
    var result = changed(value, keys: ["sources", "sources:REPLACE"]) { sources in
      switch sources.content {
      case .list(let list): SpecValue(.list(list.map(source)), line: sources.line)
      default: source(sources)
      }
    }
    result = changed(result, keys: ["info", "entitlements"]) { changed($0, keys: ["path"], change: path) }
    return changed(result, keys: ["configFiles"]) { mapped($0, path) }
  }

  private func source(_ value: SpecValue) -> SpecValue {
    value.text == nil ? changed(value, keys: ["path"], change: path) : path(value)
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
    changed(value, keys: Array(value.map.keys), change: change)
  }

  private func changed(_ value: SpecValue, keys: [String], change: (SpecValue) -> SpecValue) -> SpecValue {
    guard case .map(var map) = value.content else { return value }
    for key in keys { map[key] = map[key].map(change) }
    return SpecValue(.map(map), line: value.line)
  }
}
