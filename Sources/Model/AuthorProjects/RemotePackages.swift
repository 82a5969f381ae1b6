// SPDX-License-Identifier: Apache-2.0

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
        || !source.orderOfNumbersAsMember.isEmpty || usesCoreFoundation(source, values, imported)
    }
  }

  /// Whether a file uses names of Core Foundation or of the keychain, which `import Foundation` makes visible on Apple's
  /// systems.
  private func usesCoreFoundation(
    _ source: ConditionalSource, _ values: ConditionValues, _ imported: Set<String>
  ) -> Bool {
    modules.contains("Security") && !imported.contains("CoreFoundation")
      && source.modulesOfFoundation(source.names(values), importing: imported).contains("Security")
  }
}
