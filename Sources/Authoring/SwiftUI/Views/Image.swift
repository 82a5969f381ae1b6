package import Archive
public import Foundation

/// A picture. Source: `SwiftUI.Image`.
nonisolated public struct Image: View, Equatable, Sendable, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private(set) var archive: ViewArchive
  /// Of the picture's own, where it has any.
  private var pixels: Double?

  private init(_ arguments: [String: ArchivedValue?]) { archive = ViewArchive("Image", given: arguments) }

  /// A picture of an asset catalogue.
  public init(_ name: String, bundle: Bundle? = nil) { self.init(["name": name.archived]) }
  /// A picture of an asset catalogue, and what is read out for it.
  public init(_ name: String, bundle: Bundle? = nil, label: Text) {
    self.init(["name": name.archived, "label": label.resolved().archived])
  }
  /// A picture of an asset catalogue, some of which is drawn as a value says.
  public init(_ name: String, variableValue: Double?, bundle: Bundle? = nil) {
    self.init(["name": name.archived, "variableValue": variableValue?.archived])
  }
  /// A picture of an asset catalogue that is not read out.
  public init(decorative name: String, bundle: Bundle? = nil) { self.init(["name": name.archived]) }
  /// A symbol of the system.
  public init(systemName: String) { self.init(["systemName": systemName.archived]) }
  /// A symbol of the system, some of which is drawn as a value says.
  public init(systemName: String, variableValue: Double?) {
    self.init(["systemName": systemName.archived, "variableValue": variableValue?.archived])
  }

  /// A picture of so many pixels.
  package init(arguments: [String: ArchivedValue?], pixels: Double) {
    self.init(arguments)
    self.pixels = pixels
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    if let pixels, pixels > context.limits.imageArea {
      throw ArchiveRefusal(
        limit: .imageArea, subject: "an image", found: pixels, allowed: context.limits.imageArea)
    }
    return archive
  }

  func modified(_ name: String, _ arguments: [String: ArchivedValue?] = [:]) -> Image {
    var image = self
    image.archive.modifiers.append(ViewArchive.Modifier(name, arguments.compactMapValues { $0 }))
    return image
  }
}

extension Image {
  /// How large a symbol is beside text. Source: `SwiftUI.Image.Scale`.
  public enum Scale: Hashable, Sendable, NamedArgument {
    /// Smaller.
    case small
    /// As usual.
    case medium
    /// Larger.
    case large
  }

  /// Whether a picture has its own colours. Source: `SwiftUI.Image.TemplateRenderingMode`.
  public enum TemplateRenderingMode: Hashable, Sendable, NamedArgument {
    /// The colour around, wherever something is drawn.
    case template
    /// Its own.
    case original
  }

  /// How a picture fills a larger place. Source: `SwiftUI.Image.ResizingMode`.
  public enum ResizingMode: Hashable, Sendable, NamedArgument {
    /// Many times.
    case tile
    /// Stretched.
    case stretch
  }

  /// How pixels are made of others. Source: `SwiftUI.Image.Interpolation`.
  public enum Interpolation: Hashable, Sendable, NamedArgument {
    /// Not.
    case none
    /// Quickly.
    case low
    /// Between.
    case medium
    /// Well.
    case high
  }

  /// Has the picture take the place it is given.
  public func resizable(capInsets: EdgeInsets = EdgeInsets(), resizingMode: ResizingMode = .stretch) -> Image {
    modified(
      "resizable",
      [
        "capInsets": capInsets == EdgeInsets() ? nil : capInsets.archived,
        "resizingMode": resizingMode == .stretch ? nil : resizingMode.archived,
      ])
  }
  /// Whether the picture has its own colours.
  public func renderingMode(_ renderingMode: TemplateRenderingMode?) -> Image {
    modified("renderingMode", ["mode": renderingMode?.archived])
  }
  /// How pixels are made of others.
  public func interpolation(_ interpolation: Interpolation) -> Image {
    modified("interpolation", ["interpolation": interpolation.archived])
  }
  /// Whether edges are smoothed.
  public func antialiased(_ isAntialiased: Bool) -> Image {
    modified("antialiased", ["isAntialiased": isAntialiased.archived])
  }
  /// How a symbol is coloured.
  public func symbolRenderingMode(_ mode: SymbolRenderingMode?) -> Image {
    modified("symbolRenderingMode", ["mode": mode?.archived])
  }
}

/// How a symbol is coloured. Source: `SwiftUI.SymbolRenderingMode`.
public struct SymbolRenderingMode: Hashable, Sendable, NamedArgument {
  let name: String
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let monochrome = SymbolRenderingMode(name: "monochrome"),
    multicolor = SymbolRenderingMode(name: "multicolor"), hierarchical = SymbolRenderingMode(name: "hierarchical"),
    palette = SymbolRenderingMode(name: "palette")
}

/// Which form of a symbol is shown. Source: `SwiftUI.SymbolVariants`.
public struct SymbolVariants: Hashable, Sendable, NamedArgument {
  let name: String
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let none = SymbolVariants(name: "none"), circle = SymbolVariants(name: "circle"),
    square = SymbolVariants(name: "square"), rectangle = SymbolVariants(name: "rectangle"),
    fill = SymbolVariants(name: "fill"), slash = SymbolVariants(name: "slash")
  /// The form, filled.
  public var fill: SymbolVariants { SymbolVariants(name: name + " fill") }
  /// The form, in a circle.
  public var circle: SymbolVariants { SymbolVariants(name: name + " circle") }
  /// The form, struck through.
  public var slash: SymbolVariants { SymbolVariants(name: name + " slash") }
}
