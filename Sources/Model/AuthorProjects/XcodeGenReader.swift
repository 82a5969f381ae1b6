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
    addInfoPlist(value["info"], plists.first?.path, to: &target, &described)
    if let entitlements = value["entitlements"], let path = entitlements["path"]?.text {
      let place = FilePath.absolute(path, in: spec.folder)
      described.generated[place] = DescribedProject.propertyList(
        entitlements["properties"]?.property as? [String: Any] ?? [:])
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
    let own = value["deploymentTarget"]
    let version = own?.text ?? own?[platform]?.text ?? spec.root["options"]?["deploymentTarget"]?[platform]?.text
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
    _ info: SpecValue?, _ found: String?, to target: inout DescribedProject.Target, _ described: inout DescribedProject
  ) {
    if let path = info?["path"]?.text {
      let place = FilePath.absolute(path, in: spec.folder)
      var keys = DescribedProject.standardKeys(ofType: target.type)
      keys.merge(info?["properties"]?.property as? [String: Any] ?? [:]) { $1 }
      described.generated[place] = DescribedProject.propertyList(keys)
      target.settings["INFOPLIST_FILE"] = target.settings["INFOPLIST_FILE"] ?? place
    } else if target.settings["GENERATE_INFOPLIST_FILE"] != "YES" {
      target.settings["INFOPLIST_FILE"] = target.settings["INFOPLIST_FILE"] ?? found
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
    if !isFolder || source["type"]?.text == "folder" { return [member(path, phase, isFolder)] }
    let includes = (source["includes"]?.texts ?? []).map(GlobPattern.init)
    let excludes = (source["excludes"]?.texts ?? []).map(GlobPattern.init)
    return SourceFolder(path: path).files(files).compactMap { file in
      let name = FilePath.relative(file, to: path)
      guard includes.isEmpty || includes.contains(where: { $0.matches(name) }),
        !excludes.contains(where: { $0.matches(name) })
      else { return nil }
      return member(file, phase, false)
    }
  }

  private func member(_ path: String, _ phase: String?, _ isFolder: Bool) -> Member {
    let isCompiled = XcodeMembers.isCompiled(path) && !isFolder
    return Member(path: path, isSource: phase.map { $0 == "sources" } ?? isCompiled)
  }
}
