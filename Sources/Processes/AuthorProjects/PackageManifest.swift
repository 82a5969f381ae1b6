// SPDX-License-Identifier: Apache-2.0

/// The `Package.swift` of a package for WidgetLab. Documentation/authors.md describes its settings.
package struct PackageManifest {
  struct Target {
    var name: String
    var isExecutable: Bool
    /// Libraries of WidgetLab.
    var frameworks: [String]
    /// Other targets of the package.
    var libraries: [String]
    var products: [PackageProduct]
    /// Elements of `swiftSettings`.
    var settings: [String]
    /// Files and folders of the bundle of a library, relative to the target.
    var resources: [String] = []
  }

  private let name: String
  private let project: String
  private let widgetLab: String
  private let flags: String?
  private var targets: [Target] = []

  /// - Parameters:
  ///   - project: the path of the author's project, relative to the package.
  ///   - widgetLab: the folder of WidgetLab's package, absolute.
  ///   - flags: the folder with the flags of WidgetLab's SDK, absolute; the targets then depend on no package of WidgetLab.
  init(name: String, project: String, widgetLab: String, flags: String? = nil) {
    self.name = name
    self.project = project
    self.widgetLab = widgetLab
    self.flags = flags
  }

  mutating func add(_ target: Target) { targets.append(target) }
  func hasTarget(_ name: String) -> Bool { targets.contains { $0.name == name } }

  /// The settings of a target's compiler, as elements of `swiftSettings`.
  static func settings(of compiler: CompilerSettings) -> [String] {
    [".swiftLanguageMode(.v\(compiler.languageMode))"]
      + compiler.upcomingFeatures.map { ".enableUpcomingFeature(\(literal($0)))" }
      + compiler.experimentalFeatures.map { ".enableExperimentalFeature(\(literal($0)))" }
      + (compiler.isMainActorByDefault ? [".defaultIsolation(MainActor.self)"] : [])
      // SwiftPM defines DEBUG itself.
      + Set(compiler.conditions).subtracting(["DEBUG"]).filter(isIdentifier).sorted().map { ".define(\(literal($0)))" }
  }

  private static func isIdentifier(_ text: String) -> Bool {
    text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && text.first?.isNumber == false
  }

  var text: String {
    """
    // swift-tools-version: 6.3
    // Written by `widgetlab new --from \(project)`. It is written again when the project changes, unless you change it.

    import PackageDescription

    \(flags.map(installed) ?? Self.compiled(without: own))
    let package = Package(
      name: \(Self.literal(name)),\(localization)
      dependencies: [
    \(dependencies.map { "    \($0),\n" }.joined())\
      ],
      targets: [
    \(targets.map(text).joined())\
      ])

    """
  }

  /// The settings with which WidgetLab's modules are compiled from their sources.
  ///
  /// - Parameter own: the modules of the project's own packages.
  package static func compiled(without own: [String] = []) -> String {
    """
    /// The URLSession of WidgetLab in each file, also in one that imports only Foundation, and the modules that have
    /// another name there.
    let author: [SwiftSetting] = [
      .unsafeFlags([
        "-Xfrontend", "-import-module", "-Xfrontend", "URLSessionAPI",
        "-Xfrontend", "-disable-cross-import-overlays",
        "-module-alias", "FoundationNetworking=URLSessionAPI",
    \(aliases(without: own))
      ])
    ]

    /// Foundation's functions that are the device's.
    let executable: [LinkerSetting] = [
      .unsafeFlags(
        [
          "20FoundationEssentials6LocaleV7currentACvgZ", "20FoundationEssentials6LocaleV19autoupdatingCurrentACvgZ",
          "20FoundationEssentials6LocaleV18preferredLanguagesSaySSGvgZ",
          "20FoundationEssentials11ProcessInfoC22operatingSystemVersionAA09OperatingfG0Vvg",
          "20FoundationEssentials11ProcessInfoC24isOperatingSystemAtLeastySbAA0fG7VersionVF",
          "20FoundationEssentials11ProcessInfoC28operatingSystemVersionStringSSvg",
          "SS10FoundationE10contentsOfSS0A10Essentials3URLVh_tKcfC",
          "SS20FoundationEssentialsE10contentsOf12usedEncodingSSAA3URLVh_SSAAE0F0VztKcfC",
        ].flatMap { ["-Xlinker", "--wrap=$s\\($0)"] })
    ]

    """
  }

  /// The settings with which the modules of WidgetLab's SDK are used as they are.
  private func installed(_ flags: String) -> String {
    // Each alias is given once: a module of the project's own packages has no other one.
    let hasOwnModules = own.contains { AuthorModules.aliases[$0] != nil }
    let aliases = Self.aliases(without: own)
    let more = hasOwnModules ? ",\n    \"-module-alias\", \"FoundationNetworking=URLSessionAPI\",\n\(aliases)\n  " : ""
    return """
      /// WidgetLab's installed SDK: its modules, the library and the names of its modules. `widgetlab` writes these files.
      let author: [SwiftSetting] = [
        .unsafeFlags([\(Self.literal("@\(flags)/\(hasOwnModules ? "modules" : "compile").rsp"))\(more)])
      ]
      let executable: [LinkerSetting] = [.unsafeFlags([\(Self.literal("@\(flags)/link.rsp"))])]

      """
  }

  /// The modules of the project's own packages.
  private var own: [String] { targets.filter { !$0.isExecutable }.map(\.name) }

  /// The flags for `AuthorModules.aliases`, a line each. A module of the project's own packages comes before one of
  /// WidgetLab with the same name.
  private static func aliases(without own: [String]) -> String {
    AuthorModules.aliases.filter { !own.contains($0.key) }.sorted { $0.key < $1.key }
      .map { "    \"-module-alias\", \"\($0.key)=\($0.value)\"," }.joined(separator: "\n")
  }

  private var dependencies: [String] {
    var places: [PackageProduct.Place] = []
    // Several packages can require another version of the same one; SwiftPM permits only one requirement.
    for product in targets.flatMap(\.products) where !places.contains(where: { $0.identity == product.place.identity })
    {
      places.append(product.place)
    }
    return (flags == nil ? [".package(name: \"widgetlab\", path: \(Self.literal(widgetLab)))"] : [])
      + places.compactMap { place in
        switch place {
        case .local(let path): ".package(path: \(Self.literal(path)))"
        case .remote(let url, let requirement): ".package(url: \(Self.literal(url)), \(requirement))"
        case .unknown: nil
        }
      }
  }

  /// SwiftPM wants it when there are translations.
  private var localization: String {
    targets.contains { !$0.resources.isEmpty } ? "\n  defaultLocalization: \"en\"," : ""
  }

  private func text(_ target: Target) -> String {
    let dependencies =
      (flags == nil ? target.frameworks : []).map { ".product(name: \(Self.literal($0)), package: \"widgetlab\")" }
      + target.libraries.map { ".target(name: \(Self.literal($0)))" }
      + target.products.map { ".product(name: \(Self.literal($0.name)), package: \(Self.literal($0.place.identity)))" }
    let copies = target.resources.map { ".copy(\(Self.literal($0)))" }.joined(separator: ", ")
    let resources = copies.isEmpty ? "" : "\n      resources: [\(copies)],"
    return """
          .\(target.isExecutable ? "executableTarget" : "target")(
            name: \(Self.literal(target.name)),
            dependencies: [
      \(dependencies.map { "        \($0),\n" }.joined())\
            ],
            path: \(Self.literal("Sources/" + target.name)),\(resources)
            swiftSettings: author + [\(target.settings.joined(separator: ", "))]\
      \(target.isExecutable ? ",\n      linkerSettings: executable" : "")),

      """
  }

  /// A text as a literal of Swift.
  package static func literal(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case _ where scalar.value < 32: result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return "\"\(result)\""
  }
}

extension PackageProduct.Place {
  /// The identity of the package: the last part of its place, as SwiftPM derives it.
  package var identity: String {
    let text =
      switch self {
      case .local(let path): path
      case .remote(let url, _): url
      case .unknown: ""
      }
    let name = FilePath.name(text)
    return (name.hasSuffix(".git") ? String(name.dropLast(4)) : name).lowercased()
  }
}
