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

  init(_ arguments: ArchivedArguments, _ source: Source? = nil) {
    archive = ViewArchive(.leaf(.image), arguments)
    self.source = source
  }

  private init(_ arguments: ArchivedArguments, name: String, bundle: Bundle?) {
    self.init(arguments, BundleAssets.Name(name, in: bundle))
  }

  private init(_ arguments: ArchivedArguments, _ asset: BundleAssets.Name) {
    self.init(arguments.merging([.name: asset.name.archived]), .asset(asset))
  }

  public init(_ name: String, bundle: Bundle? = nil) { self.init([:], name: name, bundle: bundle) }
  public init(_ resource: ImageResource) { self.init([:], resource.asset) }
  public init(_ name: String, bundle: Bundle? = nil, label: Text) {
    self.init([.label: label.resolved(in: .current).archived], name: name, bundle: bundle)
  }
  public init(_ name: String, variableValue: Double?, bundle: Bundle? = nil) {
    self.init([.variableValue: variableValue?.archived], name: name, bundle: bundle)
  }
  public init(decorative name: String, bundle: Bundle? = nil) { self.init([:], name: name, bundle: bundle) }
  public init(systemName: String) { self.init([.systemName: systemName.archived]) }
  public init(systemName: String, variableValue: Double?) {
    self.init([.systemName: systemName.archived, .variableValue: variableValue?.archived])
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    guard let source else { return archive }
    var archive = archive
    archive.arguments.merge(try source.arguments(in: context))
    return archive
  }

  func modified(_ name: ModifierName, _ arguments: ArchivedArguments = [:]) -> Image {
    var image = self
    image.archive.modifiers.append(ViewArchive.Modifier(name, arguments))
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
        .capInsets: capInsets == EdgeInsets() ? nil : capInsets.archived,
        .resizingMode: resizingMode == .stretch ? nil : resizingMode.archived,
      ])
  }
  public func renderingMode(_ renderingMode: TemplateRenderingMode?) -> Image {
    modified(.shape(.renderingMode), [.mode: renderingMode?.archived])
  }
  public func interpolation(_ interpolation: Interpolation) -> Image {
    modified(.shape(.interpolation), [.interpolation: interpolation.archived])
  }
  public func antialiased(_ isAntialiased: Bool) -> Image {
    modified(.shape(.antialiased), [.isAntialiased: isAntialiased.archived])
  }
  public func symbolRenderingMode(_ mode: SymbolRenderingMode?) -> Image {
    modified(.style(.symbolRenderingMode), [.mode: mode?.archived])
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

extension Image {
  /// Where the pixels of an image come from.
  enum Source: Sendable, Equatable {
    case asset(BundleAssets.Name)
    case file(UIImage)

    static func == (lhs: Source, rhs: Source) -> Bool {
      switch (lhs, rhs) {
      case (.asset(let left), .asset(let right)): left == right
      case (.file(let left), .file(let right)): left === right || left.data == right.data
      case (.asset, _), (.file, _): false
      }
    }

    /// The arguments of the archived image. An image that cannot be used has the reason instead of its bytes.
    ///
    /// - Throws: an `ArchiveRefusal` when it is too large, or all images together are.
    @MainActor func arguments(in context: ArchivingContext) throws(ArchiveRefusal) -> ArchivedArguments {
      switch self {
      case .file(let image):
        if let asset = image.asset { return try Source.asset(asset).arguments(in: context) }
        if image.data.isEmpty { return [.pixelWidth: 0, .pixelHeight: 0, .problem: "it is an empty UIImage"] }
        let check = image.check
        let facts = ArchivedImages.Facts(
          digest: check.digest, content: .pixels(image.file), damage: check.damage.map { "\($0)" })
        return try Source.arguments(facts, image.data, scale: Double(image.scale), in: context)
      case .asset(let name):
        do {
          return try Source.arguments(of: name, in: context)
        } catch let refusal as ArchiveRefusal {
          throw refusal
        } catch {
          return [.problem: .string("\(error)")]
        }
      }
    }

    @MainActor private static func arguments(
      of name: BundleAssets.Name, in context: ArchivingContext
    ) throws -> ArchivedArguments {
      let environment = context.environment
      var traits = AssetTraits(environment)
      var image = try BundleAssets.shared.image(name, for: traits)
      if image.dependsOnScheme, environment.colorScheme == .dark {
        traits.isDark = true
        image = try BundleAssets.shared.image(name, for: traits)
      }
      var data: Data?
      let read = { () -> Result<ArchivedImages.Facts, ImageProblem> in
        Result { () throws(ImageProblem) in
          let bytes = try Source.read(image)
          data = bytes.data
          return ArchivedImages.Facts(
            digest: ContentDigest.hexadecimal(of: bytes.data), content: bytes.content,
            damage: bytes.content.damage(in: bytes.data).map { "\(image.file.lastPathComponent): \($0)" })
        }
      }
      let result = environment.images?.facts(of: image.file, read) ?? read()
      switch result {
      case .failure(let problem): return [.problem: .string(problem.text)]
      case .success(let facts):
        var arguments = try Source.arguments(facts, data, scale: image.scale ?? 1, in: context)
        if let intent = image.renderingIntent { arguments[.intent] = .string(intent) }
        return arguments
      }
    }

    private static func read(
      _ image: AssetCatalog.Image
    ) throws(ImageProblem) -> (data: Data, content: ArchivedImages.Content) {
      do {
        let data = try BoundedFile.read(image.file, limit: BundleAssets.fileLimit)
        if image.isSymbol { return (data, .symbol(try SymbolTemplate(data))) }
        if VectorFile.isLikely(data) { return (data, .vector(try VectorFile(checking: data))) }
        return (data, .pixels(try ImageFile(header: data)))
      } catch {
        throw ImageProblem(text: "\(image.file.lastPathComponent): \(error)")
      }
    }

    /// - Parameter data: the bytes, unless the images of the timeline have them already.
    @MainActor private static func arguments(
      _ facts: ArchivedImages.Facts, _ data: Data?, scale: Double, in context: ArchivingContext
    ) throws(ArchiveRefusal) -> ArchivedArguments {
      let limits = context.limits
      var arguments = facts.content.arguments(scale: scale, display: context.environment.displayScale)
      let area = (arguments[.pixelWidth]?.number ?? 0) * (arguments[.pixelHeight]?.number ?? 0)
      guard area <= limits.imageArea else {
        throw ArchiveRefusal(limit: .imageArea, subject: "an image", found: area, allowed: limits.imageArea)
      }
      if let damage = facts.damage {
        arguments[.problem] = .string(damage)
        return arguments
      }
      if let data, let images = context.environment.images {
        images.add(data, digest: facts.digest)
        guard images.total <= limits.bytes else {
          throw ArchiveRefusal(
            limit: .bytes, subject: "the images", found: Double(images.total), allowed: Double(limits.bytes))
        }
      }
      arguments[.image] = facts.digest.archived
      return arguments
    }
  }
}

extension AssetTraits {
  /// Whether the device is an iPad, as the agent says.
  private static let isPad =
    ProcessInfo.processInfo.environment["SIMULATOR_DEVICE_NAME"]?.hasPrefix("iPad") ?? false

  /// The device of this process, in the light scheme.
  static var ofDevice: AssetTraits { AssetTraits(isPad: isPad) }

  /// The light scheme: the environment's is read only for an asset that depends on it.
  init(_ environment: EnvironmentValues) {
    self.init(
      isPad: Self.isPad, scale: environment.displayScale,
      hasIncreasedContrast: environment.colorSchemeContrast == .increased,
      isRightToLeft: environment.layoutDirection == .rightToLeft)
  }
}

/// The state of an image's load. Source: `SwiftUI.AsyncImagePhase`. In a widget it stays empty.
public enum AsyncImagePhase: Sendable {
  case empty
  case success(Image)
  case failure(any Error)

  public var image: Image? { if case .success(let image) = self { image } else { nil } }
  public var error: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}

/// An image from the network. Source: `SwiftUI.AsyncImage`. A widget is archived before the image is there, so it shows
/// the placeholder, as on a phone.
nonisolated public struct AsyncImage<Content: View>: View {
  private let content: Content

  public init(
    url: URL?, scale: CGFloat = 1, transaction: Transaction = Transaction(),
    @ViewBuilder content: @escaping (AsyncImagePhase) -> Content
  ) {
    self.content = content(.empty)
  }
  public init<I: View>(
    url: URL?, scale: CGFloat = 1, @ViewBuilder content: @escaping (Image) -> I,
    @ViewBuilder placeholder: @escaping () -> Content
  ) {
    self.content = placeholder()
  }

  @MainActor public var body: some View { content }
}

extension AsyncImage where Content == Color {
  /// The placeholder is a grey area.
  nonisolated public init(url: URL?, scale: CGFloat = 1) { content = Color(white: 0.5, opacity: 0.2) }
}

/// How a change is animated. Source: `SwiftUI.Transaction`.
public struct Transaction: Sendable {
  public var animation: Animation?
  public var disablesAnimations = false
  public init() {}
  public init(animation: Animation?) { self.animation = animation }
}

extension View {
  /// Has no effect.
  nonisolated public func transaction(_ transform: @escaping (inout Transaction) -> Void) -> some View { self }
}
