// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A SwiftPM package that compiles the widget extensions of a project for WidgetLab, as the files of its folder.
package struct PackagePlan: Sendable, Hashable {
  /// What is at a path of the package.
  package enum Item: Sendable, Hashable {
    /// A symbolic link to a file or a folder of the author, by its absolute path.
    case link(String)
    /// The same for a resource of a library. SwiftPM copies the link itself, so that its path must be absolute.
    case resource(String)
    /// A view of the author's file, see `ConditionalSource.view`.
    case view(Data, of: String)
    /// A text that the author may change afterwards.
    case text(String)
  }

  /// An executable of the package.
  package struct Product: Sendable, Hashable {
    /// The executable's name, also that of its module.
    package var name: String
    package var bundle: String
    package var isExtension: Bool
    /// The target of the project; for the stand-in of an app its bundle identifier.
    package var origin: String
    /// Whether it is the stand-in of an app, with the sources that the app shares with its extension.
    package var hasSharedSources = false
  }

  /// What the package is made for.
  package struct Surroundings: Sendable, Hashable {
    /// The folder of the package, absolute.
    package var output: String
    /// The folder of WidgetLab's own package, absolute.
    package var widgetLab: String
    /// The folder with the flags of WidgetLab's SDK, absolute; `nil` when its sources are compiled.
    package var flags: String?
    /// The libraries that WidgetLab's package offers to authors.
    package var modules: Set<String>
    /// Names that a target cannot have, because a target of WidgetLab has it.
    package var takenNames: Set<String>
    /// Products of packages that cannot be had, with the reason.
    package var unavailable: [PackageProduct: String]
    /// The folders of the packages that can be had.
    package var checkouts: [PackageProduct.Place: String] = [:]
    /// The local packages, whose targets become targets of this package.
    package var packages = LocalPackages()
    /// Targets of the project that are left out, by name, with the reason.
    package var omitted: [String: String]
    /// Whether reloads have the budget and the spacing of a device.
    package var hasBudget = false
    /// The bundle identifiers of apps whose stand-ins do not compile with the sources that they share with extensions.
    package var appsWithoutSources: Set<String> = []

    package init(
      output: String, widgetLab: String, flags: String? = nil, modules: Set<String>, taken takenNames: Set<String>,
      unavailable: [PackageProduct: String] = [:], omitted: [String: String] = [:]
    ) {
      self.output = output
      self.widgetLab = widgetLab
      self.flags = flags
      self.modules = modules
      self.takenNames = takenNames
      self.unavailable = unavailable
      self.omitted = omitted
    }
  }

  /// By path in the package.
  package private(set) var items: [String: Item] = [:]
  package private(set) var products: [Product] = []
  package private(set) var notes: [ProjectNote] = []
  /// The imports of modules that do not exist here, by the name of the project's target.
  package private(set) var missing: [String: [MissingModule]] = [:]
  /// Why missing modules are missing, as far as it is known: mostly packages that cannot be had.
  package var reasonsForMissing: [ProjectNote] {
    let modules = Set(missing.values.joined().map(\.module))
    return notes.filter { modules.contains($0.subject) }
  }
  /// The products of packages that may have a module that is missing.
  package private(set) var wanted: Set<PackageProduct> = []
  /// The targets of the project that are not in the package, with the reason.
  package private(set) var omitted: [ProjectNote] = []
  /// The author's file of each Swift file of the package, by its path in the package.
  package private(set) var origins: [String: String] = [:]

  let project: AuthorProject
  package let surroundings: Surroundings
  let files: any ProjectFiles
  var manifest: PackageManifest
  var configuration: ClusterFile
  /// The names that targets have already.
  private var names: Set<String> = []
  /// The libraries that are targets of the package, by module.
  var built: [String: BuiltLibrary] = [:]
  /// The places of imports that a view leaves out, by module.
  var unused: [String: Set<String>] = [:]

  /// An import of a module that does not exist here.
  package struct MissingModule: Sendable, Hashable {
    package let module: String
    /// The author's file.
    package let path: String
    package let line: Int

    package init(module: String, path: String, line: Int) {
      self.module = module
      self.path = path
      self.line = line
    }
  }

  package init(_ project: AuthorProject, in surroundings: Surroundings, files: any ProjectFiles = FilesOnDisk()) {
    self.project = project
    self.surroundings = surroundings
    self.files = files
    manifest = PackageManifest(
      name: project.name + AuthorProject.outputEnding,
      project: FilePath.relative(project.path, to: surroundings.output),
      widgetLab: surroundings.widgetLab, flags: surroundings.flags)
    configuration = ClusterFile(
      project: FilePath.relative(project.path, to: surroundings.output), hasBudget: surroundings.hasBudget)
    var bundles: Set<String> = []
    for widget in project.widgets {
      if let reason = reason(toOmit: widget, bundles) {
        omitted.append(ProjectNote(widget.name, reason))
      } else {
        bundles.insert(widget.bundle)
        add(widget)
      }
    }
    for product in products where product.isExtension { addApp(of: product) }
    notes += notesOnUnusedImports
    var seen: Set<ProjectNote> = []
    notes = notes.filter { seen.insert($0).inserted }
    guard !products.isEmpty else { return }
    items["Package.swift"] = .text(manifest.text)
    items["widgetlab.yaml"] = .text(configuration.text)
    items[".gitignore"] = .text("/.build\n/.widgetlab\n")
  }

  package static func == (one: PackagePlan, other: PackagePlan) -> Bool { one.items == other.items }
  package func hash(into hasher: inout Hasher) { hasher.combine(items) }

  private func reason(toOmit widget: WidgetTarget, _ bundles: Set<String>) -> String? {
    if let reason = surroundings.omitted[widget.name] { return reason }
    if widget.sources.isEmpty { return "the target has no Swift sources" }
    if bundles.contains(widget.bundle) { return "another target has the bundle identifier \(widget.bundle)" }
    return nil
  }

  // MARK: Targets

  private mutating func add(_ widget: WidgetTarget) {
    let name = unique(widget.module)
    if name != widget.module {
      notes.append(
        ProjectNote(
          widget.name, "its module is \(name) here: a target of WidgetLab's package has the name \(widget.module)"))
    }
    products.append(Product(name: name, bundle: widget.bundle, isExtension: true, origin: widget.name))
    notes += widget.notes

    let scope = LibraryScope(of: widget, in: surroundings, files: files)
    compile(
      scope.ownTarget?.sources ?? widget.sources, of: widget, as: name, scope,
      compiler: scope.ownTarget?.compiler ?? widget.compiler)
    addResources(of: widget, name)
  }

  /// Adds the target of a widget extension, or of the stand-in for its app, which has the libraries of the extension.
  ///
  /// - Returns: the imports of modules that do not exist here.
  @discardableResult private mutating func compile(
    _ sources: [String], of widget: WidgetTarget, as name: String, _ scope: LibraryScope, compiler: CompilerSettings,
    importing others: Set<String> = []
  ) -> [MissingModule] {
    let linked = widget.products + (scope.ownTarget?.products ?? [])
    let values = ConditionValues(
      platform: widget.platform, modules: scope.modules, defined: Set(compiler.conditions).union(["DEBUG"]))
    var foundSources = addSources(sources, of: name, values)
    foundSources.modules.formUnion(others)
    if addDefinitions(of: widget, name) { foundSources.modules.insert("Intents") }
    if widget.hasAssetSymbols, addAssetSymbols(widget.resources, name, hasExtensions: widget.hasAssetExtensions) {
      foundSources.modules.formUnion(["SwiftUI", "UIKit"])
    }
    let ownModules = foundSources.modules
    var gone = foundSources.missing
    if !gone.isEmpty { wanted.formUnion(linked) }

    // The libraries that are imported, also by each other.
    var used: [String] = []
    var queue = scope.libraries.keys.filter(ownModules.contains).sorted()
    while let module = queue.popLast() {
      guard !used.contains(module), let library = scope.libraries[module] else { continue }
      used.append(module)
      let built = build(library, scope, platform: widget.platform)
      queue += scope.libraries.keys.filter { built.modules.contains($0) && $0 != module }.sorted()
      gone += built.missing
      if !built.missing.isEmpty { wanted.formUnion(library.products) }
    }
    let known = missing[widget.name] ?? []
    if !gone.isEmpty { missing[widget.name] = known + gone.filter { !known.contains($0) } }
    for module in Set(gone.map(\.module)).sorted() {
      if let obstacle = scope.obstacles[module] { notes.append(ProjectNote(module, obstacle)) }
    }
    for product in linked + used.flatMap({ scope.libraries[$0]?.products ?? [] }) {
      if let reason = surroundings.unavailable[product] { notes.append(ProjectNote(product.name, reason)) }
    }
    manifest.add(
      PackageManifest.Target(
        name: name, isExecutable: true,
        frameworks: frameworks(ownModules.union(used.flatMap { built[$0]?.modules ?? [] }).subtracting(used)),
        libraries: used.compactMap { built[$0]?.name }.sorted(),
        products: scope.products(of: linked, for: ownModules),
        settings: PackageManifest.settings(of: compiler) + foundSources.settings + aliases(used),
        resources: scope.ownTarget.map { addResources(of: $0, name) } ?? []))
    return gone
  }

  /// The libraries of WidgetLab that a target imports. `WidgetKit` is always one: it brings `URLSession`.
  func frameworks(_ imports: Set<String>) -> [String] {
    surroundings.modules.filter { imports.contains($0) || $0 == "WidgetKit" }.sorted()
  }

  /// Adds the classes that Xcode generates from definitions of intents.
  ///
  /// - Returns: whether there are any.
  private mutating func addDefinitions(of widget: WidgetTarget, _ name: String) -> Bool {
    var classes: Set<String> = []
    for path in widget.definitions {
      let content = files.contents(path)
      guard let definition = content.flatMap({ IntentDefinition($0, language: widget.intentLanguage) }) else {
        notes.append(ProjectNote(FilePath.name(path), "this definition of intents cannot be read"))
        continue
      }
      guard classes.isDisjoint(with: definition.classes) else {
        notes.append(ProjectNote(FilePath.name(path), "another definition has a class of the same name"))
        continue
      }
      classes.formUnion(definition.classes)
      let file = "Sources/\(name)/\(FilePath.stem(path)).intentdefinition.swift"
      items[file] = .view(Data(definition.swift.utf8), of: path)
      origins[file] = path
      notes += definition.missing.map { ProjectNote($0.subject, $0.reason) }
    }
    return !classes.isEmpty
  }

  /// Adds the symbols of the asset catalogs among the resources of a target.
  ///
  /// - Returns: whether there are any.
  private mutating func addAssetSymbols(
    _ resources: [String: String], _ name: String, bundle: String = ".main", hasExtensions: Bool
  ) -> Bool {
    let catalogs = resources.values.filter { FilePath.ending($0) == "xcassets" }.sorted()
    let symbols = AssetSymbols(catalogs, files: files).source(bundle: bundle, hasExtensions: hasExtensions)
    guard let symbols, let first = catalogs.first else { return false }
    let file = "Sources/\(name)/GeneratedAssetSymbols.swift"
    items[file] = .view(symbols, of: first)
    origins[file] = first
    return true
  }

  private mutating func addResources(of widget: WidgetTarget, _ name: String) {
    for (resource, path) in widget.resources { items["Resources/\(name)/\(resource)"] = .link(path) }
    let top = Set(widget.resources.keys.compactMap { $0.split(separator: "/").first.map(String.init) })
    configuration.addExtension(
      widget, executable: name, resources: top.sorted().map { "Resources/\(name)/\($0)" },
      infoPlist: addInfoPlist(of: widget, name), notes: &notes)
  }

  /// - Returns: the path of the `Info.plist` from the package; `nil` without one.
  private mutating func addInfoPlist(of widget: WidgetTarget, _ name: String) -> String? {
    guard let data = widget.generatedInfoPlist else {
      return widget.infoPlist.map { FilePath.relative($0, to: surroundings.output) }
    }
    let place = "Resources/\(name)-Info.plist"
    items[place] = .view(data, of: project.path)
    return place
  }

  /// Adds a stand-in for the app that contains an extension.
  private mutating func addApp(of product: Product) {
    guard let widget = project.widgets.first(where: { $0.name == product.origin }) else { return }
    guard !products.contains(where: { $0.bundle == widget.app.bundle }) else { return }
    // SwiftPM cannot link an executable whose name has other letters.
    let names = [widget.app.displayName, widget.app.bundle.split(separator: ".").last.map(String.init)]
    let last = names.compactMap(\.self).first { $0.allSatisfy(\.isASCII) } ?? "Containing"
    let name = unique(XcodeSettings.identifier(last.filter { !$0.isWhitespace }, "_") + "App")
    let hasSharedSources = compileSharedSources(of: widget.app, as: name)
    products.append(
      Product(
        name: name, bundle: widget.app.bundle, isExtension: false, origin: widget.app.bundle,
        hasSharedSources: hasSharedSources))
    if !hasSharedSources {
      manifest.add(
        PackageManifest.Target(
          name: name, isExecutable: true, frameworks: ["UIKit"], libraries: [], products: [],
          settings: [".swiftLanguageMode(.v5)"]))
    }
    items["Sources/\(name)/\(name).swift"] = .text(Self.app(widget.app.bundle))
    configuration.addApp(widget.app, executable: name, notes: &notes)
  }

  /// Adds the target of a stand-in with the sources that the app shares with its extensions, unless the app's conditions
  /// have them import a module that does not exist here.
  ///
  /// - Returns: whether there is such a target.
  private mutating func compileSharedSources(of app: ContainingAppFacts, as name: String) -> Bool {
    let extensions = products.filter(\.isExtension).map(\.origin)
    let widgets = project.widgets.filter { $0.app.bundle == app.bundle && extensions.contains($0.name) }
    guard let widget = Self.joined(widgets), case let shared = sharedSources(of: widget), !shared.isEmpty else {
      return false
    }
    let former = self
    let scope = LibraryScope(of: widget, in: surroundings, files: files)
    let gone = compile(shared, of: widget, as: name, scope, compiler: app.compiler, importing: ["UIKit"])
    guard !gone.isEmpty else { return true }
    self = former
    let known = Set(missing.values.joined().map(\.module))
    let modules = Set(gone.map(\.module)).subtracting(known).sorted()
    if !modules.isEmpty {
      notes.append(
        ProjectNote(
          app.bundle,
          "its stand-in has no sources, and performs no intents: those that it shares with its extension import "
            + "\(modules.joined(separator: ", ")) there, which does not exist here"))
    }
    return false
  }

  /// The widget extensions of one app as one, with the sources, the libraries and the intents of all.
  private static func joined(_ widgets: [WidgetTarget]) -> WidgetTarget? {
    guard var all = widgets.first else { return nil }
    for widget in widgets.dropFirst() {
      all.app.sharedSources += widget.app.sharedSources.filter { !all.app.sharedSources.contains($0) }
      all.definitions += widget.definitions.filter { !all.definitions.contains($0) }
      all.products += widget.products.filter { !all.products.contains($0) }
      all.libraries.merge(widget.libraries) { first, _ in first }
    }
    return all
  }

  /// The sources of an extension that its app has too, when one of them can have an intent: the app performs those that
  /// open it, and those of protocols such as `LiveActivityIntent`.
  private func sharedSources(of widget: WidgetTarget) -> [String] {
    let shared = widget.app.sharedSources
    guard !surroundings.appsWithoutSources.contains(widget.app.bundle) else { return [] }
    let values = ConditionValues(
      platform: widget.platform, modules: surroundings.modules,
      defined: Set(widget.app.compiler.conditions).union(["DEBUG"]))
    let hasIntents = shared.contains { path in
      guard let data = files.contents(path) else { return false }
      return ConditionalSource(data).imports(values).contains { $0.module == "AppIntents" }
    }
    return hasIntents ? shared : []
  }

  private static func app(_ bundle: String) -> String {
    """
    // An app in place of \(bundle), whose sources are not compiled here, but for those that it shares with its extension.
    // It has its identifier, so that the extensions belong to it. Write into it what the widgets need from the app, such
    // as values of the app group.
    import UIKit

    @main class AppDelegate: UIResponder, UIApplicationDelegate {}

    """
  }

  mutating func unique(_ name: String) -> String {
    var result = name
    if surroundings.takenNames.contains(result) || names.contains(result) { result = name + "Target" }
    var number = 2
    while surroundings.takenNames.contains(result) || names.contains(result) {
      result = "\(name)Target\(number)"
      number += 1
    }
    names.insert(result)
    return result
  }
}

/// The modules that authors can import.
package enum AuthorModules {
  /// Modules of WidgetLab that have another name than in an author's `import`, with that name. Other packages test these
  /// names with `canImport`, and change their behaviour.
  package static let aliases = [
    "Combine": "CombineAPI", "CoreFoundation": "CoreFoundationAPI", "CoreGraphics": "CoreGraphicsAPI",
    "CryptoKit": "CryptoKitAPI", "Network": "NetworkAPI", "OSLog": "OSLogAPI", "Security": "SecurityAPI", "os": "OSAPI",
  ]

  /// Those of Swift 6.3 for Linux.
  package static let toolchain: Set<String> = [
    "Dispatch", "Distributed", "Foundation", "FoundationEssentials", "FoundationInternationalization",
    "FoundationNetworking", "FoundationXML", "Glibc", "Observation", "RegexBuilder", "Swift", "Synchronization",
    "_Concurrency", "_StringProcessing",
  ]
}

/// How the Swift files of a target are compiled.
package struct CompilerSettings: Sendable, Hashable {
  /// The major version of the language mode: 5 or 6.
  package var languageMode = 5
  /// The active compilation conditions.
  package var conditions: [String] = []
  /// The upcoming features that are on, by the names of the compiler.
  package var upcomingFeatures: [String] = []
  /// The experimental features that are on, by the names of the compiler.
  package var experimentalFeatures: [String] = []
  /// Whether declarations are isolated to the main actor by default.
  package var isMainActorByDefault = false

  package init() {}
}

/// A library whose module a widget extension can import: one of the project, or a target of a local Swift package. All
/// paths are absolute.
package struct LibraryTarget: Sendable, Hashable {
  package var module: String
  /// Swift files.
  package var sources: [String] = []
  /// Files and folders of its bundle, `Bundle.module`, by the name that they have in it.
  package var resources: [String: String] = [:]
  package var compiler = CompilerSettings()
  /// Whether Xcode generates symbols from asset catalogs, and members of SwiftUI's and UIKit's types with their names.
  package var hasAssetSymbols = true
  package var hasAssetExtensions = false
  /// The products of Swift packages that it links.
  package var products: [PackageProduct] = []
  /// Why it cannot be compiled here; `nil` when it can.
  package var obstacle: String?
  package var notes: [ProjectNote] = []

  package init(module: String) { self.module = module }
}

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
  let ownTarget: LibraryTarget?
  /// The modules of each product that can be had.
  private let products: [PackageProduct: Set<String>]

  init(of widget: WidgetTarget, in surroundings: PackagePlan.Surroundings, files: any ProjectFiles) {
    var all = widget.libraries
    let linked = widget.products + widget.libraries.values.flatMap(\.products)
    var ownLibrary: LibraryTarget?
    for target in surroundings.packages.targets(of: linked, platform: widget.platform, files: files) {
      if target.module == widget.module, !Set(target.sources).isDisjoint(with: widget.sources) {
        ownLibrary = target
      } else if all[target.module] == nil {
        all[target.module] = target
      }
    }
    self.ownTarget = ownLibrary
    libraries = all.filter { $0.value.obstacle == nil }
    obstacles = all.compactMapValues(\.obstacle)
    var products: [PackageProduct: Set<String>] = [:]
    for product in linked + all.values.flatMap(\.products) + (ownLibrary?.products ?? []) {
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
    let foundSources = addSources(library.sources, of: name, values)
    (result.modules, result.missing) = (foundSources.modules, foundSources.missing)
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
        settings: PackageManifest.settings(of: library.compiler) + foundSources.settings
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
  private mutating func addResources(of library: LibraryTarget, _ name: String) -> [String] {
    for (resource, path) in library.resources {
      items["Sources/\(name)/\(Self.resources)/\(resource)"] = .resource(path)
    }
    let top = Set(library.resources.keys.compactMap { $0.split(separator: "/").first.map(String.init) })
    return top.sorted().map { "\(Self.resources)/\($0)" }
  }

  private static let resources = "ResourcesOfBundle"
}

/// What the sources of a target need.
struct SourceNeeds: Sendable, Hashable {
  /// The modules that they import.
  var modules: Set<String> = []
  /// The imports of modules that do not exist here.
  var missing: [PackagePlan.MissingModule] = []
  /// The modules whose names they use without an import. All files of the target see them.
  var implicit: Set<String> = []

  /// The flags for them, as elements of `swiftSettings`.
  var settings: [String] {
    implicit.sorted().map { module in
      let name = PackageManifest.literal(AuthorModules.aliases[module] ?? module)
      return ".unsafeFlags([\"-Xfrontend\", \"-import-module\", \"-Xfrontend\", \(name)])"
    }
  }
}

extension PackagePlan {
  /// Adds the sources of a target, as links and views. A source that is listed twice, the second time by way of a
  /// symbolic link, is added once.
  private mutating func addSources(_ sources: [String], of name: String, _ values: ConditionValues) -> SourceNeeds {
    let base = FilePath.common(sources)
    var needs = SourceNeeds()
    var added: Set<String> = []
    for path in sources where added.insert(files.resolved(path)).inserted {
      let place = "Sources/\(name)/\(FilePath.relative(path, to: base))"
      guard let data = files.contents(path) else {
        notes.append(
          ProjectNote(FilePath.relative(path, to: FilePath.folder(project.path)), "this file cannot be read"))
        continue
      }
      let source = ConditionalSource(data)
      let replaced = addImports(of: source, at: path, values, to: &needs)
        .merging(source.orderOfNumbersAsMember) { $1 }.merging(source.withoutObjectiveC) { $1 }
      if let view = source.view(platform: values.platform, replacing: replaced) {
        let file = String(place.dropLast(".swift".utf8.count)) + Self.viewEnding
        items[file] = .view(SourceView.text(view, of: path), of: path)
        origins[file] = path
      } else {
        items[place] = .link(path)
        origins[place] = path
      }
    }
    return needs
  }

  /// Adds what a file imports.
  ///
  /// - Returns: the names of modules that are replaced in its view, by their places.
  private mutating func addImports(
    of source: ConditionalSource, at path: String, _ values: ConditionValues, to needs: inout SourceNeeds
  ) -> [Range<Int>: String] {
    let names = source.names
    var modules: Set<String> = []
    var replaced: [Range<Int>: String] = [:]
    for line in source.imports(values) {
      if values.modules.contains(line.module) {
        modules.insert(line.module)
      } else if let framework = AppleFramework.knownFrameworks[line.module], !framework.isUsed(names),
        let place = source.moduleName(in: line)
      {
        let other = values.modules.contains(framework.exported) ? framework.exported : "Foundation"
        replaced[place] = other
        modules.insert(other)
        unused[line.module, default: []].insert("\(path):\(line.line)")
      } else {
        modules.insert(line.module)
        needs.missing.append(MissingModule(module: line.module, path: path, line: line.line))
      }
    }
    let own = modules.contains("SwiftUI") ? names.subtracting(AppleFramework.combineOfSwiftUI) : names
    let implicit = source.modulesOfFoundation(own, importing: modules).intersection(values.modules)
    needs.implicit.formUnion(implicit)
    needs.modules.formUnion(modules.union(implicit))
    return replaced
  }

  /// The compiler identifies a file by its name and its module, and a view has the name of the author's file by its
  /// `#sourceLocation`.
  package static let viewEnding = ".view.swift"

  /// One for each module, but not for one that another file uses: its absence is reported then.
  var notesOnUnusedImports: [ProjectNote] {
    let used = Set(missing.values.joined().map(\.module))
    return unused.sorted { $0.key < $1.key }.filter { !used.contains($0.key) }.map { module, places in
      let count = places.count == 1 ? "1 import of it is" : "\(places.count) imports of it are"
      return ProjectNote(module, "\(count) left out: nothing of it is used")
    }
  }
}

/// A view of an author's file: what the compiler sees instead of it.
enum SourceView {
  /// Begins with a directive by which messages of the compiler have the path and the lines of the author's file.
  static func text(_ content: Data, of path: String) -> Data {
    let literal = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return Data("#sourceLocation(file: \"\(literal)\", line: 1)\n".utf8) + content
  }
}
