package import Archive
public import Foundation

/// A form that can be filled. Source: `SwiftUI.Shape`.
nonisolated public protocol Shape: Sendable, Animatable, View {
  /// The form's outline in a place.
  nonisolated func path(in rect: CGRect) -> Path
}

/// A form that can be drawn smaller. Source: `SwiftUI.InsettableShape`.
nonisolated public protocol InsettableShape: Shape {
  /// The smaller form.
  associatedtype InsetShape: InsettableShape
  /// The form, smaller by so many points at each side.
  nonisolated func inset(by amount: CGFloat) -> InsetShape
}

/// What can be between two values. Source: `SwiftUI.Animatable`. An archived view is not between any.
nonisolated public protocol Animatable {
  /// The numbers that change.
  associatedtype AnimatableData = EmptyAnimatableData
  /// The numbers that change.
  var animatableData: AnimatableData { get set }
}

extension Animatable where AnimatableData == EmptyAnimatableData {
  /// None.
  public var animatableData: EmptyAnimatableData {
    get { EmptyAnimatableData() }
    set {}
  }
}

/// No number. Source: `SwiftUI.EmptyAnimatableData`.
public struct EmptyAnimatableData: Equatable, Sendable {
  /// No number.
  public init() {}
}

/// Two numbers. Source: `SwiftUI.AnimatablePair`.
public struct AnimatablePair<First, Second> {
  /// The first.
  public var first: First
  /// The second.
  public var second: Second
  /// Two numbers.
  public init(_ first: First, _ second: Second) {
    self.first = first
    self.second = second
  }
}

/// A form that the archive knows by itself.
@MainActor protocol ArchivedShape {
  /// The form and what was done to it.
  func shape(in environment: EnvironmentValues) -> ViewArchive
}

extension Shape where Body == ShapeBody<Self> {
  /// The form, filled with the colour around.
  public var body: ShapeBody<Self> { ShapeBody(shape: self) }
}

/// What a form is made of: its own words, or its outline in the whole widget, since nothing is laid out yet.
nonisolated public struct ShapeBody<Content: Shape>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  let shape: Content

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    shape.archived(in: context.environment)
  }
}

extension Shape {
  /// The form as it is kept: its own words, or its outline in the whole widget.
  @MainActor func archived(in environment: EnvironmentValues) -> ViewArchive {
    if let known = self as? any ArchivedShape { return known.shape(in: environment) }
    let place = CGRect(origin: .zero, size: environment.proposedSize)
    return ViewArchive(
      "Shape",
      [
        "type": .string("\(Self.self)"), "in": place.size.archived,
        "path": environment.during { path(in: place) }.archived,
      ])
  }
}

/// How corners are round. Source: `SwiftUI.RoundedCornerStyle`.
public enum RoundedCornerStyle: Sendable, NamedArgument {
  /// As a quarter of a circle.
  case circular
  /// Beginning gently.
  case continuous
}

/// How large each corner is. Source: `SwiftUI.RectangleCornerRadii`.
public struct RectangleCornerRadii: Equatable, Sendable, ArchivedArgument {
  /// Points.
  public var topLeading: CGFloat
  /// Points.
  public var bottomLeading: CGFloat
  /// Points.
  public var bottomTrailing: CGFloat
  /// Points.
  public var topTrailing: CGFloat
  /// Radii.
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
