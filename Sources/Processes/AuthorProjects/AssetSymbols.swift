// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The symbols that Xcode generates from the asset catalogs of a target.
///
/// Source: Xcode, *Generate Swift Asset Symbols*: a colour or an image has a symbol of its name without the ending
/// `Color` or `Image`, within a type for each folder that provides a namespace.
struct AssetSymbols {
  /// A colour or an image.
  private struct Symbol {
    let name: String
    /// As in `Color(_:)`, with the folders that provide a namespace.
    let asset: String
  }

  private final class Scope {
    var colors: [Symbol] = []
    var images: [Symbol] = []
    var inner: [(name: String, scope: Scope)] = []
  }

  private let files: any ProjectFiles
  private let whole = Scope()

  /// - Parameter catalogs: the folders `.xcassets`.
  init(_ catalogs: [String], files: any ProjectFiles) {
    self.files = files
    for catalog in catalogs { read(catalog, prefix: "", into: whole) }
  }

  private func read(_ folder: String, prefix: String, into scope: Scope) {
    for entry in files.entries(of: folder) ?? [] {
      let path = folder + "/" + entry
      let stem = FilePath.stem(entry)
      switch FilePath.ending(entry) {
      case "colorset": Self.add(stem, ending: "Color", prefix: prefix, to: &scope.colors)
      case "imageset", "symbolset": Self.add(stem, ending: "Image", prefix: prefix, to: &scope.images)
      case "" where files.isFolder(path):
        guard providesNamespace(path) else {
          read(path, prefix: prefix, into: scope)
          continue
        }
        let name = Self.identifier(entry)
        let type = name.prefix(1).uppercased() + name.dropFirst()
        guard !type.isEmpty else { continue }
        let own = scope.inner.first { $0.name == type }?.scope ?? Scope()
        read(path, prefix: "\(prefix)\(entry)/", into: own)
        if !scope.inner.contains(where: { $0.name == type }) { scope.inner.append((type, own)) }
      default: break
      }
    }
  }

  private func providesNamespace(_ folder: String) -> Bool {
    guard let data = files.contents(folder + "/Contents.json"),
      let keys = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any],
      let properties = keys["properties"] as? [String: Any]
    else { return false }
    return properties["provides-namespace"] as? Bool == true
  }

  /// The first asset of several with one symbol has it.
  private static func add(_ asset: String, ending: String, prefix: String, to symbols: inout [Symbol]) {
    let name = identifier(
      asset.count > ending.count && asset.hasSuffix(ending) ? String(asset.dropLast(ending.count)) : asset)
    guard !name.isEmpty, !symbols.contains(where: { $0.name == name }) else { return }
    symbols.append(Symbol(name: name, asset: prefix + asset))
  }

  /// `app-background` and `AppBackground` become `appBackground`, and `1st` becomes `_1st`.
  private static func identifier(_ name: String) -> String {
    let words = name.split { !$0.isLetter && !$0.isNumber }
    guard let first = words.first else { return "" }
    let capitals = first.prefix { $0.isUppercase }
    let isWord = capitals.count > 1 && first.dropFirst(capitals.count).first?.isLetter == true
    let lowered = isWord ? capitals.dropLast() : capitals
    let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    let whole = lowered.lowercased() + first.dropFirst(lowered.count) + rest.joined()
    return whole.first?.isNumber == true ? "_" + whole : whole
  }

  // MARK: Sources

  /// Names of colours that the types have already. Xcode generates no extension for them.
  private static let takenNames: Set<String> = [
    "accentColor", "black", "blue", "brown", "clear", "cyan", "darkGray", "darkText", "gray", "green", "indigo",
    "label", "lightGray", "lightText", "link", "magenta", "mint", "orange", "pink", "primary", "purple", "red",
    "secondary", "separator", "teal", "tertiary", "tint", "white", "yellow",
  ]

  /// The Swift source with the symbols; `nil` without any.
  ///
  /// - Parameters:
  ///   - bundle: that of the catalogs, as Swift writes it.
  ///   - hasExtensions: whether the types of SwiftUI and UIKit have them too, such as `Color.brand`.
  func source(bundle: String = ".main", hasExtensions: Bool) -> Data? {
    let colors = lines(of: whole, type: "ColorResource", symbols: \.colors, bundle: bundle, indentation: "")
    let images = lines(of: whole, type: "ImageResource", symbols: \.images, bundle: bundle, indentation: "")
    guard !colors.isEmpty || !images.isEmpty else { return nil }
    var text = """
      // Written by `widgetlab new --from`, as Xcode generates symbols from the asset catalogs.
      import Foundation
      import SwiftUI
      import UIKit

      """
    if !colors.isEmpty { text += "\nextension ColorResource {\n\(colors.joined(separator: "\n"))\n}\n" }
    if !images.isEmpty { text += "\nextension ImageResource {\n\(images.joined(separator: "\n"))\n}\n" }
    if hasExtensions {
      text += members(of: "Color", symbols: \.colors, type: "Color") { "Color(ColorResource.\($0))" }
      text += members(of: "ShapeStyle where Self == Color", symbols: \.colors, type: "Color") {
        "Color(ColorResource.\($0))"
      }
      text += members(of: "UIColor", symbols: \.colors, type: "UIColor") { "UIColor(resource: .\($0))" }
      text += members(of: "UIImage", symbols: \.images, type: "UIImage") { "UIImage(resource: .\($0))" }
    }
    return Data(text.utf8)
  }

  private func lines(
    of scope: Scope, type: String, symbols: KeyPath<Scope, [Symbol]>, bundle: String, indentation: String
  ) -> [String] {
    var lines = scope[keyPath: symbols].map { symbol in
      "\(indentation)  nonisolated static let `\(symbol.name)` = "
        + "\(type)(name: \(PackageManifest.literal(symbol.asset)), bundle: \(bundle))"
    }
    for (name, inner) in scope.inner {
      let own = self.lines(of: inner, type: type, symbols: symbols, bundle: bundle, indentation: indentation + "  ")
      if !own.isEmpty { lines += ["\(indentation)  enum `\(name)` {"] + own + ["\(indentation)  }"] }
    }
    return lines
  }

  /// An extension with a member of a type for each asset without a namespace.
  private func members(
    of extended: String, symbols: KeyPath<Scope, [Symbol]>, type: String, expression: (String) -> String
  ) -> String {
    let isColor = symbols == \Scope.colors
    let names = whole[keyPath: symbols].map(\.name)
      .filter { !isColor || !Self.takenNames.contains($0) && !$0.hasPrefix("system") }
    guard !names.isEmpty else { return "" }
    let lines = names.map { "  nonisolated static var `\($0)`: \(type) { \(expression($0)) }" }
    return "\nextension \(extended) {\n\(lines.joined(separator: "\n"))\n}\n"
  }
}
