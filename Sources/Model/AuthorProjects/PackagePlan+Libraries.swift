// SPDX-License-Identifier: Apache-2.0

/// A library that is a target of the package.
struct BuiltLibrary: Sendable, Hashable {
  /// The target's name, also that of its module here.
  let name: String
  /// The modules that its sources import.
  var modules: Set<String> = []
  var missing: [PackagePlan.MissingModule] = []
}

/// The modules that a widget extension and its libraries can import.
struct LibraryScope {
  /// The libraries that can be compiled, by module: those of the project, and the targets of local packages.
  let libraries: [String: LibraryTarget]
  /// Why others cannot be compiled, by module.
  let obstacles: [String: String]
  /// All modules that can be imported.
  let modules: Set<String>
  /// The description of the widget extension itself, when it is a target of a package.
  let own: LibraryTarget?
  /// The modules of each product that can be had.
  private let products: [PackageProduct: Set<String>]

  init(of widget: WidgetTarget, in surroundings: PackagePlan.Surroundings, files: any ProjectFiles) {
    var all = widget.libraries
    let linked = widget.products + widget.libraries.values.flatMap(\.products)
    var own: LibraryTarget?
    for target in surroundings.packages.targets(of: linked, platform: widget.platform, files: files) {
      if target.module == widget.module, !Set(target.sources).isDisjoint(with: widget.sources) {
        own = target
      } else if all[target.module] == nil {
        all[target.module] = target
      }
    }
    self.own = own
    libraries = all.filter { $0.value.obstacle == nil }
    obstacles = all.compactMapValues(\.obstacle)
    var products: [PackageProduct: Set<String>] = [:]
    for product in linked + all.values.flatMap(\.products) + (own?.products ?? []) {
      guard surroundings.unavailable[product] == nil, surroundings.packages.remote[product.place] == nil,
        let checkout = surroundings.checkouts[product.place]
      else { continue }
      products[product] = Self.modules(of: product, in: checkout, files)
    }
    self.products = products
    modules = surroundings.modules.union(AuthorModules.toolchain).union(libraries.keys)
      .union(products.values.flatMap(\.self))
  }

  /// The modules of a product: that with its name, and the targets in the manifest of its package.
  private static func modules(
    of product: PackageProduct, in checkout: String, _ files: any ProjectFiles
  ) -> Set<String> {
    let manifest = files.text(checkout + "/Package.swift")
    let targets = manifest?.matches(of: /\.target\(\s*name:\s*"([^"]+)"/).map { String($0.output.1) }
    return Set([product.name] + (targets ?? []))
  }

  /// Those of some products that can be had and that a target imports.
  func products(of linked: [PackageProduct], for imports: Set<String>) -> [PackageProduct] {
    linked.filter { product in products[product].map { !$0.isDisjoint(with: imports) } ?? false }
  }
}

extension PackagePlan {
  /// Adds a library as a target of the package, unless it is one already.
  mutating func build(_ library: LibraryTarget, _ scope: LibraryScope, platform: String) -> BuiltLibrary {
    if let built = built[library.module] { return built }
    let name = unique(library.module)
    var result = BuiltLibrary(name: name)
    // A library can import one that imports it again only by mistake; SwiftPM reports the cycle.
    built[library.module] = result
    notes += library.notes
    let values = ConditionValues(
      platform: platform, modules: scope.modules, defined: Set(library.compiler.conditions).union(["DEBUG"]))
    let found = addSources(library.sources, of: name, values)
    (result.modules, result.missing) = (found.modules, found.missing)
    if library.hasAssetSymbols,
      addAssetSymbols(library.resources, name, bundle: ".module", hasExtensions: library.hasAssetExtensions)
    {
      result.modules.formUnion(["SwiftUI", "UIKit"])
    }
    built[library.module] = result
    let imported = scope.libraries.keys.filter { result.modules.contains($0) && $0 != library.module }.sorted()
    for module in imported {
      if let other = scope.libraries[module] { _ = build(other, scope, platform: platform) }
    }
    manifest.add(
      PackageManifest.Target(
        name: name, isExecutable: false, frameworks: frameworks(result.modules.subtracting(imported)),
        libraries: imported.compactMap { built[$0]?.name }.sorted(),
        products: scope.products(of: library.products, for: result.modules),
        settings: PackageManifest.settings(of: library.compiler) + found.settings
          + aliases(imported + [library.module]),
        resources: addResources(of: library, name)))
    return result
  }

  /// The flags for libraries whose target has another name than their module, as an element of `swiftSettings`.
  func aliases(_ modules: [String]) -> [String] {
    let flags = modules.sorted().compactMap { module -> String? in
      guard let name = built[module]?.name, name != module else { return nil }
      return "\"-module-alias\", \(PackageManifest.literal("\(module)=\(name)"))"
    }
    return flags.isEmpty ? [] : [".unsafeFlags([\(flags.joined(separator: ", "))])"]
  }

  /// Adds the resources of a target of a package. SwiftPM makes its bundle, and `Bundle.module`.
  ///
  /// - Returns: the files and folders of the bundle, relative to the target.
  mutating func addResources(of library: LibraryTarget, _ name: String) -> [String] {
    for (resource, path) in library.resources {
      items["Sources/\(name)/\(Self.resources)/\(resource)"] = .resource(path)
    }
    let top = Set(library.resources.keys.compactMap { $0.split(separator: "/").first.map(String.init) })
    return top.sorted().map { "\(Self.resources)/\($0)" }
  }

  private static let resources = "ResourcesOfBundle"
}
