// SPDX-License-Identifier: Apache-2.0
/// Finds the widget extensions of an Xcode project.
struct XcodeProjectReader {
  let project: XcodeProject
  let files: any ProjectFiles
  let targets: [XcodeObject]
  /// Where products of packages are looked for that the project does not place.
  let packages: PackageSearch

  /// - Throws: `not-found` or `damaged`.
  init(_ path: String, files: any ProjectFiles) throws(ProjectError) {
    self.init(try XcodeProject(path, files: files), files: files)
  }

  init(_ project: XcodeProject, files: any ProjectFiles) {
    self.project = project
    self.files = files
    targets = project.objects(project.root.texts("targets"))
    let products = project.all("XCSwiftPackageProductDependency")
    packages =
      products.contains { $0.text("package") == nil } ? PackageSearch(project, files: files) : PackageSearch()
  }

  /// The widget extensions, in the order of the project, also for the Apple Watch, the Mac and the Vision Pro.
  func widgets() -> [WidgetTarget] {
    targets.compactMap { target in
      guard target.text("productType") == "com.apple.product-type.app-extension" else { return nil }
      return widget(target)
    }
  }

  private func widget(_ target: XcodeObject) -> WidgetTarget? {
    var notes: [ProjectNote] = []
    var settings = settings(of: target, &notes)
    let plist = settings.nonempty("INFOPLIST_FILE").map { FilePath.absolute($0, in: project.folder) }
    let keys = plist.flatMap { files.propertyList($0) }
    if let plist, keys == nil {
      notes.append(ProjectNote(FilePath.relative(plist, to: project.folder), "this Info.plist cannot be read"))
    }
    let members = project.members(of: target, infoPlist: plist, files: files)
    guard isWidget(keys, members) else { return nil }

    let name = target.text("name") ?? "Widget"
    let module = settings.nonempty("PRODUCT_MODULE_NAME") ?? XcodeSettings.identifier(name, "_")
    var widget = WidgetTarget(name: name, module: module, bundle: "")
    widget.bundle = Self.identifier(keys, &settings) ?? ""
    widget.sources = members.sources
    widget.resources = members.resources
    widget.definitions = members.definitions
    widget.infoPlist = keys?["NSExtension"] == nil ? nil : plist
    widget.infoPlistSettings = references(of: plist, &settings)
    widget.app = app(of: target, widget.bundle, sources: members.sources, &notes)
    correctIdentifiers(of: &widget, &notes)
    read(&settings, into: &widget, &notes)
    widget.products = products(of: target)
    widget.libraries = libraries(of: target)
    for unknown in settings.unknown.sorted() where widget.infoPlistSettings[unknown] == nil {
      notes.append(ProjectNote("$(\(unknown))", "this build setting is not known; its value is empty here"))
    }
    widget.notes = notes + members.notes
    return widget
  }

  private func isWidget(_ keys: [String: Any]?, _ members: XcodeMembers) -> Bool {
    if let point = (keys?["NSExtension"] as? [String: Any])?["NSExtensionPointIdentifier"] as? String {
      return point == "com.apple.widgetkit-extension"
    }
    // The Info.plist is generated, or it cannot be read.
    return members.frameworks.contains("WidgetKit.framework")
      || members.sources.contains { path in
        files.contents(path).map { ConditionalSource($0).hasWidgetEntry } ?? false
      }
  }

  // MARK: Settings

  private func read(_ settings: inout XcodeSettings, into widget: inout WidgetTarget, _ notes: inout [ProjectNote]) {
    widget.displayName = settings.nonempty("INFOPLIST_KEY_CFBundleDisplayName")
    widget.version = settings.nonempty("MARKETING_VERSION")
    widget.build = settings.nonempty("CURRENT_PROJECT_VERSION")
    widget.entitlements = entitlements(&settings, &notes)
    widget.platform = Self.platform(&settings)
    widget.deploymentTarget = settings.nonempty("IPHONEOS_DEPLOYMENT_TARGET")
    widget.compiler = Self.compiler(&settings, &notes)
    readIntentLanguage(&settings, into: &widget)
    widget.hasAssetSymbols = settings.value(Self.assetSymbols)?.uppercased() != "NO"
    widget.hasAssetExtensions = settings.isYes(Self.assetExtensions)
    if let header = settings.nonempty("SWIFT_OBJC_BRIDGING_HEADER") {
      notes.append(ProjectNote(header, "there is no Objective-C here; what this bridging header declares is missing"))
    }
    if widget.platform != "iOS" {
      notes.append(ProjectNote(widget.name, "is for \(widget.platform); here it runs on a phone or a tablet"))
    }
  }

  static let assetSymbols = "ASSETCATALOG_COMPILER_GENERATE_ASSET_SYMBOLS"
  static let assetExtensions = "ASSETCATALOG_COMPILER_GENERATE_SWIFT_ASSET_SYMBOL_EXTENSIONS"

  /// `Automatic`, also the default, is the language of most sources of the target, and only Swift is compiled here.
  /// Source: the specification of the intents compiler in Swift Build, by which Xcode builds.
  private func readIntentLanguage(_ settings: inout XcodeSettings, into widget: inout WidgetTarget) {
    switch settings.value("INTENTS_CODEGEN_LANGUAGE") {
    case "Objective-C": widget.intentLanguage = .objectiveC
    case "None": widget.definitions = []
    default: break
    }
  }

  /// Source: Apple, *Build settings reference*, and the features that Xcode 26 derives from
  /// `SWIFT_APPROACHABLE_CONCURRENCY`.
  static func compiler(_ settings: inout XcodeSettings, _ notes: inout [ProjectNote]) -> CompilerSettings {
    var compiler = CompilerSettings()
    compiler.languageMode = settings.value("SWIFT_VERSION")?.hasPrefix("6") == true ? 6 : 5
    compiler.conditions = settings.words("SWIFT_ACTIVE_COMPILATION_CONDITIONS")
    let features = [
      "BARE_SLASH_REGEX_LITERALS": "BareSlashRegexLiterals", "CONCISE_MAGIC_FILE": "ConciseMagicFile",
      "DISABLE_OUTWARD_ACTOR_ISOLATION": "DisableOutwardActorInference", "EXISTENTIAL_ANY": "ExistentialAny",
      "FORWARD_TRAILING_CLOSURES": "ForwardTrailingClosures",
      "GLOBAL_ACTOR_ISOLATED_TYPES_USABILITY": "GlobalActorIsolatedTypesUsability",
      "GLOBAL_CONCURRENCY": "GlobalConcurrency", "IMPLICIT_OPEN_EXISTENTIALS": "ImplicitOpenExistentials",
      "INFER_ISOLATED_CONFORMANCES": "InferIsolatedConformances",
      "INFER_SENDABLE_FROM_CAPTURES": "InferSendableFromCaptures",
      "INTERNAL_IMPORTS_BY_DEFAULT": "InternalImportsByDefault", "ISOLATED_DEFAULT_VALUES": "IsolatedDefaultValues",
      "MEMBER_IMPORT_VISIBILITY": "MemberImportVisibility",
      "NONFROZEN_ENUM_EXHAUSTIVITY": "NonfrozenEnumExhaustivity",
      "NONISOLATED_NONSENDING_BY_DEFAULT": "NonisolatedNonsendingByDefault",
      "REGION_BASED_ISOLATION": "RegionBasedIsolation",
    ]
    var upcoming = Set(features.filter { settings.isYes("SWIFT_UPCOMING_FEATURE_" + $0.key) }.map(\.value))
    if settings.isYes("SWIFT_APPROACHABLE_CONCURRENCY") {
      upcoming.formUnion([
        "DisableOutwardActorInference", "GlobalActorIsolatedTypesUsability", "InferIsolatedConformances",
        "InferSendableFromCaptures", "NonisolatedNonsendingByDefault",
      ])
    }
    compiler.upcomingFeatures = upcoming.sorted()
    compiler.isMainActorByDefault = settings.value("SWIFT_DEFAULT_ACTOR_ISOLATION") == "MainActor"
    var flags = settings.words("OTHER_SWIFT_FLAGS")[...]
    while let flag = flags.popFirst() {
      if flag == "-D", let name = flags.popFirst() {
        compiler.conditions.append(name)
      } else if flag.hasPrefix("-D"), flag.utf8.count > 2 {
        compiler.conditions.append(String(flag.dropFirst(2)))
      } else {
        notes.append(ProjectNote("OTHER_SWIFT_FLAGS", "the flag \(flag) is left out"))
      }
    }
    return compiler
  }

  private static func platform(_ settings: inout XcodeSettings) -> String {
    let names = ["iphoneos": "iOS", "watchos": "watchOS", "macosx": "macOS", "xros": "visionOS", "appletvos": "tvOS"]
    if let name = names[settings.value("SDKROOT") ?? ""] { return name }
    let supported = settings.words("SUPPORTED_PLATFORMS").compactMap { names[$0] }
    return supported.contains("iOS") ? "iOS" : supported.first ?? "iOS"
  }

  private func entitlements(_ settings: inout XcodeSettings, _ notes: inout [ProjectNote]) -> WidgetEntitlements {
    guard let file = settings.nonempty("CODE_SIGN_ENTITLEMENTS") else { return WidgetEntitlements() }
    let path = FilePath.absolute(file, in: project.folder)
    guard let keys = files.propertyList(path) else {
      notes.append(ProjectNote(file, "these entitlements cannot be read"))
      return WidgetEntitlements()
    }
    return WidgetEntitlements(keys, &settings)
  }

  /// The settings of a target in its configuration for debugging.
  func settings(of target: XcodeObject, _ notes: inout [ProjectNote]) -> XcodeSettings {
    let ownConfiguration = configuration(of: target)
    let common = project.object(ownConfiguration?.text(Self.ownProject)) ?? configuration(of: project.root)
    var sdk = "iphoneos"
    for layer in [ownConfiguration, common].compactMap({ $0?.dictionary("buildSettings") }) {
      if let root = layer["SDKROOT"] as? String, root != "auto" {
        sdk = root
        break
      }
    }
    let reader = XcodeSettingReader(configuration: ownConfiguration?.text("name") ?? "Debug", sdk: sdk)
    var layers = [defaults(of: target, ownConfiguration?.text("name") ?? "Debug")]
    for configuration in [common, ownConfiguration].compactMap(\.self) {
      if let file = file(of: configuration) {
        if let settings = reader.file(file, files) {
          layers.append(settings)
        } else {
          notes.append(ProjectNote(FilePath.relative(file, to: project.folder), "these build settings cannot be read"))
        }
      }
      layers.append(reader.settings(configuration.dictionary("buildSettings")))
    }
    return XcodeSettings(layers)
  }

  /// The key of a target's configuration that names the one of the project below it. No file of Xcode has it.
  static let ownProject = "ownProject"

  /// The configuration `Debug`, or else the first one.
  private func configuration(of object: XcodeObject) -> XcodeObject? {
    let list = project.object(object.text("buildConfigurationList"))
    let all = project.objects(list?.texts("buildConfigurations") ?? [])
    return all.first { $0.text("name") == "Debug" } ?? all.first { $0.text("name")?.hasPrefix("Debug") == true }
      ?? all.first
  }

  /// The `.xcconfig` file that a configuration is based on.
  private func file(of configuration: XcodeObject) -> String? {
    if let path = configuration.text("baseConfigurationReference").flatMap({ project.paths[$0] }) { return path }
    guard let anchor = configuration.text("baseConfigurationReferenceAnchor").flatMap({ project.paths[$0] }),
      let path = configuration.text("baseConfigurationReferenceRelativePath")
    else { return nil }
    return FilePath.absolute(path, in: anchor)
  }

  /// What Xcode sets for each target.
  private func defaults(of target: XcodeObject, _ configuration: String) -> [String: String] {
    let name = target.text("name") ?? ""
    return [
      "CONFIGURATION": configuration, "CURRENT_PROJECT_VERSION": "1", "DEVELOPMENT_LANGUAGE": "en",
      "EXECUTABLE_NAME": "$(PRODUCT_NAME)", "MARKETING_VERSION": "1.0",
      "PRODUCT_BUNDLE_PACKAGE_TYPE": target.text("productType") == Self.application ? "APPL" : "XPC!",
      "PRODUCT_MODULE_NAME": "$(PRODUCT_NAME:c99extidentifier)", "PRODUCT_NAME": "$(TARGET_NAME)",
      "PROJECT_DIR": project.folder, "PROJECT_NAME": project.name, "SOURCE_ROOT": project.folder,
      "SRCROOT": project.folder, "TARGETNAME": name, "TARGET_NAME": name,
    ]
  }

  private static let application = "com.apple.product-type.application"

  // MARK: The identifiers

  /// `CFBundleIdentifier` of the `Info.plist`, or else the setting.
  private static func identifier(_ keys: [String: Any]?, _ settings: inout XcodeSettings) -> String? {
    let own = (keys?["CFBundleIdentifier"] as? String).map { settings.expand($0) }
    if let own, !own.isEmpty { return own }
    return settings.nonempty("PRODUCT_BUNDLE_IDENTIFIER")
  }

  /// Replaces identifiers that a device would refuse, such as one with a template's marks.
  private func correctIdentifiers(of widget: inout WidgetTarget, _ notes: inout [ProjectNote]) {
    if widget.bundle.isEmpty {
      widget.bundle = "\(widget.app.bundle).\(XcodeSettings.identifier(widget.name, "-"))"
      notes.append(ProjectNote("PRODUCT_BUNDLE_IDENTIFIER", "\(widget.name) has none; it is \(widget.bundle) here"))
    }
    let corrected = Self.corrected(widget.bundle)
    if corrected != widget.bundle {
      notes.append(ProjectNote(widget.bundle, "this is not a bundle identifier; it is \(corrected) here"))
      widget.bundle = corrected
    }
    widget.app.bundle = Self.corrected(widget.app.bundle)
  }

  private static func corrected(_ bundle: String) -> String {
    let parts = bundle.split(separator: ".").map { XcodeSettings.identifier(String($0), "-") }
    return parts.joined(separator: ".")
  }

  /// The values of the settings that an `Info.plist` refers to.
  private func references(of plist: String?, _ settings: inout XcodeSettings) -> [String: String] {
    guard let plist, let text = files.text(plist) else { return [:] }
    return Dictionary(
      XcodeSettings.references(in: text).map { ($0, settings.value($0) ?? "") }, uniquingKeysWith: { $1 })
  }

  /// The app that contains an extension: the one that embeds it, or whose bundle identifier it begins with.
  ///
  /// - Parameter sources: the Swift files of the extension.
  private func app(
    of target: XcodeObject, _ bundle: String, sources: [String], _ notes: inout [ProjectNote]
  ) -> ContainingAppFacts {
    let apps = targets.filter { $0.text("productType")?.hasPrefix(Self.application) == true }
    let embedding = apps.filter { app in
      let dependencies = project.objects(app.texts("dependencies")).compactMap { $0.text("target") }
      let copied = project.objects(app.texts("buildPhases")).filter { $0.isa == "PBXCopyFilesBuildPhase" }
        .flatMap { project.objects($0.texts("files")) }.compactMap { $0.text("fileRef") }
      return dependencies.contains(target.id) || target.text("productReference").map(copied.contains) ?? false
    }
    var facts = (embedding + apps).map { app -> ContainingAppFacts in
      var ignored: [ProjectNote] = []
      var settings = settings(of: app, &ignored)
      let plist = settings.nonempty("INFOPLIST_FILE").map { FilePath.absolute($0, in: project.folder) }
      let keys = plist.flatMap { files.propertyList($0) }
      var facts = ContainingAppFacts(bundle: Self.identifier(keys, &settings) ?? "")
      let name = keys?["CFBundleDisplayName"] as? String ?? keys?["CFBundleName"] as? String
      facts.displayName =
        settings.nonempty("INFOPLIST_KEY_CFBundleDisplayName") ?? name.map { settings.expand($0) }
        ?? settings.nonempty("PRODUCT_NAME")
      facts.version = settings.nonempty("MARKETING_VERSION")
      facts.build = settings.nonempty("CURRENT_PROJECT_VERSION")
      facts.entitlements = entitlements(&settings, &ignored)
      let ownSources = Set(project.members(of: app, infoPlist: plist, files: files).sources)
      facts.sharedSources = sources.filter(ownSources.contains)
      facts.compiler = Self.compiler(&settings, &ignored)
      return facts
    }
    facts.removeAll { $0.bundle.isEmpty }
    if let found = facts.first(where: { bundle.isEmpty || bundle.hasPrefix($0.bundle + ".") }) { return found }
    let parts = bundle.split(separator: ".").dropLast()
    let derived =
      parts.isEmpty ? "com.example.\(XcodeSettings.identifier(project.name, "-"))" : parts.joined(separator: ".")
    notes.append(
      ProjectNote("the app", "no app has a bundle identifier that \(bundle) begins with; it is \(derived) here"))
    var replacement = facts.first ?? ContainingAppFacts(bundle: derived)
    replacement.bundle = derived
    return replacement
  }
}

extension XcodeProjectReader {
  /// The products of Swift packages that a target links.
  func products(of target: XcodeObject) -> [PackageProduct] {
    var identifiers = target.texts("packageProductDependencies")
    for phase in project.objects(target.texts("buildPhases")) where phase.isa == "PBXFrameworksBuildPhase" {
      identifiers += project.objects(phase.texts("files")).compactMap { $0.text("productRef") }
    }
    var products: [PackageProduct] = []
    for product in project.objects(identifiers) {
      guard let name = product.text("productName") else { continue }
      let place = place(project.object(product.text("package")), of: name)
      let found = PackageProduct(name: name, place: place)
      if !products.contains(found) { products.append(found) }
    }
    return products
  }

  private func place(_ reference: XcodeObject?, of product: String) -> PackageProduct.Place {
    guard let reference else {
      return packages.folder(of: product).map { .local($0) } ?? .unknown
    }
    if let path = reference.text("relativePath") { return .local(FilePath.absolute(path, in: project.folder)) }
    guard let url = reference.text("repositoryURL") else { return .unknown }
    let requirement = reference.dictionary("requirement").compactMapValues { $0 as? String }
    let text = Self.requirement(requirement)
    return Self.isRequirement(text) ? .remote(url: url, requirement: text) : .unknown
  }

  /// Whether a text is a requirement and nothing else. It becomes part of a manifest, which SwiftPM runs.
  private static func isRequirement(_ text: String) -> Bool {
    let value = /(?:(?:from|exact|branch|revision): )?"[^"\\\n]*"/
    let range = /"[^"\\\n]*" *\.\.[.<] *"[^"\\\n]*"/
    let next = /\.upToNextM(?:in|aj)or\(from: "[^"\\\n]*"\)/
    return text.wholeMatch(of: value) != nil || text.wholeMatch(of: range) != nil || text.wholeMatch(of: next) != nil
  }

  /// The kind of a requirement that is already as SwiftPM writes it: that of a project that is not from a file.
  static let written = "written"

  /// Source: `XCRemoteSwiftPackageReference` of project files, and SwiftPM's `Package.Dependency`.
  private static func requirement(_ keys: [String: String]) -> String {
    let minimum = keys["minimumVersion"] ?? keys["version"] ?? "0.0.0"
    return switch keys["kind"] {
    case written: keys["requirement"] ?? ""
    case "upToNextMinorVersion": ".upToNextMinor(from: \"\(minimum)\")"
    case "exactVersion": "exact: \"\(minimum)\""
    case "versionRange": "\"\(minimum)\"..<\"\(keys["maximumVersion"] ?? minimum)\""
    case "branch": "branch: \"\(keys["branch"] ?? "main")\""
    case "revision": "revision: \"\(keys["revision"] ?? "")\""
    default: "from: \"\(minimum)\""
    }
  }

  /// The project's frameworks and static libraries, by module: those that the target may import.
  func libraries(of target: XcodeObject) -> [String: LibraryTarget] {
    var result: [String: LibraryTarget] = [:]
    for other in targets where other.id != target.id {
      let kind = other.text("productType") ?? ""
      guard kind.contains("product-type.framework") || kind.contains("product-type.library") else { continue }
      var ignored: [ProjectNote] = []
      var settings = settings(of: other, &ignored)
      guard let module = settings.nonempty("PRODUCT_MODULE_NAME") else { continue }
      let members = project.members(of: other, infoPlist: nil, files: files)
      let sources = members.sources
      // A project can have the same framework for each platform; the first one is the phone's. Of its bundle only what its
      // symbols name is used.
      guard !sources.isEmpty, result[module] == nil else { continue }
      var library = LibraryTarget(module: module)
      library.sources = sources
      library.compiler = Self.compiler(&settings, &library.notes)
      library.products = products(of: other)
      library.resources = members.resources.filter { FilePath.ending($0.value) == "xcassets" }
      library.hasAssetSymbols = settings.value(Self.assetSymbols)?.uppercased() != "NO"
      library.hasAssetExtensions = settings.isYes(Self.assetExtensions)
      result[module] = library
    }
    return result
  }
}
