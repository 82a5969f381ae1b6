// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

/// Effects that depend on the geometry of a view and do not change its layout. Source: `SwiftUI.VisualEffect`.
public protocol VisualEffect: Sendable {
  func _applied(to view: AnyView) -> AnyView
}

/// Source: `SwiftUI.EmptyVisualEffect`.
public struct EmptyVisualEffect: VisualEffect {
  public init() {}
  public func _applied(to view: AnyView) -> AnyView { view }
}

/// An effect after another one.
private struct NextVisualEffect: VisualEffect {
  let base: any VisualEffect
  let next: @Sendable (AnyView) -> AnyView

  func _applied(to view: AnyView) -> AnyView { next(base._applied(to: view)) }
}

// Source of all: `SwiftUI.VisualEffect` of the iOS 17 SDK.
extension VisualEffect {
  private func then(_ next: @escaping @Sendable (AnyView) -> AnyView) -> some VisualEffect {
    NextVisualEffect(base: self, next: next)
  }

  public func offset(x: CGFloat = 0, y: CGFloat = 0) -> some VisualEffect { then { AnyView($0.offset(x: x, y: y)) } }
  public func offset(_ offset: CGSize) -> some VisualEffect { then { AnyView($0.offset(offset)) } }
  public func scaleEffect(_ scale: CGFloat, anchor: UnitPoint = .center) -> some VisualEffect {
    then { AnyView($0.scaleEffect(scale, anchor: anchor)) }
  }
  public func scaleEffect(x: CGFloat = 1, y: CGFloat = 1, anchor: UnitPoint = .center) -> some VisualEffect {
    then { AnyView($0.scaleEffect(x: x, y: y, anchor: anchor)) }
  }
  public func rotationEffect(_ angle: Angle, anchor: UnitPoint = .center) -> some VisualEffect {
    then { AnyView($0.rotationEffect(angle, anchor: anchor)) }
  }
  public func opacity(_ opacity: Double) -> some VisualEffect { then { AnyView($0.opacity(opacity)) } }
  public func blur(radius: CGFloat, opaque: Bool = false) -> some VisualEffect {
    then { AnyView($0.blur(radius: radius, opaque: opaque)) }
  }
  public func brightness(_ amount: Double) -> some VisualEffect { then { AnyView($0.brightness(amount)) } }
  public func contrast(_ amount: Double) -> some VisualEffect { then { AnyView($0.contrast(amount)) } }
  public func saturation(_ amount: Double) -> some VisualEffect { then { AnyView($0.saturation(amount)) } }
  public func grayscale(_ amount: Double) -> some VisualEffect { then { AnyView($0.grayscale(amount)) } }
  public func hueRotation(_ angle: Angle) -> some VisualEffect { then { AnyView($0.hueRotation(angle)) } }
}

/// A view with effects for the space that it is offered.
nonisolated private struct VisualEffectView<Content: View, Effect: VisualEffect>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let effect: @Sendable (EmptyVisualEffect, GeometryProxy) -> Effect

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    let proxy = GeometryProxy(size: context.environment.proposedSize)
    return effect(EmptyVisualEffect(), proxy)._applied(to: AnyView(content))
  }
}

extension View {
  /// The proxy has the size that the view is offered, which can be larger than its own.
  nonisolated public func visualEffect(
    _ effect: @escaping @Sendable (EmptyVisualEffect, GeometryProxy) -> some VisualEffect
  ) -> some View {
    VisualEffectView(content: self, effect: effect)
  }
}
