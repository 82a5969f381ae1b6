// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

// Liquid Glass of iOS 26. It is drawn as the nearest material, without refraction, highlights and reactions to a touch.

/// Source: `SwiftUI.Glass`.
public struct Glass: Equatable, Sendable {
  private enum Variant {
    case regular
    case clear
    case identity
  }

  private let variant: Variant
  private var color: Color?
  private var isInteractive = false

  private init(_ variant: Variant) { self.variant = variant }

  public static let regular = Glass(.regular)
  public static let clear = Glass(.clear)
  /// Nothing is drawn.
  public static let identity = Glass(.identity)

  public func tint(_ color: Color?) -> Glass {
    var glass = self
    glass.color = color
    return glass
  }

  /// Without effect: an archived view is not touched.
  public func interactive(_ isEnabled: Bool = true) -> Glass {
    var glass = self
    glass.isInteractive = isEnabled
    return glass
  }

  /// The material that is drawn; `nil` for the identity.
  fileprivate var material: Material? {
    switch variant {
    case .regular: .regular
    case .clear: .ultraThin
    case .identity: nil
    }
  }

  /// What is drawn above the material. Ours: Apple publishes no number.
  fileprivate var stain: Color? { color?.opacity(0.5) }
}

/// A capsule. Source: `SwiftUI.DefaultGlassEffectShape`.
nonisolated public struct DefaultGlassEffectShape: Shape, ArchivedShape {
  public init() {}
  public func path(in rect: CGRect) -> Path { Capsule().path(in: rect) }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive { Capsule().shape(in: context) }
}

extension View {
  /// Source: `SwiftUI.View.glassEffect(_:in:)`.
  @ViewBuilder nonisolated public func glassEffect(
    _ glass: Glass = .regular, in shape: some Shape = DefaultGlassEffectShape()
  ) -> some View {
    if let material = glass.material, let stain = glass.stain {
      background(stain, in: shape).background(material, in: shape)
    } else if let material = glass.material {
      background(material, in: shape)
    } else {
      self
    }
  }
}

/// Glass shapes near each other. Source: `SwiftUI.GlassEffectContainer`. Each one is drawn by itself: they do not merge.
nonisolated public struct GlassEffectContainer<Content: View>: View {
  private let content: Content

  /// - Parameter spacing: the distance at which shapes merge, in points; without effect.
  public init(spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) { self.content = content() }

  @MainActor public var body: some View { content }
}
