// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

/// A rectangle whose corners are concentric with those of its container. Source: `SwiftUI.ConcentricRectangle`. Drawn as
/// `ContainerRelativeShape`: all corners follow the container.
nonisolated public struct ConcentricRectangle: InsettableShape, ArchivedShape {
  private var shape = ContainerRelativeShape()

  public init() {}
  public init(corners: Edge.Corner.Style, isUniform: Bool = false) {}

  public func path(in rect: CGRect) -> Path { shape.path(in: rect) }
  public func inset(by amount: CGFloat) -> ConcentricRectangle {
    var inset = self
    inset.shape = shape.inset(by: amount)
    return inset
  }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive { shape.shape(in: context) }
}

extension Edge {
  /// Source: `SwiftUI.Edge.Corner`.
  public enum Corner: Sendable {
    /// The radius of a corner. Source: `SwiftUI.Edge.Corner.Style`. A fixed one is concentric too.
    public struct Style: Hashable, Sendable {
      public static let concentric = Style()
      public static func concentric(minimum: Style) -> Style { Style() }
      public static func fixed(_ radius: CGFloat) -> Style { Style() }
    }
  }
}

extension Shape where Self == ConcentricRectangle {
  public static func rect(corners: Edge.Corner.Style, isUniform: Bool = false) -> ConcentricRectangle {
    ConcentricRectangle(corners: corners, isUniform: isUniform)
  }
}
