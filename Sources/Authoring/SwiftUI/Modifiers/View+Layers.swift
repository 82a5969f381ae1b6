import Archive
public import Foundation

// Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  /// A view behind the view.
  nonisolated public func background<V: View>(
    alignment: Alignment = .center, @ViewBuilder content: () -> V
  ) -> some View {
    modified(
      "background", ["alignment": alignment == .center ? nil : alignment.archived], views: [content()])
  }
  /// A view behind the view.
  @_disfavoredOverload nonisolated public func background<Background: View>(
    _ background: Background, alignment: Alignment = .center
  ) -> some View {
    modified(
      "background", ["alignment": alignment == .center ? nil : alignment.archived], views: [background])
  }
  /// The background around, behind the view.
  nonisolated public func background(ignoresSafeAreaEdges edges: Edge.Set = .all) -> some View {
    modified("background", ["style": "background"])
  }
  /// A style behind the view.
  nonisolated public func background<S: ShapeStyle>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all)
    -> some View
  {
    modified("background", ["style": style.archived(in: .current)])
  }
  /// The background around in a form, behind the view.
  nonisolated public func background<S: Shape>(in shape: S, fillStyle: FillStyle = FillStyle()) -> some View {
    modified("background", ["style": "background"], views: [shape])
  }
  /// A style in a form, behind the view.
  nonisolated public func background<S: ShapeStyle, T: Shape>(
    _ style: S, in shape: T, fillStyle: FillStyle = FillStyle()
  ) -> some View {
    modified("background", ["style": style.archived(in: .current)], views: [shape])
  }

  /// A view before the view.
  nonisolated public func overlay<V: View>(
    alignment: Alignment = .center, @ViewBuilder content: () -> V
  ) -> some View {
    modified("overlay", ["alignment": alignment == .center ? nil : alignment.archived], views: [content()])
  }
  /// A view before the view.
  @_disfavoredOverload nonisolated public func overlay<Overlay: View>(
    _ overlay: Overlay, alignment: Alignment = .center
  ) -> some View {
    modified("overlay", ["alignment": alignment == .center ? nil : alignment.archived], views: [overlay])
  }
  /// A style before the view.
  nonisolated public func overlay<S: ShapeStyle>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all) -> some View {
    modified("overlay", ["style": style.archived(in: .current)])
  }
  /// A style in a form, before the view.
  nonisolated public func overlay<S: ShapeStyle, T: Shape>(
    _ style: S, in shape: T, fillStyle: FillStyle = FillStyle()
  ) -> some View {
    modified("overlay", ["style": style.archived(in: .current)], views: [shape])
  }

  /// What of the view there is to see.
  nonisolated public func mask<Mask: View>(
    alignment: Alignment = .center, @ViewBuilder _ mask: () -> Mask
  ) -> some View {
    modified("mask", ["alignment": alignment == .center ? nil : alignment.archived], views: [mask()])
  }
  /// What of the view there is to see.
  nonisolated public func mask<Mask: View>(_ mask: Mask) -> some View { modified("mask", views: [mask]) }
  /// The view within a form.
  nonisolated public func clipShape<S: Shape>(_ shape: S, style: FillStyle = FillStyle()) -> some View {
    modified("clipShape", views: [shape])
  }
  /// The view within its place.
  nonisolated public func clipped(antialiased: Bool = false) -> some View { modified("clipped") }
  /// The view with round corners; points.
  nonisolated public func cornerRadius(_ radius: CGFloat, antialiased: Bool = true) -> some View {
    modified("cornerRadius", ["radius": radius.archived])
  }
  /// The form that `ContainerRelativeShape` follows within.
  nonisolated public func containerShape<T: InsettableShape>(_ shape: T) -> some View {
    modified("containerShape", views: [shape])
  }

  /// A style behind a whole container.
  nonisolated public func containerBackground<S: ShapeStyle>(
    _ style: S, for container: ContainerBackgroundPlacement
  ) -> some View {
    modified("containerBackground", ["placement": container.archived, "style": style.archived(in: .current)])
  }
  /// A view behind a whole container.
  nonisolated public func containerBackground<V: View>(
    for container: ContainerBackgroundPlacement, alignment: Alignment = .center, @ViewBuilder content: () -> V
  ) -> some View {
    modified(
      "containerBackground",
      ["placement": container.archived, "alignment": alignment == .center ? nil : alignment.archived],
      views: [content()])
  }

  /// The view, turned.
  nonisolated public func rotationEffect(_ angle: Angle, anchor: UnitPoint = .center) -> some View {
    modified("rotationEffect", ["degrees": angle.archived, "anchor": anchor == .center ? nil : anchor.archived])
  }
  /// The view, turned about an axis in space.
  nonisolated public func rotation3DEffect(
    _ angle: Angle, axis: (x: CGFloat, y: CGFloat, z: CGFloat), anchor: UnitPoint = .center, anchorZ: CGFloat = 0,
    perspective: CGFloat = 1
  ) -> some View {
    modified(
      "rotation3DEffect", ["degrees": angle.archived, "axis": [axis.x, axis.y, axis.z].archived])
  }
  /// The view, larger or smaller.
  nonisolated public func scaleEffect(_ scale: CGFloat, anchor: UnitPoint = .center) -> some View {
    modified("scaleEffect", ["scale": scale.archived, "anchor": anchor == .center ? nil : anchor.archived])
  }
  /// The view, larger or smaller.
  nonisolated public func scaleEffect(_ scale: CGSize, anchor: UnitPoint = .center) -> some View {
    scaleEffect(x: scale.width, y: scale.height, anchor: anchor)
  }
  /// The view, larger or smaller.
  nonisolated public func scaleEffect(x: CGFloat = 1, y: CGFloat = 1, anchor: UnitPoint = .center) -> some View {
    modified(
      "scaleEffect",
      ["x": x.archived, "y": y.archived, "anchor": anchor == .center ? nil : anchor.archived])
  }
}
