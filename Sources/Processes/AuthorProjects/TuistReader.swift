// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads the manifests of Tuist as the Xcode project that it generates. A manifest is a program: it has to run first, with
/// WidgetLab's `ProjectDescription`, and prints its description.
///
/// Source: Tuist, the references of `ProjectDescription` and of the generated project.
struct TuistReader {
  /// The description that each manifest printed, by its absolute path.
  private let manifests: [String: Data]
  private let files: any ProjectFiles
  /// The folder from which paths with `//` start.
  private let root: String

  static let name = "Project.swift"

  /// - Parameter path: of the first manifest.
  init(_ path: String, manifests: [String: Data], files: any ProjectFiles) {
    self.manifests = manifests
    self.files = files
    root = Self.root(of: FilePath.folder(path), files)
  }

  /// Whether a file is a manifest of Tuist. A file of helpers can have its name.
  static func isManifest(_ path: String, _ files: any ProjectFiles) -> Bool {
    FilePath.name(path) == name && !path.contains("/ProjectDescriptionHelpers/") && !path.contains("/Tuist/")
      && files.text(path)?.contains("import ProjectDescription") == true
  }

  /// The nearest folder above a manifest that has the folder `Tuist`, a plugin or a repository.
  static func root(of folder: String, _ files: any ProjectFiles) -> String {
    let markers: Set<String> = [".git", "Plugin.swift", "Tuist", "Tuist.swift"]
    var place = folder
    while place != "/" {
      if !markers.isDisjoint(with: files.entries(of: place) ?? []) { return place }
      place = FilePath.folder(place)
    }
    return folder
  }

  /// - Returns: the project, and the manifests of those on which it depends.
  /// - Throws: `unevaluated` with the path of a manifest whose description is needed; `damaged`; `no-widget`.
  func project(_ path: String) throws(ProjectError) -> (project: AuthorProject, others: Set<String>) {
    var described = DescribedProject(name: "", path: path, folder: FilePath.folder(path))
    var queue = [path]
    var visited: Set<String> = []
    while let next = queue.popLast() {
      guard visited.insert(next).inserted else { continue }
      guard files.contents(next) != nil else {
        described.notes.append(ProjectNote(FilePath.relative(next, to: root), "this manifest does not exist"))
        continue
      }
      queue += try add(next, to: &described)
    }
    let widgets = described.widgets(files: files)
    guard !widgets.isEmpty else {
      throw ProjectError(
        .noWidget, "this manifest of Tuist has no widget extension", at: path,
        advice:
          "WidgetLab needs a target of the product .appExtension whose infoPlist has NSExtensionPointIdentifier com.apple.widgetkit-extension"
      )
    }
    return (AuthorProject(name: described.name, path: path, widgets: widgets), visited.subtracting([path]))
  }

  /// Adds the targets of a manifest.
  ///
  /// - Returns: the manifests of the projects on which they depend.
  private func add(_ path: String, to described: inout DescribedProject) throws(ProjectError) -> [String] {
    guard let data = manifests[path] else {
      throw ProjectError(.unevaluated, "this manifest of Tuist was not run", at: path)
    }
    guard let keys = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any],
      let name = keys["name"] as? String
    else {
      throw ProjectError(
        .damaged, "this manifest of Tuist made no project", at: path, advice: "it needs one `let project = Project(…)`")
    }
    if described.name.isEmpty { described.name = name }
    let manifest = TuistManifest(folder: FilePath.folder(path), root: root, keys: keys, files: files)
    let project = manifest.settings(keys["settings"], withDefaults: true)
    var others: [String] = []
    for target in keys["targets"] as? [[String: Any]] ?? [] {
      var result = manifest.target(target, &described)
      result.project = project
      if described.targets.contains(where: { $0.name == result.name }) {
        described.notes.append(ProjectNote(result.name, "another project has a target of this name, which is meant"))
      } else {
        described.targets.append(result)
      }
      for dependency in target["dependencies"] as? [[String: Any]] ?? [] {
        guard let place = dependency["project"] as? String else { continue }
        others.append(manifest.absolute(place) + "/" + Self.name)
      }
    }
    return others
  }
}

/// One manifest of Tuist.
private struct TuistManifest {
  let folder: String
  let root: String
  let keys: [String: Any]
  let files: any ProjectFiles

  /// The absolute path of a path of the manifest.
  func absolute(_ path: String) -> String {
    path.hasPrefix("//")
      ? FilePath.absolute(String(path.drop { $0 == "/" }), in: root) : FilePath.absolute(path, in: folder)
  }

  // MARK: Settings

  /// The settings for debugging, and the `.xcconfig` below them.
  ///
  /// - Parameter withDefaults: whether those are added that Tuist adds to a project.
  func settings(_ value: Any?, withDefaults: Bool) -> (settings: [String: String], file: String?) {
    let keys = value as? [String: Any] ?? [:]
    var result: [String: String] = [:]
    if withDefaults, keys["hasDefaults"] as? Bool ?? true {
      let excluded = keys["excluded"] as? [String] ?? []
      result = ["SWIFT_ACTIVE_COMPILATION_CONDITIONS": "DEBUG", "SWIFT_VERSION": "5.0"].filter {
        !excluded.contains($0.key)
      }
    }
    result.merge(keys["base"] as? [String: String] ?? [:]) { $1 }
    let all = keys["configurations"] as? [[String: Any]] ?? []
    let chosen =
      all.first { $0["name"] as? String == "Debug" } ?? all.first { $0["isDebug"] as? Bool == true } ?? all.first
    result.merge(chosen?["settings"] as? [String: String] ?? [:]) { $1 }
    return (result, (chosen?["file"] as? String).map(absolute))
  }

  // MARK: Targets

  func target(_ keys: [String: Any], _ described: inout DescribedProject) -> DescribedProject.Target {
    let name = keys["name"] as? String ?? ""
    var target = DescribedProject.Target(name: name, type: keys["product"] as? String ?? "")
    if target.type == "framework.static" { target.type = "framework" }
    target.settings = facts(keys)
    let ownSettings = settings(keys["settings"], withDefaults: false)
    target.settings.merge(ownSettings.settings) { $1 }
    target.settingsFile = ownSettings.file
    target.sources = (keys["sources"] as? [[String: Any]] ?? []).flatMap { matches($0) }.filter(XcodeMembers.isCompiled)
    for element in keys["resources"] as? [[String: Any]] ?? [] { target.resources += resources(element) }
    for element in keys["folders"] as? [[String: Any]] ?? [] {
      for path in members(of: element) {
        if XcodeMembers.isCompiled(path) { target.sources.append(path) } else { target.resources.append(path) }
      }
    }
    target.sources = unique(target.sources)
    target.resources = unique(target.resources.filter { FilePath.name($0) != "Info.plist" })
    addInfoPlist(keys["infoPlist"], to: &target, &described)
    addEntitlements(keys["entitlements"], to: &target, &described)
    for dependency in keys["dependencies"] as? [[String: Any]] ?? [] { add(dependency, to: &target) }
    for script in keys["scripts"] as? [String] ?? [] {
      target.notes.append(ProjectNote(script, "this script of the target \(name) is not run here"))
    }
    return target
  }

  private func unique(_ paths: [String]) -> [String] {
    var seen: Set<String> = []
    return paths.filter { seen.insert($0).inserted }
  }

  /// What the manifest says beside the settings.
  private func facts(_ keys: [String: Any]) -> [String: String] {
    let name = keys["name"] as? String ?? ""
    var result: [String: String] = [:]
    result["PRODUCT_BUNDLE_IDENTIFIER"] = keys["bundleId"] as? String
    // Xcode's module of a name with other characters has underscores, as Tuist's product has.
    result["PRODUCT_NAME"] = keys["productName"] as? String ?? name.replacing("-", with: "_")
    let platforms = keys["platforms"] as? [String] ?? []
    let platform = platforms.contains("iOS") ? "iOS" : platforms.first ?? "iOS"
    let version = (keys["deploymentTargets"] as? [String: String])?[platform]
    result.merge(DescribedProject.settings(ofPlatform: platform, from: version)) { $1 }
    return result
  }

  private func addInfoPlist(
    _ value: Any?, to target: inout DescribedProject.Target, _ described: inout DescribedProject
  ) {
    let keys = value as? [String: Any] ?? [:]
    if let path = keys["file"] as? String {
      target.settings["INFOPLIST_FILE"] = absolute(path)
      return
    }
    var content = keys["dictionary"] as? [String: Any] ?? [:]
    if keys["dictionary"] == nil {
      guard value != nil else { return }
      content = DescribedProject.standardKeys(ofType: target.type)
      content.merge(keys["extending"] as? [String: Any] ?? [:]) { $1 }
    }
    // Where Tuist writes it.
    let place = "\(folder)/Derived/InfoPlists/\(target.name)-Info.plist"
    described.generate(content, at: place)
    target.settings["INFOPLIST_FILE"] = place
  }

  private func addEntitlements(
    _ value: Any?, to target: inout DescribedProject.Target, _ described: inout DescribedProject
  ) {
    let keys = value as? [String: Any] ?? [:]
    if let path = keys["file"] as? String {
      target.settings["CODE_SIGN_ENTITLEMENTS"] = absolute(path)
    } else if let content = keys["dictionary"] as? [String: Any] {
      let place = "\(folder)/Derived/Entitlements/\(target.name).entitlements"
      described.generate(content, at: place)
      target.settings["CODE_SIGN_ENTITLEMENTS"] = place
    }
  }

  // MARK: Files

  /// The files and the folders of resources that a pattern names.
  private func matches(_ glob: [String: Any]) -> [String] {
    guard let text = glob["pattern"] as? String, !text.isEmpty else { return [] }
    let pattern = absolute(text)
    let excluded = (glob["excluding"] as? [String] ?? []).map { GlobPattern(absolute($0)) }
    let foundFiles: [String]
    if pattern.contains(where: { "*?[{".contains($0) }) {
      // The folder before the first part with a pattern.
      let parts = pattern.split(separator: "/").prefix { part in !part.contains { "*?[{".contains($0) } }
      let base = "/" + parts.joined(separator: "/")
      let glob = GlobPattern(pattern)
      foundFiles = SourceFolder(path: base).files(files).filter { glob.matches($0) }
    } else {
      foundFiles =
        files.isFolder(pattern) && XcodeMembers.isSearched(pattern)
        ? SourceFolder(path: pattern).files(files) : [pattern]
    }
    return foundFiles.filter { path in files.exists(path) && !excluded.contains { $0.matches(path) } }
  }

  private func resources(_ element: [String: Any]) -> [String] {
    if let folder = element["folder"] as? String {
      return [absolute(folder)].filter(files.exists)
    }
    return matches(element).filter { !XcodeMembers.isCompiled($0) }
  }

  private func members(of element: [String: Any]) -> [String] {
    guard let name = element["folder"] as? String else { return [] }
    let place = absolute(name)
    let excluded = (element["excluding"] as? [String] ?? []).map { FilePath.absolute($0, in: place) }
    return SourceFolder(path: place).files(files).filter { path in
      !excluded.contains { path == $0 || path.hasPrefix($0 + "/") }
    }
  }

  // MARK: Dependencies

  private func add(_ dependency: [String: Any], to target: inout DescribedProject.Target) {
    if let name = dependency["target"] as? String {
      target.dependencies.append(name)
    } else if let name = dependency["sdk"] as? String {
      target.frameworks.append(FilePath.ending(name).isEmpty ? name + ".framework" : name)
    } else if let name = dependency["product"] as? String {
      target.products.append(PackageProduct(name: name, place: place(of: name, keys["packages"])))
    } else if let name = dependency["external"] as? String {
      target.products.append(PackageProduct(name: name, place: externalPlace(of: name)))
    } else if let name = dependency["binary"] as? String {
      target.notes.append(
        ProjectNote(FilePath.name(name), "this framework is not built from sources, and cannot be linked here"))
    }
  }

  /// The package of a product: the one whose name is the product's, or the only one.
  private func place(of product: String, _ packages: Any?) -> PackageProduct.Place {
    let places = (packages as? [[String: Any]] ?? []).compactMap { package -> PackageProduct.Place? in
      if let path = package["path"] as? String { return .local(absolute(path)) }
      guard let url = package["url"] as? String else { return nil }
      return .remote(url: url, requirement: package["requirement"] as? String ?? "from: \"0.0.0\"")
    }
    return choose(product, places)
  }

  private func choose(_ product: String, _ places: [PackageProduct.Place]) -> PackageProduct.Place {
    func plain(_ name: String) -> String {
      let words = name.lowercased().filter { $0 != "-" && $0 != "_" }
      return words.hasPrefix("swift") && words.count > 5 ? String(words.dropFirst(5)) : words
    }
    let named =
      places.first { $0.identity.lowercased() == product.lowercased() }
      ?? places.first { plain($0.identity) == plain(product) }
    let local = places.first { place in
      guard case .local(let folder) = place else { return false }
      return files.text(folder + "/Package.swift")?.contains("\"\(product)\"") == true
    }
    return named ?? local ?? (places.count == 1 ? places[0] : .unknown)
  }

  /// The package of a product that `Package.swift` of the folder `Tuist` names.
  private func externalPlace(of product: String) -> PackageProduct.Place {
    let paths = ["\(root)/Tuist/Package.swift", "\(root)/Package.swift"]
    guard let path = paths.first(where: { files.contents($0) != nil }), let text = files.text(path) else {
      return .unknown
    }
    let remote = text.matches(of: /\.package\(\s*url:\s*"([^"]+)"\s*,\s*((?:[^()]|\([^()]*\))*)\)/).map { match in
      PackageProduct.Place.remote(
        url: String(match.output.1), requirement: requirement(String(match.output.2))
      )
    }
    let local = text.matches(of: /\.package\(\s*path:\s*"([^"]+)"/).map { match in
      PackageProduct.Place.local(FilePath.absolute(String(match.output.1), in: FilePath.folder(path)))
    }
    return choose(product, remote + local)
  }

  /// A requirement in the forms that SwiftPM had before, as it writes it now.
  private func requirement(_ text: String) -> String {
    var text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if let traits = text.firstRange(of: /,\s*traits:.*/.dotMatchesNewlines()) { text.removeSubrange(traits) }
    while text.hasSuffix(",") || text.hasSuffix(" ") { text.removeLast() }
    if let old = text.wholeMatch(of: /\.(exact|branch|revision)\(\s*("[^"]*")\s*\)/) {
      return "\(old.output.1): \(old.output.2)"
    }
    if let old = text.wholeMatch(of: /\.upToNextMajor\(\s*from:\s*("[^"]*")\s*\)/) { return "from: \(old.output.1)" }
    return text
  }
}
