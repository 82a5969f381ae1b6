// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

// Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  nonisolated public func background<V: View>(
    alignment: Alignment = .center, @ViewBuilder content: () -> V
  ) -> some View {
    modified(
      .layer(.background), ["alignment": alignment == .center ? nil : alignment.archived], views: [content()])
  }
  @_disfavoredOverload nonisolated public func background<Background: View>(
    _ background: Background, alignment: Alignment = .center
  ) -> some View {
    modified(
      .layer(.background), ["alignment": alignment == .center ? nil : alignment.archived], views: [background])
  }
  nonisolated public func background(ignoresSafeAreaEdges edges: Edge.Set = .all) -> some View {
    modified(.layer(.background), ["style": "background"])
  }
  nonisolated public func background<S: ShapeStyle>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all)
    -> some View
  {
    modified(.layer(.background), ["style": style.archived(in: .current)])
  }
  nonisolated public func background<S: Shape>(in shape: S, fillStyle: FillStyle = FillStyle()) -> some View {
    modified(.layer(.background), ["style": "background"], views: [shape])
  }
  nonisolated public func background<S: ShapeStyle, T: Shape>(
    _ style: S, in shape: T, fillStyle: FillStyle = FillStyle()
  ) -> some View {
    modified(.layer(.background), ["style": style.archived(in: .current)], views: [shape])
  }

  nonisolated public func overlay<V: View>(
    alignment: Alignment = .center, @ViewBuilder content: () -> V
  ) -> some View {
    modified(.layer(.overlay), ["alignment": alignment == .center ? nil : alignment.archived], views: [content()])
  }
  @_disfavoredOverload nonisolated public func overlay<Overlay: View>(
    _ overlay: Overlay, alignment: Alignment = .center
  ) -> some View {
    modified(.layer(.overlay), ["alignment": alignment == .center ? nil : alignment.archived], views: [overlay])
  }
  nonisolated public func overlay<S: ShapeStyle>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all) -> some View {
    modified(.layer(.overlay), ["style": style.archived(in: .current)])
  }
  nonisolated public func overlay<S: ShapeStyle, T: Shape>(
    _ style: S, in shape: T, fillStyle: FillStyle = FillStyle()
  ) -> some View {
    modified(.layer(.overlay), ["style": style.archived(in: .current)], views: [shape])
  }

  nonisolated public func mask<Mask: View>(
    alignment: Alignment = .center, @ViewBuilder _ mask: () -> Mask
  ) -> some View {
    modified(.layer(.mask), ["alignment": alignment == .center ? nil : alignment.archived], views: [mask()])
  }
  nonisolated public func mask<Mask: View>(_ mask: Mask) -> some View { modified(.layer(.mask), views: [mask]) }
  nonisolated public func clipShape<S: Shape>(_ shape: S, style: FillStyle = FillStyle()) -> some View {
    modified(.layer(.clipShape), views: [shape])
  }
  nonisolated public func clipped(antialiased: Bool = false) -> some View { modified(.effect(.clipped)) }
  /// `radius` is in points.
  nonisolated public func cornerRadius(_ radius: CGFloat, antialiased: Bool = true) -> some View {
    modified(.effect(.cornerRadius), ["radius": radius.archived])
  }
  /// Sets the shape that `ContainerRelativeShape` follows inside the view.
  nonisolated public func containerShape<T: InsettableShape>(_ shape: T) -> some View {
    modified(.layer(.containerShape), views: [shape])
  }

  nonisolated public func containerBackground<S: ShapeStyle>(
    _ style: S, for container: ContainerBackgroundPlacement
  ) -> some View {
    modified(.layout(.containerBackground), ["placement": container.archived, "style": style.archived(in: .current)])
  }
  nonisolated public func containerBackground<V: View>(
    for container: ContainerBackgroundPlacement, alignment: Alignment = .center, @ViewBuilder content: () -> V
  ) -> some View {
    modified(
      .layout(.containerBackground),
      ["placement": container.archived, "alignment": alignment == .center ? nil : alignment.archived],
      views: [content()])
  }

  nonisolated public func rotationEffect(_ angle: Angle, anchor: UnitPoint = .center) -> some View {
    modified(.effect(.rotationEffect), ["degrees": angle.archived, "anchor": anchor == .center ? nil : anchor.archived])
  }
  nonisolated public func rotation3DEffect(
    _ angle: Angle, axis: (x: CGFloat, y: CGFloat, z: CGFloat), anchor: UnitPoint = .center, anchorZ: CGFloat = 0,
    perspective: CGFloat = 1
  ) -> some View {
    modified(
      .effect(.rotation3DEffect), ["degrees": angle.archived, "axis": [axis.x, axis.y, axis.z].archived])
  }
  nonisolated public func scaleEffect(_ scale: CGFloat, anchor: UnitPoint = .center) -> some View {
    modified(.effect(.scaleEffect), ["scale": scale.archived, "anchor": anchor == .center ? nil : anchor.archived])
  }
  nonisolated public func scaleEffect(_ scale: CGSize, anchor: UnitPoint = .center) -> some View {
    scaleEffect(x: scale.width, y: scale.height, anchor: anchor)
  }
  nonisolated public func scaleEffect(x: CGFloat = 1, y: CGFloat = 1, anchor: UnitPoint = .center) -> some View {
    modified(
      .effect(.scaleEffect),
      ["x": x.archived, "y": y.archived, "anchor": anchor == .center ? nil : anchor.archived])
  }
}
