// SPDX-License-Identifier: Apache-2.0
/// The Swift packages that are compiled with the widget extensions of a project: the local ones, and remote ones for Apple's
/// platforms only. Their own manifests do not name WidgetLab's modules, which their sources may import.
package struct LocalPackages: Sendable, Hashable {
  /// By folder.
  package var packages: [String: SwiftPackage] = [:]
  /// Why a package cannot be described, by folder.
  package var failures: [String: String] = [:]
  /// The folders of the remote packages.
  package var remote: [PackageProduct.Place: String] = [:]

  package init() {}

  /// The folders of packages that must be described before the targets of some products are known.
  package func unknown(for products: [PackageProduct]) -> [String] {
    var walk = Walk(self, platform: "iOS", files: nil)
    walk.add(products)
    return walk.unknown
  }

  /// The targets of some products, and those on which they depend. Products of remote packages stay products.
  func targets(
    of products: [PackageProduct], platform: String, files: any ProjectFiles
  ) -> [LibraryTarget] {
    var walk = Walk(self, platform: platform, files: files)
    walk.add(products)
    return walk.targets
  }

  private func folder(of place: PackageProduct.Place) -> String? {
    if case .local(let folder) = place { folder } else { remote[place] }
  }

  /// Follows dependencies from target to target.
  private struct Walk {
    private let knownPackages: LocalPackages
    private let platform: String
    /// `nil` when only folders are wanted.
    private let files: (any ProjectFiles)?
    private var visited: Set<[String]> = []
    private(set) var unknown: [String] = []
    private(set) var targets: [LibraryTarget] = []

    init(_ knownPackages: LocalPackages, platform: String, files: (any ProjectFiles)?) {
      self.knownPackages = knownPackages
      self.platform = platform
      self.files = files
    }

    mutating func add(_ products: [PackageProduct]) {
      for product in products {
        if let folder = knownPackages.folder(of: product.place) { add(product.name, in: folder) }
      }
    }

    /// Adds the targets of a product. A target of this name is meant when there is no such product.
    private mutating func add(_ product: String, in folder: String) {
      guard let package = knownPackages.packages[folder] else {
        if knownPackages.failures[folder] == nil, !unknown.contains(folder) { unknown.append(folder) }
        return
      }
      for name in package.products[product] ?? [product] { add(target: name, of: package) }
    }

    private mutating func add(target name: String, of package: SwiftPackage) {
      guard let target = package.targets[name], visited.insert([package.folder, name]).inserted else { return }
      var links: [PackageProduct] = []
      for link in target.dependencies
      where link.platforms.isEmpty || link.platforms.contains(platform.lowercased()) {
        follow(link.dependency, of: package, &links)
      }
      guard let files else { return }
      var library = PackageTargetReader(package, target, platform: platform, files: files).library()
      library.products = links
      targets.append(library)
    }

    private mutating func follow(
      _ dependency: SwiftPackage.Dependency, of package: SwiftPackage, _ links: inout [PackageProduct]
    ) {
      switch dependency {
      case .target(let name): add(target: name, of: package)
      case .byName(let name):
        if package.targets[name] != nil {
          add(target: name, of: package)
        } else {
          follow(product: name, in: nil, of: package, &links)
        }
      case .product(let name, let place): follow(product: name, in: place, of: package, &links)
      }
    }

    /// Follows a product of another package, which the manifest names by its identity or by its name.
    private mutating func follow(
      product: String, in name: String?, of package: SwiftPackage, _ links: inout [PackageProduct]
    ) {
      let identity = (name ?? product).lowercased()
      var foundDependencies = package.dependencies.filter { $0.identity == identity }
      if foundDependencies.isEmpty, let name {
        foundDependencies = package.dependencies.filter { self.name(of: $0) == name }
      }
      if foundDependencies.isEmpty {
        // A package can have another name than its products and its folder.
        foundDependencies = package.dependencies.filter { offers(product, $0) }
      }
      if foundDependencies.isEmpty, package.dependencies.count == 1 { foundDependencies = package.dependencies }
      let place = foundDependencies.first ?? .unknown
      if let folder = knownPackages.folder(of: place), knownPackages.failures[folder] == nil {
        add(product, in: folder)
      } else {
        links.append(PackageProduct(name: product, place: place))
      }
    }

    private func name(of place: PackageProduct.Place) -> String? {
      knownPackages.folder(of: place).flatMap { knownPackages.packages[$0]?.name }
    }

    /// Whether a local package has a product. One that is not described yet may have it.
    private mutating func offers(_ product: String, _ place: PackageProduct.Place) -> Bool {
      guard let folder = knownPackages.folder(of: place) else { return false }
      if let package = knownPackages.packages[folder] { return package.products[product] != nil }
      if knownPackages.failures[folder] == nil, !unknown.contains(folder) { unknown.append(folder) }
      return false
    }
  }
}

/// Reads the files of a target of a local package.
struct PackageTargetReader {
  private let package: SwiftPackage
  private let target: SwiftPackage.Target
  private let platform: String
  private let files: any ProjectFiles

  init(_ package: SwiftPackage, _ target: SwiftPackage.Target, platform: String, files: any ProjectFiles) {
    self.package = package
    self.target = target
    self.platform = platform
    self.files = files
  }

  func library() -> LibraryTarget {
    var library = LibraryTarget(module: XcodeSettings.identifier(target.name, "_"))
    library.compiler = compiler(&library.notes)
    if let reason = Self.kinds[target.kind] {
      library.obstacle = reason
      return library
    }
    guard let folder else {
      library.obstacle = "its folder \(target.path ?? "Sources/" + target.name) does not exist"
      return library
    }
    read(folder, into: &library)
    library.notes += target.plugins.map { ProjectNote($0, "this plugin of the target \(target.name) is not run here") }
    return library
  }

  private static let kinds = [
    "binary": "it is a binary framework, which cannot be linked here",
    "macro": "it is a macro, which is not compiled here", "plugin": "it is a plugin, which is not run here",
    "system": "it is a library of the system", "test": "it is a target of tests",
  ]

  /// The folder of the target, absolute. Source: SwiftPM's predefined folders of targets.
  private var folder: String? {
    if let path = target.path {
      let folder = FilePath.absolute(path, in: package.folder)
      return files.isFolder(folder) ? folder : nil
    }
    let places = ["Sources", "Source", "src", "srcs"].map { "\(package.folder)/\($0)" }
    if let found = places.map({ "\($0)/\(target.name)" }).first(where: files.isFolder) { return found }
    // A package with one target may have its files directly in the folder of sources.
    return package.targets.values.count { $0.kind != "test" } == 1 ? places.first(where: files.isFolder) : nil
  }

  private func read(_ folder: String, into library: inout LibraryTarget) {
    let excluded = target.exclude.map { FilePath.absolute($0, in: folder) }
    let chosen = target.sources?.map { FilePath.absolute($0, in: folder) }
    let resources = target.resources.map { (FilePath.absolute($0.path, in: folder), $0.isCopied) }
    func isIn(_ path: String, _ places: [String]) -> Bool {
      places.contains { path == $0 || path.hasPrefix($0 + "/") }
    }
    var members = XcodeMembers()
    var others: Set<String> = []
    for path in SourceFolder(path: folder).files(files) where !isIn(path, excluded) {
      if let resource = resources.first(where: { isIn(path, [$0.0]) }), FilePath.ending(path) != "swift" {
        if !resource.1 { members.add(path, isResource: true) }
      } else if FilePath.ending(path) == "swift" {
        if chosen.map({ isIn(path, $0) }) ?? true { members.sources.append(path) }
      } else if XcodeMembers.compiled.contains(FilePath.ending(path)) {
        others.insert(FilePath.ending(path))
      } else if Self.processed.contains(FilePath.ending(path)) {
        members.add(path, isResource: true)
      }
    }
    for (path, isCopied) in resources where isCopied { members.resources[FilePath.name(path)] = path }
    library.sources = members.sources
    library.resources = members.resources
    library.notes += members.notes
    if library.sources.isEmpty {
      library.obstacle =
        others.isEmpty ? "it has no Swift sources" : "only Swift is compiled here, not Objective-C, C or C++"
    }
  }

  /// What Xcode makes resources of although the manifest does not declare it. Source: Apple, *Bundling resources with a
  /// Swift package*.
  private static let processed: Set<String> = [
    "storyboard", "xcassets", "xcdatamodeld", "xcmappingmodel", "xcstrings", "xib",
  ]

  private func compiler(_ notes: inout [ProjectNote]) -> CompilerSettings {
    var compiler = CompilerSettings()
    compiler.languageMode = package.languageMode
    compiler.conditions = ["DEBUG"]
    for setting in target.settings where setting.tool == "swift" && setting.applies(to: platform) {
      let value = setting.values.first ?? ""
      switch setting.kind {
      case "define": compiler.conditions.append(value)
      case "enableUpcomingFeature": compiler.upcomingFeatures.append(value)
      case "enableExperimentalFeature": compiler.experimentalFeatures.append(value)
      case "swiftLanguageMode", "swiftLanguageVersion": compiler.languageMode = value.hasPrefix("6") ? 6 : 5
      case "defaultIsolation": compiler.isMainActorByDefault = value == "MainActor"
      // They find faults, and change nothing.
      case "strictMemorySafety", "treatAllWarnings", "treatWarning": break
      default:
        let text = ([setting.kind] + setting.values).joined(separator: " ")
        notes.append(ProjectNote(text, "this setting of the target \(target.name) is left out"))
      }
    }
    return compiler
  }
}

/// Decides which remote Swift packages are compiled like local ones, with WidgetLab's modules.
///
/// SwiftPM builds a package for Linux by its own manifest, which is right for one that supports Linux. One for Apple's
/// platforms only imports modules that only WidgetLab has here, uses `URLSession` or Core Foundation with Foundation alone,
/// or compiles only as a view.
package struct RemotePackages: Sendable {
  private let packages: LocalPackages
  /// The libraries that WidgetLab's package offers to authors.
  private let modules: Set<String>
  private let files: any ProjectFiles

  package init(_ packages: LocalPackages, modules: Set<String>, files: any ProjectFiles = FilesOnDisk()) {
    self.packages = packages
    self.modules = modules
    self.files = files
  }

  /// Whether one of some products of a package is for Apple's platforms only, and all have only targets that can be
  /// compiled here.
  ///
  /// - Parameter folder: of the package, which is described.
  package func areForApple(_ products: [String], in folder: String) -> Bool {
    let targets = packages.targets(
      of: products.map { PackageProduct(name: $0, place: .local(folder)) }, platform: "iOS", files: files)
    return targets.allSatisfy { $0.obstacle == nil } && targets.contains(where: isForApple)
  }

  private func isForApple(_ target: LibraryTarget) -> Bool {
    let values = ConditionValues(
      platform: "Linux", modules: AuthorModules.toolchain, defined: Set(target.compiler.conditions))
    return target.sources.contains { path in
      guard let data = files.contents(path) else { return false }
      let source = ConditionalSource(data)
      let imported = Set(source.imports(values).map(\.module))
      return !imported.isDisjoint(with: modules.subtracting(AuthorModules.toolchain))
        || (source.usesURLLoading && imported.isDisjoint(with: ["FoundationNetworking"]))
        || !source.orderOfNumbersAsMember.isEmpty || usesCoreFoundation(source, values: values, imported: imported)
    }
  }

  /// Whether a file uses names of Core Foundation or of the keychain, which `import Foundation` makes visible on Apple's
  /// systems.
  private func usesCoreFoundation(
    _ source: ConditionalSource, values: ConditionValues, imported: Set<String>
  ) -> Bool {
    modules.contains("Security") && !imported.contains("CoreFoundation")
      && source.modulesOfFoundation(source.names(values), importing: imported).contains("Security")
  }
}
