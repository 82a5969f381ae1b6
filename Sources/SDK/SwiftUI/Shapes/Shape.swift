// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.Shape`.
nonisolated public protocol Shape: Sendable, Animatable, View {
  nonisolated func path(in rect: CGRect) -> Path
}

/// Source: `SwiftUI.InsettableShape`.
nonisolated public protocol InsettableShape: Shape {
  associatedtype InsetShape: InsettableShape
  /// `amount` is in points, for each side.
  nonisolated func inset(by amount: CGFloat) -> InsetShape
}

/// Source: `SwiftUI.Animatable`. An archived view is never between two values.
nonisolated public protocol Animatable {
  associatedtype AnimatableData = EmptyAnimatableData
  var animatableData: AnimatableData { get set }
}

extension Animatable where AnimatableData == EmptyAnimatableData {
  public var animatableData: EmptyAnimatableData {
    get { EmptyAnimatableData() }
    set {}
  }
}

/// Source: `SwiftUI.EmptyAnimatableData`.
public struct EmptyAnimatableData: Equatable, Sendable {
  public init() {}
}

/// Source: `SwiftUI.AnimatablePair`.
public struct AnimatablePair<First, Second> {
  public var first: First
  public var second: Second
  public init(_ first: First, _ second: Second) {
    self.first = first
    self.second = second
  }
}

/// A shape with its own representation in the archive.
@MainActor protocol ArchivedShape {
  /// Returns the shape with the operations applied to it.
  func shape(in context: ArchivingContext) -> ViewArchive
}

extension Shape where Body == ShapeBody<Self> {
  /// The shape, filled with the foreground style.
  public var body: ShapeBody<Self> { ShapeBody(shape: self) }
}

/// The body of a shape: its own archive, or its outline.
nonisolated public struct ShapeBody<Content: Shape>: View, ArchivedView {
  public typealias Body = Never
  let shape: Content

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    shape.archived(in: context)
  }
}

extension Shape {
  /// Returns the shape as it is stored: its own archive, or its outline in the size of the host's layout, or, before that,
  /// in the size that is proposed.
  @MainActor func archived(in context: ArchivingContext) -> ViewArchive {
    if let known = self as? any ArchivedShape { return known.shape(in: context) }
    let (identifier, size, _) = context.enterClosure()
    return ViewArchive(
      .shape(.path),
      given: [
        "type": .string("\(Self.self)"), "in": size.archived, "closure": identifier?.archived,
        "path": context.environment.during { path(in: CGRect(origin: .zero, size: size)) }.archived,
      ])
  }
}

/// Source: `SwiftUI.RoundedCornerStyle`.
public enum RoundedCornerStyle: Sendable, NamedArgument {
  case circular
  case continuous
}

/// Source: `SwiftUI.RectangleCornerRadii`. In points.
public struct RectangleCornerRadii: Equatable, Sendable, ArchivedArgument {
  public var topLeading: CGFloat
  public var bottomLeading: CGFloat
  public var bottomTrailing: CGFloat
  public var topTrailing: CGFloat
  public init(
    topLeading: CGFloat = 0, bottomLeading: CGFloat = 0, bottomTrailing: CGFloat = 0, topTrailing: CGFloat = 0
  ) {
    self.topLeading = topLeading
    self.bottomLeading = bottomLeading
    self.bottomTrailing = bottomTrailing
    self.topTrailing = topTrailing
  }
  package var archived: ArchivedValue {
    .record([
      "topLeading": topLeading.archived, "bottomLeading": bottomLeading.archived,
      "bottomTrailing": bottomTrailing.archived, "topTrailing": topTrailing.archived,
    ])
  }
}
