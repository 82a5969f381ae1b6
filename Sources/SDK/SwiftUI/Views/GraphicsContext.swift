// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.GraphicsContext`. Not declared: symbols, the size of a resolved text, transforms as matrices, inverse
/// clips and filters of the author.
public struct GraphicsContext {
  /// What a context and its copies drew, in order.
  private final class Recorder {
    var views: [any View] = []
  }

  /// Source: `SwiftUI.GraphicsContext.Shading`. Points are in the coordinates of the canvas.
  public struct Shading: Sendable {
    /// Makes the style for a canvas of this size.
    let style: @Sendable (CGSize) -> AnyShapeStyle

    private init(_ style: @escaping @Sendable (CGSize) -> AnyShapeStyle) { self.style = style }

    private static func point(_ point: CGPoint, _ size: CGSize) -> UnitPoint {
      UnitPoint(x: size.width > 0 ? point.x / size.width : 0, y: size.height > 0 ? point.y / size.height : 0)
    }

    public static var foreground: Shading { style(.foreground) }
    public static func color(_ color: Color) -> Shading { style(color) }
    public static func color(
      _ colorSpace: Color.RGBColorSpace = .sRGB, red: Double, green: Double, blue: Double, opacity: Double = 1
    ) -> Shading {
      style(Color(colorSpace, red: red, green: green, blue: blue, opacity: opacity))
    }
    public static func color(
      _ colorSpace: Color.RGBColorSpace = .sRGB, white: Double, opacity: Double = 1
    ) -> Shading {
      style(Color(colorSpace, white: white, opacity: opacity))
    }
    public static func style<S: ShapeStyle>(_ style: S) -> Shading { Shading { _ in AnyShapeStyle(style) } }
    public static func linearGradient(_ gradient: Gradient, startPoint: CGPoint, endPoint: CGPoint) -> Shading {
      Shading { size in
        AnyShapeStyle(
          LinearGradient(gradient: gradient, startPoint: point(startPoint, size), endPoint: point(endPoint, size)))
      }
    }
    /// Radii are in points.
    public static func radialGradient(
      _ gradient: Gradient, center: CGPoint, startRadius: CGFloat, endRadius: CGFloat
    ) -> Shading {
      Shading { size in
        AnyShapeStyle(
          RadialGradient(
            gradient: gradient, center: point(center, size), startRadius: startRadius, endRadius: endRadius))
      }
    }
    /// The picture of a widget does not show it, and notes that.
    public static func tiledImage(
      _ image: Image, origin: CGPoint = .zero, sourceRect: CGRect = CGRect(x: 0, y: 0, width: 1, height: 1),
      scale: CGFloat = 1
    ) -> Shading { style(ImagePaint(image: image, sourceRect: sourceRect, scale: scale)) }
    public static func conicGradient(_ gradient: Gradient, center: CGPoint, angle: Angle = Angle()) -> Shading {
      Shading { size in
        AnyShapeStyle(AngularGradient(gradient: gradient, center: point(center, size), angle: angle))
      }
    }
  }

  /// Source: `SwiftUI.GraphicsContext.Filter`.
  public struct Filter {
    let change: (AnyView) -> AnyView

    public static func blur(radius: CGFloat) -> Filter { Filter { AnyView($0.blur(radius: radius)) } }
    public static func shadow(
      color: Color = Color(.sRGBLinear, white: 0, opacity: 0.33), radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0
    ) -> Filter {
      Filter { AnyView($0.shadow(color: color, radius: radius, x: x, y: y)) }
    }
    public static func brightness(_ amount: Double) -> Filter { Filter { AnyView($0.brightness(amount)) } }
    public static func contrast(_ amount: Double) -> Filter { Filter { AnyView($0.contrast(amount)) } }
    public static func saturation(_ amount: Double) -> Filter { Filter { AnyView($0.saturation(amount)) } }
    public static func grayscale(_ amount: Double) -> Filter { Filter { AnyView($0.grayscale(amount)) } }
    public static func hueRotation(_ angle: Angle) -> Filter { Filter { AnyView($0.hueRotation(angle)) } }
    public static func colorMultiply(_ color: Color) -> Filter { Filter { AnyView($0.colorMultiply(color)) } }
    public static func colorInvert() -> Filter { Filter { AnyView($0.colorInvert()) } }
  }

  /// Source: `SwiftUI.GraphicsContext.ResolvedText`.
  public struct ResolvedText {
    let text: Text
  }

  /// Source: `SwiftUI.GraphicsContext.ResolvedImage`.
  public struct ResolvedImage {
    let image: Image
  }

  /// Source: `SwiftUI.GraphicsContext.BlendMode`.
  public typealias BlendMode = SwiftUI.BlendMode

  /// A change of the state.
  private enum Change {
    case offset(x: CGFloat, y: CGFloat)
    case rotation(Angle)
    case scale(x: CGFloat, y: CGFloat)
    case other((AnyView) -> AnyView)

    /// Both changes as one, so that a loop of turns needs one modifier; `nil`: they are of different kinds.
    func merged(with next: Change) -> Change? {
      switch (self, next) {
      case (.offset(let x, let y), .offset(let more, let further)): .offset(x: x + more, y: y + further)
      case (.rotation(let angle), .rotation(let more)): .rotation(angle + more)
      case (.scale(let x, let y), .scale(let more, let further)): .scale(x: x * more, y: y * further)
      default: nil
      }
    }

    func applied(to view: AnyView) -> AnyView {
      switch self {
      case .offset(let x, let y): AnyView(view.offset(x: x, y: y))
      case .rotation(let angle): AnyView(view.rotationEffect(angle, anchor: .topLeading))
      case .scale(let x, let y): AnyView(view.scaleEffect(x: x, y: y, anchor: .topLeading))
      case .other(let change): change(view)
      }
    }
  }

  private let recorder = Recorder()
  private let size: CGSize
  /// The changes of the state, in order. The last one is applied to a view first.
  private var changes: [Change] = []
  public let environment: EnvironmentValues
  /// Of everything that is drawn from now on, from 0 to 1.
  public var opacity: Double = 1
  /// Of everything that is drawn from now on.
  public var blendMode: BlendMode = .normal

  init(size: CGSize, environment: EnvironmentValues) {
    self.size = size
    self.environment = environment
  }

  /// What was drawn, in order.
  var drawn: [any View] { recorder.views }

  private func record(_ view: some View) {
    var view = AnyView(view)
    if opacity != 1 { view = AnyView(view.opacity(opacity)) }
    for change in changes.reversed() { view = change.applied(to: view) }
    if blendMode != .normal { view = AnyView(view.blendMode(blendMode)) }
    recorder.views.append(view)
  }

  // MARK: State

  private mutating func add(_ change: Change) {
    if let merged = changes.last?.merged(with: change) {
      changes[changes.count - 1] = merged
    } else {
      changes.append(change)
    }
  }

  public mutating func translateBy(x: CGFloat, y: CGFloat) { add(.offset(x: x, y: y)) }
  public mutating func rotate(by angle: Angle) { add(.rotation(angle)) }
  public mutating func scaleBy(x: CGFloat, y: CGFloat) { add(.scale(x: x, y: y)) }
  public mutating func addFilter(_ filter: Filter) { add(.other(filter.change)) }
  /// Draws only within the path from now on, besides earlier clips.
  public mutating func clip(to path: Path, style: FillStyle = FillStyle()) {
    add(.other { AnyView($0.clipShape(path, style: style)) })
  }

  // MARK: Drawing

  public func fill(_ path: Path, with shading: Shading, style: FillStyle = FillStyle()) {
    record(path.fill(shading.style(size), style: style))
  }
  public func stroke(_ path: Path, with shading: Shading, style: StrokeStyle) {
    record(path.stroke(shading.style(size), style: style))
  }
  public func stroke(_ path: Path, with shading: Shading, lineWidth: CGFloat = 1) {
    stroke(path, with: shading, style: StrokeStyle(lineWidth: lineWidth))
  }

  public func resolve(_ text: Text) -> ResolvedText { ResolvedText(text: text) }
  public func resolve(_ image: Image) -> ResolvedImage { ResolvedImage(image: image) }

  public func draw(_ text: Text, at point: CGPoint, anchor: UnitPoint = .center) {
    record(CanvasItem(content: text, place: point, anchor: anchor, size: nil))
  }
  /// Lines are broken at the width of the rectangle.
  public func draw(_ text: Text, in rect: CGRect) {
    record(CanvasItem(content: text, place: rect.origin, anchor: .topLeading, size: rect.size))
  }
  public func draw(_ text: ResolvedText, at point: CGPoint, anchor: UnitPoint = .center) {
    draw(text.text, at: point, anchor: anchor)
  }
  public func draw(_ text: ResolvedText, in rect: CGRect) { draw(text.text, in: rect) }
  public func draw(_ image: Image, at point: CGPoint, anchor: UnitPoint = .center) {
    record(CanvasItem(content: image, place: point, anchor: anchor, size: nil))
  }
  public func draw(_ image: Image, in rect: CGRect, style: FillStyle = FillStyle()) {
    record(CanvasItem(content: image.resizable(), place: rect.origin, anchor: .topLeading, size: rect.size))
  }
  public func draw(_ image: ResolvedImage, at point: CGPoint, anchor: UnitPoint = .center) {
    draw(image.image, at: point, anchor: anchor)
  }
  public func draw(_ image: ResolvedImage, in rect: CGRect, style: FillStyle = FillStyle()) {
    draw(image.image, in: rect, style: style)
  }

  /// Draws into a separate layer, which has the opacity, the blend mode and the filters of this context.
  public func drawLayer(content: (inout GraphicsContext) throws -> Void) rethrows {
    var layer = GraphicsContext(size: size, environment: environment)
    try content(&layer)
    record(CanvasLayer(views: layer.drawn).compositingGroup())
  }
}

/// The views of a layer, one above the other.
nonisolated private struct CanvasLayer: View, ArchivedView {
  typealias Body = Never

  // Made and archived on the main actor.
  nonisolated(unsafe) let views: [any View]

  @MainActor func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    var children: [ViewArchive] = []
    for view in views { children += try context.children(of: view) }
    return ViewArchive(.container(.zStack), [.alignment: "topLeading"], children: children)
  }
}

/// Source: `SwiftUI.Canvas`. The closure is called with the size that `GeometryReader` has at this place. What it draws is
/// archived as views, each as large as the canvas.
nonisolated public struct Canvas: View, ArchivedView {
  public typealias Body = Never
  public var renderer: (inout GraphicsContext, CGSize) -> Void

  /// The colour mode, and whether the canvas is opaque or draws at another time, make no difference in an archive.
  public init(
    opaque: Bool = false, colorMode: ColorRenderingMode = .nonLinear, rendersAsynchronously: Bool = false,
    renderer: @escaping (inout GraphicsContext, CGSize) -> Void
  ) {
    self.renderer = renderer
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let (identifier, size, inner) = context.enterClosure()
    var graphics = GraphicsContext(size: size, environment: inner.environment)
    inner.environment.during { renderer(&graphics, size) }
    var children: [ViewArchive] = []
    for view in graphics.drawn { children += try inner.children(of: view) }
    return ViewArchive(
      .container(.canvas), [.size: size.archived, .closure: identifier?.archived], children: children)
  }
}

/// Source: `SwiftUI.ColorRenderingMode`.
public enum ColorRenderingMode: Hashable, Sendable {
  case nonLinear
  case linear
  case extendedLinear
}

/// A text or an image of a canvas, with a point of it at a place. It has its ideal size, or the size that is given.
nonisolated struct CanvasItem<Content: View>: View, ArchivedView {
  typealias Body = Never

  let content: Content
  /// In points, from the top leading corner of the canvas.
  let place: CGPoint
  let anchor: UnitPoint
  let size: CGSize?

  @MainActor func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      .container(.canvasItem),
      [
        .x: place.x.archived, .y: place.y.archived, .anchorX: anchor.x.archived, .anchorY: anchor.y.archived,
        .width: size?.width.archived, .height: size?.height.archived,
      ], children: try context.children(of: content))
  }
}
