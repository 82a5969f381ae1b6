// SPDX-License-Identifier: Apache-2.0

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
