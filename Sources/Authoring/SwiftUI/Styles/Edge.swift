package import Archive
public import Foundation

/// A side of a view. Source: `SwiftUI.Edge`.
public enum Edge: Int8, CaseIterable, Sendable, NamedArgument {
  /// Above.
  case top
  /// Where reading begins.
  case leading
  /// Below.
  case bottom
  /// Where reading ends.
  case trailing

  /// Several sides. Source: `SwiftUI.Edge.Set`.
  public struct Set: OptionSet, Sendable {
    /// A bit for each side.
    public let rawValue: Int8
    /// Sides by their bits.
    public init(rawValue: Int8) { self.rawValue = rawValue }
    /// One side.
    public init(_ edge: Edge) { rawValue = 1 << edge.rawValue }

    /// Above.
    public static let top = Set(.top)
    /// Where reading begins.
    public static let leading = Set(.leading)
    /// Below.
    public static let bottom = Set(.bottom)
    /// Where reading ends.
    public static let trailing = Set(.trailing)
    /// Above and below.
    public static let vertical: Set = [.top, .bottom]
    /// Where reading begins and ends.
    public static let horizontal: Set = [.leading, .trailing]
    /// All four.
    public static let all: Set = [.vertical, .horizontal]
  }
}

extension Edge.Set: NamedArgument {
  var name: String {
    switch self {
    case .all: "all"
    case .vertical: "vertical"
    case .horizontal: "horizontal"
    default: Edge.allCases.filter { contains(Edge.Set($0)) }.map(\.name).joined(separator: " ")
    }
  }
}

/// A side across. Source: `SwiftUI.HorizontalEdge`.
public enum HorizontalEdge: Int8, CaseIterable, Codable, Sendable, NamedArgument {
  /// Where reading begins.
  case leading
  /// Where reading ends.
  case trailing
}

/// A side above or below. Source: `SwiftUI.VerticalEdge`.
public enum VerticalEdge: Int8, CaseIterable, Codable, Sendable, NamedArgument {
  /// Above.
  case top
  /// Below.
  case bottom
}

/// How far something stands from each side, in points. Source: `SwiftUI.EdgeInsets`.
public struct EdgeInsets: Equatable, Sendable {
  /// Points.
  public var top: CGFloat
  /// Points.
  public var leading: CGFloat
  /// Points.
  public var bottom: CGFloat
  /// Points.
  public var trailing: CGFloat

  /// Insets.
  public init(top: CGFloat, leading: CGFloat, bottom: CGFloat, trailing: CGFloat) {
    self.top = top
    self.leading = leading
    self.bottom = bottom
    self.trailing = trailing
  }

  /// None.
  public init() { self.init(top: 0, leading: 0, bottom: 0, trailing: 0) }
}

extension EdgeInsets: ArchivedArgument {
  package var archived: ArchivedValue {
    .record([
      "top": top.archived, "leading": leading.archived, "bottom": bottom.archived, "trailing": trailing.archived,
    ])
  }
}

/// A direction. Source: `SwiftUI.Axis`.
public enum Axis: Int8, CaseIterable, Sendable, NamedArgument {
  /// Across.
  case horizontal
  /// Down.
  case vertical

  /// Several directions. Source: `SwiftUI.Axis.Set`.
  public struct Set: OptionSet, Sendable {
    /// A bit for each direction.
    public let rawValue: Int8
    /// Directions by their bits.
    public init(rawValue: Int8) { self.rawValue = rawValue }

    /// Across.
    public static let horizontal = Set(rawValue: 1)
    /// Down.
    public static let vertical = Set(rawValue: 2)
  }
}

extension Axis.Set: NamedArgument {
  var name: String {
    [contains(.horizontal) ? "horizontal" : nil, contains(.vertical) ? "vertical" : nil].compactMap { $0 }
      .joined(separator: " ")
  }
}
