// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A widget extension of an author's project, as the project describes it. All paths are absolute.
package struct WidgetTarget: Sendable, Hashable {
  /// The target's name in the project.
  package var name: String
  /// The name of its Swift module, and of its executable here.
  package var module: String
  /// Swift files.
  package var sources: [String] = []
  /// Files `.intentdefinition`.
  package var definitions: [String] = []
  /// The language in which Xcode generates their classes.
  package var intentLanguage = IntentDefinition.Language.swift
  /// Files and folders of the bundle, by the name that they have in it, such as `de.lproj/Localizable.strings`.
  package var resources: [String: String] = [:]
  package var bundle: String
  /// `CFBundleDisplayName`; `nil` for the name.
  package var displayName: String?
  /// `MARKETING_VERSION` and `CURRENT_PROJECT_VERSION`.
  package var version: String?
  package var build: String?
  /// The target's own `Info.plist`; `nil` when Xcode generates it.
  package var infoPlist: String?
  /// The content of `infoPlist` when the project's tool writes it and it is not there yet.
  package var generatedInfoPlist: Data?
  /// The values of the build settings that `infoPlist` refers to.
  package var infoPlistSettings: [String: String] = [:]
  package var entitlements = WidgetEntitlements()
  /// The app that contains it.
  package var app = ContainingAppFacts(bundle: "")
  /// `iOS`, `watchOS`, `macOS` or `visionOS`: the name in `os(…)`.
  package var platform = "iOS"
  package var compiler = CompilerSettings()
  /// The lowest version of the system, such as `17.0`.
  package var deploymentTarget: String?
  /// The products of Swift packages that the target links.
  package var products: [PackageProduct] = []
  /// Whether the target is one of a Swift package, whose manifest describes it.
  package var isPackageTarget = false
  /// The libraries of the project whose modules it may import, by module.
  package var libraries: [String: LibraryTarget] = [:]
  /// Whether Xcode generates symbols from asset catalogs, and members of SwiftUI's and UIKit's types with their names.
  package var hasAssetSymbols = true
  package var hasAssetExtensions = false
  package var notes: [ProjectNote] = []

  package init(name: String, module: String, bundle: String) {
    self.name = name
    self.module = module
    self.bundle = bundle
  }
}

/// What is needed of the app that contains a widget extension.
package struct ContainingAppFacts: Sendable, Hashable {
  package var bundle: String
  package var displayName: String?
  package var version: String?
  package var build: String?
  package var entitlements = WidgetEntitlements()
}

/// The entitlements of a target that WidgetLab knows.
package struct WidgetEntitlements: Sendable, Hashable {
  /// `com.apple.security.application-groups`.
  package var groups: [String] = []
  /// `keychain-access-groups`.
  package var keychainGroups: [String] = []
  /// `aps-environment`.
  package var pushEnvironment: String?
  /// `com.apple.developer.default-data-protection`, in the words of `widgetlab.yaml`.
  package var dataProtection: String?
  /// The keys of others.
  package var others: [String] = []

  package init() {}

  /// Source: Apple, *Entitlements*, and `NSFileProtection`.
  init(_ keys: [String: Any], _ settings: inout XcodeSettings) {
    for (key, value) in keys.sorted(by: { $0.key < $1.key }) {
      switch key {
      case "com.apple.security.application-groups":
        groups = ((value as? [Any]) ?? []).compactMap { $0 as? String }.map { settings.expand($0) }
      case "keychain-access-groups":
        keychainGroups = ((value as? [Any]) ?? []).compactMap { $0 as? String }.map { settings.expand($0) }
      case "aps-environment": pushEnvironment = (value as? String).map { settings.expand($0) }
      case "com.apple.developer.default-data-protection":
        switch value as? String {
        case "NSFileProtectionComplete": dataProtection = "complete"
        case "NSFileProtectionCompleteUnlessOpen": dataProtection = "completeUnlessOpen"
        case "NSFileProtectionCompleteUntilFirstUserAuthentication":
          dataProtection = "completeUntilFirstUserAuthentication"
        default: others.append(key)
        }
      default: others.append(key)
      }
    }
  }
}

/// A product of a Swift package.
package struct PackageProduct: Sendable, Hashable {
  /// Where the package is.
  package enum Place: Sendable, Hashable {
    /// An absolute path.
    case local(String)
    /// A repository, and the requirement as SwiftPM writes it, such as `from: "1.2.3"`.
    case remote(url: String, requirement: String)
    /// The project does not say.
    case unknown
  }

  package let name: String
  package let place: Place

  package init(name: String, place: Place) {
    self.name = name
    self.place = place
  }
}
