// SPDX-License-Identifier: Apache-2.0

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
