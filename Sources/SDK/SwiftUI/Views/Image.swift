// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation
import UIKit

/// Source: `SwiftUI.Image`.
nonisolated public struct Image: View, Equatable, Sendable, ArchivedView {
  public typealias Body = Never
  /// Without what depends on the environment.
  private(set) var archive: ViewArchive
  /// `nil` for a symbol of the system.
  private let source: Source?

  init(_ arguments: [String: ArchivedValue?], _ source: Source? = nil) {
    archive = ViewArchive(.leaf(.image), given: arguments)
    self.source = source
  }

  private init(_ arguments: [String: ArchivedValue?], _ name: String, _ bundle: Bundle?) {
    self.init(arguments, BundleAssets.Name(name, in: bundle))
  }

  private init(_ arguments: [String: ArchivedValue?], _ asset: BundleAssets.Name) {
    self.init(arguments.merging(["name": asset.name.archived]) { $1 }, .asset(asset))
  }

  public init(_ name: String, bundle: Bundle? = nil) { self.init([:], name, bundle) }
  public init(_ resource: ImageResource) { self.init([:], resource.asset) }
  public init(_ name: String, bundle: Bundle? = nil, label: Text) {
    self.init(["label": label.resolved(in: .current).archived], name, bundle)
  }
  public init(_ name: String, variableValue: Double?, bundle: Bundle? = nil) {
    self.init(["variableValue": variableValue?.archived], name, bundle)
  }
  public init(decorative name: String, bundle: Bundle? = nil) { self.init([:], name, bundle) }
  public init(systemName: String) { self.init(["systemName": systemName.archived]) }
  public init(systemName: String, variableValue: Double?) {
    self.init(["systemName": systemName.archived, "variableValue": variableValue?.archived])
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    guard let source else { return archive }
    var archive = archive
    for (label, value) in try source.arguments(in: context) { archive.arguments[label] = value }
    return archive
  }

  func modified(_ name: ModifierName, _ arguments: [String: ArchivedValue?] = [:]) -> Image {
    var image = self
    image.archive.modifiers.append(ViewArchive.Modifier(name, arguments.compactMapValues { $0 }))
    return image
  }
}

extension Image {
  /// Source: `SwiftUI.Image.Scale`.
  public enum Scale: Hashable, Sendable, NamedArgument {
    case small
    case medium
    case large
  }

  /// Source: `SwiftUI.Image.TemplateRenderingMode`.
  public enum TemplateRenderingMode: Hashable, Sendable, NamedArgument {
    case template
    case original
  }

  /// Source: `SwiftUI.Image.ResizingMode`.
  public enum ResizingMode: Hashable, Sendable, NamedArgument {
    case tile
    case stretch
  }

  /// Source: `SwiftUI.Image.Interpolation`.
  public enum Interpolation: Hashable, Sendable, NamedArgument {
    case none
    case low
    case medium
    case high
  }

  public func resizable(capInsets: EdgeInsets = EdgeInsets(), resizingMode: ResizingMode = .stretch) -> Image {
    modified(
      .shape(.resizable),
      [
        "capInsets": capInsets == EdgeInsets() ? nil : capInsets.archived,
        "resizingMode": resizingMode == .stretch ? nil : resizingMode.archived,
      ])
  }
  public func renderingMode(_ renderingMode: TemplateRenderingMode?) -> Image {
    modified(.shape(.renderingMode), ["mode": renderingMode?.archived])
  }
  public func interpolation(_ interpolation: Interpolation) -> Image {
    modified(.shape(.interpolation), ["interpolation": interpolation.archived])
  }
  public func antialiased(_ isAntialiased: Bool) -> Image {
    modified(.shape(.antialiased), ["isAntialiased": isAntialiased.archived])
  }
  public func symbolRenderingMode(_ mode: SymbolRenderingMode?) -> Image {
    modified(.style(.symbolRenderingMode), ["mode": mode?.archived])
  }
}

/// Source: `SwiftUI.SymbolRenderingMode`.
public struct SymbolRenderingMode: Hashable, Sendable, NamedArgument {
  let name: String
  public static let monochrome = SymbolRenderingMode(name: "monochrome"),
    multicolor = SymbolRenderingMode(name: "multicolor"), hierarchical = SymbolRenderingMode(name: "hierarchical"),
    palette = SymbolRenderingMode(name: "palette")
}

/// Source: `SwiftUI.SymbolVariants`.
public struct SymbolVariants: Hashable, Sendable, NamedArgument {
  let name: String
  public static let none = SymbolVariants(name: "none"), circle = SymbolVariants(name: "circle"),
    square = SymbolVariants(name: "square"), rectangle = SymbolVariants(name: "rectangle"),
    fill = SymbolVariants(name: "fill"), slash = SymbolVariants(name: "slash")
  public var fill: SymbolVariants { SymbolVariants(name: name + " fill") }
  public var circle: SymbolVariants { SymbolVariants(name: name + " circle") }
  public var slash: SymbolVariants { SymbolVariants(name: name + " slash") }
}
