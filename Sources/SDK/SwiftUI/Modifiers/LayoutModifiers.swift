// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

// Source of all: `SwiftUI.View` of the iOS 18 SDK. Lengths are in points.
extension View {
  nonisolated public func padding(_ insets: EdgeInsets) -> some View {
    modified(.layout(.padding), [.insets: insets.archived]) { $0.inset(by: insets) }
  }
  /// `nil`: the system's padding.
  nonisolated public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View {
    modified(.layout(.padding), [.edges: edges == .all ? nil : edges.archived, .length: length?.archived]) {
      $0.inset(by: EdgeInsets(edges, length ?? 16))
    }
  }
  nonisolated public func padding(_ length: CGFloat) -> some View { padding(.all, length) }

  nonisolated public func frame(
    width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center
  ) -> some View {
    modified(
      .layout(.frame),
      [
        .width: width?.archived, .height: height?.archived,
        .alignment: alignment == .center ? nil : alignment.archived,
      ]
    ) {
      $0.proposedSize.width = width ?? $0.proposedSize.width
      $0.proposedSize.height = height ?? $0.proposedSize.height
    }
  }
  nonisolated public func frame(
    minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
    idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
  ) -> some View {
    modified(
      .layout(.frame),
      [
        .minWidth: minWidth?.archived, .idealWidth: idealWidth?.archived, .maxWidth: maxWidth?.archived,
        .minHeight: minHeight?.archived, .idealHeight: idealHeight?.archived, .maxHeight: maxHeight?.archived,
        .alignment: alignment == .center ? nil : alignment.archived,
      ])
  }

  nonisolated public func offset(_ offset: CGSize) -> some View { self.offset(x: offset.width, y: offset.height) }
  nonisolated public func offset(x: CGFloat = 0, y: CGFloat = 0) -> some View {
    modified(.layout(.offset), [.x: x == 0 ? nil : x.archived, .y: y == 0 ? nil : y.archived])
  }
  nonisolated public func position(_ position: CGPoint) -> some View { self.position(x: position.x, y: position.y) }
  nonisolated public func position(x: CGFloat = 0, y: CGFloat = 0) -> some View {
    modified(.layout(.position), [.x: x.archived, .y: y.archived])
  }
  nonisolated public func fixedSize() -> some View { modified(.layout(.fixedSize)) }
  nonisolated public func fixedSize(horizontal: Bool, vertical: Bool) -> some View {
    modified(.layout(.fixedSize), [.horizontal: horizontal.archived, .vertical: vertical.archived])
  }
  nonisolated public func layoutPriority(_ value: Double) -> some View {
    modified(.layout(.layoutPriority), [.value: value.archived])
  }
  nonisolated public func zIndex(_ value: Double) -> some View { modified(.layout(.zIndex), [.value: value.archived]) }
  nonisolated public func aspectRatio(_ aspectRatio: CGFloat? = nil, contentMode: ContentMode) -> some View {
    modified(.layout(.aspectRatio), [.ratio: aspectRatio?.archived, .contentMode: contentMode.archived])
  }
  nonisolated public func aspectRatio(_ aspectRatio: CGSize, contentMode: ContentMode) -> some View {
    self.aspectRatio(aspectRatio.width / aspectRatio.height, contentMode: contentMode)
  }
  nonisolated public func scaledToFit() -> some View { modified(.layout(.scaledToFit)) }
  nonisolated public func scaledToFill() -> some View { modified(.layout(.scaledToFill)) }
  nonisolated public func alignmentGuide(
    _ g: HorizontalAlignment, computeValue: @escaping (ViewDimensions) -> CGFloat
  ) -> some View {
    AlignedView(content: self, guide: g.name, axis: "horizontal", key: g.key, computeValue: computeValue)
  }
  nonisolated public func alignmentGuide(
    _ g: VerticalAlignment, computeValue: @escaping (ViewDimensions) -> CGFloat
  ) -> some View {
    AlignedView(content: self, guide: g.name, axis: "vertical", key: g.key, computeValue: computeValue)
  }

  /// A widget has content margins instead of a safe area.
  nonisolated public func ignoresSafeArea(
    _ regions: SafeAreaRegions = .all, edges: Edge.Set = .all
  ) -> some View {
    modified(.silent(.ignoresSafeArea), [.edges: edges == .all ? nil : edges.archived])
  }
  /// A widget has content margins instead of a safe area.
  nonisolated public func edgesIgnoringSafeArea(_ edges: Edge.Set) -> some View {
    ignoresSafeArea(edges: edges)
  }
  nonisolated public func safeAreaInset<V: View>(
    edge: VerticalEdge, alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> V
  ) -> some View {
    modified(.undrawn(.safeAreaInset), [.edge: edge.archived, .spacing: spacing?.archived], views: [content()])
  }
  nonisolated public func safeAreaPadding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View {
    modified(.layout(.safeAreaPadding), [.edges: edges == .all ? nil : edges.archived, .length: length?.archived])
  }
  nonisolated public func contentMargins(_ edges: Edge.Set = .all, _ length: CGFloat?) -> some View {
    modified(.layout(.contentMargins), [.edges: edges == .all ? nil : edges.archived, .length: length?.archived])
  }
  /// Has no effect: the origin is zero in each space.
  nonisolated public func coordinateSpace<T: Hashable>(name: T) -> some View { coordinateSpace(.named(name)) }
}

/// A view that sets guides, as the view around it sees them.
private protocol GuidedView {
  /// The dimensions with the guides that the view sets.
  func dimensions(_ size: CGSize) -> ViewDimensions
}

/// A view with its own place of an alignment guide. The closure is called with the size of the host's layout.
nonisolated struct AlignedView<Content: View>: View, WrappingView, GuidedView {
  typealias Body = Never

  let content: Content
  let guide: String
  let axis: String
  let key: String
  let computeValue: (ViewDimensions) -> CGFloat

  /// With the guides of the modifiers that precede this one.
  private func inner(_ size: CGSize) -> ViewDimensions {
    (content as? any GuidedView)?.dimensions(size) ?? ViewDimensions(width: size.width, height: size.height)
  }

  fileprivate func dimensions(_ size: CGSize) -> ViewDimensions {
    var dimensions = inner(size)
    dimensions.guides[key] = computeValue(dimensions)
    return dimensions
  }

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    var arguments: ArchivedArguments = [.guide: .string(guide), .axis: .string(axis)]
    if let (identifier, size) = context.environment.closures?.add() {
      arguments[.closure] = .string(identifier)
      if let size {
        arguments[.in] = size.archived
        arguments[.value] = context.environment.during { computeValue(inner(size)) }.archived
      }
    }
    modifiers.append(ViewArchive.Modifier(.layout(.alignmentGuide), arguments))
    return content
  }
}

/// Source: `SwiftUI.SafeAreaRegions`.
public struct SafeAreaRegions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let container = SafeAreaRegions(rawValue: 1)
  public static let keyboard = SafeAreaRegions(rawValue: 2)
  public static let all = SafeAreaRegions(rawValue: .max)
}

extension EnvironmentValues {
  /// Shrinks the size that is proposed to the views inside.
  fileprivate mutating func inset(by insets: EdgeInsets) {
    proposedSize.width = max(0, proposedSize.width - insets.leading - insets.trailing)
    proposedSize.height = max(0, proposedSize.height - insets.top - insets.bottom)
  }
}

extension EdgeInsets {
  fileprivate init(_ edges: Edge.Set, _ length: CGFloat) {
    self.init(
      top: edges.contains(.top) ? length : 0, leading: edges.contains(.leading) ? length : 0,
      bottom: edges.contains(.bottom) ? length : 0, trailing: edges.contains(.trailing) ? length : 0)
  }
}

// Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  nonisolated public func background<V: View>(
    alignment: Alignment = .center, @ViewBuilder content: () -> V
  ) -> some View {
    modified(
      .layer(.background), [.alignment: alignment == .center ? nil : alignment.archived], views: [content()])
  }
  @_disfavoredOverload nonisolated public func background<Background: View>(
    _ background: Background, alignment: Alignment = .center
  ) -> some View {
    modified(
      .layer(.background), [.alignment: alignment == .center ? nil : alignment.archived], views: [background])
  }
  nonisolated public func background(ignoresSafeAreaEdges edges: Edge.Set = .all) -> some View {
    modified(.layer(.background), [.style: "background"])
  }
  nonisolated public func background<S: ShapeStyle>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all)
    -> some View
  {
    modified(.layer(.background), [.style: style.archived(in: .current)])
  }
  nonisolated public func background<S: Shape>(in shape: S, fillStyle: FillStyle = FillStyle()) -> some View {
    modified(.layer(.background), [.style: "background"], views: [shape])
  }
  nonisolated public func background<S: ShapeStyle, T: Shape>(
    _ style: S, in shape: T, fillStyle: FillStyle = FillStyle()
  ) -> some View {
    modified(.layer(.background), [.style: style.archived(in: .current)], views: [shape])
  }

  nonisolated public func overlay<V: View>(
    alignment: Alignment = .center, @ViewBuilder content: () -> V
  ) -> some View {
    modified(.layer(.overlay), [.alignment: alignment == .center ? nil : alignment.archived], views: [content()])
  }
  @_disfavoredOverload nonisolated public func overlay<Overlay: View>(
    _ overlay: Overlay, alignment: Alignment = .center
  ) -> some View {
    modified(.layer(.overlay), [.alignment: alignment == .center ? nil : alignment.archived], views: [overlay])
  }
  nonisolated public func overlay<S: ShapeStyle>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all) -> some View {
    modified(.layer(.overlay), [.style: style.archived(in: .current)])
  }
  nonisolated public func overlay<S: ShapeStyle, T: Shape>(
    _ style: S, in shape: T, fillStyle: FillStyle = FillStyle()
  ) -> some View {
    modified(.layer(.overlay), [.style: style.archived(in: .current)], views: [shape])
  }

  nonisolated public func mask<Mask: View>(
    alignment: Alignment = .center, @ViewBuilder _ mask: () -> Mask
  ) -> some View {
    modified(.layer(.mask), [.alignment: alignment == .center ? nil : alignment.archived], views: [mask()])
  }
  nonisolated public func mask<Mask: View>(_ mask: Mask) -> some View { modified(.layer(.mask), views: [mask]) }
  nonisolated public func clipShape<S: Shape>(_ shape: S, style: FillStyle = FillStyle()) -> some View {
    modified(.layer(.clipShape), views: [shape])
  }
  nonisolated public func clipped(antialiased: Bool = false) -> some View { modified(.effect(.clipped)) }
  /// `radius` is in points.
  nonisolated public func cornerRadius(_ radius: CGFloat, antialiased: Bool = true) -> some View {
    modified(.effect(.cornerRadius), [.radius: radius.archived])
  }
  /// Sets the shape that `ContainerRelativeShape` follows inside the view.
  nonisolated public func containerShape<T: InsettableShape>(_ shape: T) -> some View {
    modified(.layer(.containerShape), views: [shape])
  }

  nonisolated public func containerBackground<S: ShapeStyle>(
    _ style: S, for container: ContainerBackgroundPlacement
  ) -> some View {
    modified(.layout(.containerBackground), [.placement: container.archived, .style: style.archived(in: .current)])
  }
  nonisolated public func containerBackground<V: View>(
    for container: ContainerBackgroundPlacement, alignment: Alignment = .center, @ViewBuilder content: () -> V
  ) -> some View {
    modified(
      .layout(.containerBackground),
      [.placement: container.archived, .alignment: alignment == .center ? nil : alignment.archived],
      views: [content()])
  }

  nonisolated public func rotationEffect(_ angle: Angle, anchor: UnitPoint = .center) -> some View {
    modified(
      .effect(.rotationEffect), [.degrees: angle.archived, .anchor: anchor == .center ? nil : anchor.archived])
  }
  nonisolated public func rotation3DEffect(
    _ angle: Angle, axis: (x: CGFloat, y: CGFloat, z: CGFloat), anchor: UnitPoint = .center, anchorZ: CGFloat = 0,
    perspective: CGFloat = 1
  ) -> some View {
    modified(
      .effect(.rotation3DEffect), [.degrees: angle.archived, .axis: [axis.x, axis.y, axis.z].archived])
  }
  nonisolated public func scaleEffect(_ scale: CGFloat, anchor: UnitPoint = .center) -> some View {
    modified(.effect(.scaleEffect), [.scale: scale.archived, .anchor: anchor == .center ? nil : anchor.archived])
  }
  nonisolated public func scaleEffect(_ scale: CGSize, anchor: UnitPoint = .center) -> some View {
    scaleEffect(x: scale.width, y: scale.height, anchor: anchor)
  }
  nonisolated public func scaleEffect(x: CGFloat = 1, y: CGFloat = 1, anchor: UnitPoint = .center) -> some View {
    modified(
      .effect(.scaleEffect),
      [.x: x.archived, .y: y.archived, .anchor: anchor == .center ? nil : anchor.archived])
  }
}

// Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  nonisolated public func foregroundColor(_ color: Color?) -> some View {
    modified(.style(.foregroundColor), [.color: color?.value])
  }
  nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View {
    modified(.style(.foregroundStyle), [.style: style.archived(in: .current)])
  }
  nonisolated public func foregroundStyle<S1: ShapeStyle, S2: ShapeStyle>(_ primary: S1, _ secondary: S2) -> some View {
    modified(
      .style(.foregroundStyle),
      [.style: primary.archived(in: .current), .secondary: secondary.archived(in: .current)])
  }
  nonisolated public func foregroundStyle<S1: ShapeStyle, S2: ShapeStyle, S3: ShapeStyle>(
    _ primary: S1, _ secondary: S2, _ tertiary: S3
  ) -> some View {
    modified(
      .style(.foregroundStyle),
      [
        .style: primary.archived(in: .current), .secondary: secondary.archived(in: .current),
        .tertiary: tertiary.archived(in: .current),
      ])
  }
  nonisolated public func tint(_ tint: Color?) -> some View { modified(.style(.tint), [.style: tint?.value]) }
  nonisolated public func tint<S: ShapeStyle>(_ tint: S?) -> some View {
    modified(.style(.tint), [.style: tint?.archived(in: .current)])
  }
  nonisolated public func accentColor(_ accentColor: Color?) -> some View {
    modified(.style(.accentColor), [.color: accentColor?.value])
  }
  nonisolated public func backgroundStyle<S: ShapeStyle>(_ style: S) -> some View {
    modified(.style(.backgroundStyle), [.style: style.archived(in: .current)])
  }
  nonisolated public func preferredColorScheme(_ colorScheme: ColorScheme?) -> some View {
    modified(.silent(.preferredColorScheme), [.scheme: colorScheme?.archived])
  }
  nonisolated public func colorScheme(_ colorScheme: ColorScheme) -> some View {
    modified(.style(.colorScheme), [.scheme: colorScheme.archived]) { $0.colorScheme = colorScheme }
  }

  /// `opacity` is from 0 to 1.
  nonisolated public func opacity(_ opacity: Double) -> some View {
    modified(.effect(.opacity), [.opacity: opacity.archived])
  }
  nonisolated public func hidden() -> some View { modified(.effect(.hidden)) }
  nonisolated public func blur(radius: CGFloat, opaque: Bool = false) -> some View {
    modified(.effect(.blur), [.radius: radius.archived])
  }
  nonisolated public func brightness(_ amount: Double) -> some View {
    modified(.color(.brightness), [.amount: amount.archived])
  }
  nonisolated public func contrast(_ amount: Double) -> some View {
    modified(.color(.contrast), [.amount: amount.archived])
  }
  nonisolated public func saturation(_ amount: Double) -> some View {
    modified(.color(.saturation), [.amount: amount.archived])
  }
  nonisolated public func grayscale(_ amount: Double) -> some View {
    modified(.color(.grayscale), [.amount: amount.archived])
  }
  nonisolated public func hueRotation(_ angle: Angle) -> some View {
    modified(.color(.hueRotation), [.degrees: angle.archived])
  }
  nonisolated public func colorInvert() -> some View { modified(.color(.colorInvert)) }
  nonisolated public func colorMultiply(_ color: Color) -> some View {
    modified(.color(.colorMultiply), [.color: color.value])
  }
  nonisolated public func blendMode(_ blendMode: BlendMode) -> some View {
    modified(.color(.blendMode), [.mode: blendMode.archived])
  }
  nonisolated public func compositingGroup() -> some View { modified(.effect(.compositingGroup)) }
  nonisolated public func drawingGroup(opaque: Bool = false) -> some View { modified(.effect(.drawingGroup)) }
  nonisolated public func luminanceToAlpha() -> some View { modified(.color(.luminanceToAlpha)) }

  /// Lengths are in points.
  nonisolated public func shadow(
    color: Color = Color(.sRGBLinear, white: 0, opacity: 0.33), radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0
  ) -> some View {
    modified(
      .effect(.shadow),
      [
        .color: color == Color(.sRGBLinear, white: 0, opacity: 0.33) ? nil : color.value,
        .radius: radius.archived, .x: x == 0 ? nil : x.archived, .y: y == 0 ? nil : y.archived,
      ])
  }
  nonisolated public func border<S: ShapeStyle>(_ content: S, width: CGFloat = 1) -> some View {
    modified(.effect(.border), [.style: content.archived(in: .current), .width: width.archived])
  }
}
