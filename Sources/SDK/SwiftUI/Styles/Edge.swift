// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.Edge`.
public enum Edge: Int8, CaseIterable, Sendable, NamedArgument {
  case top
  case leading
  case bottom
  case trailing

  /// Source: `SwiftUI.Edge.Set`.
  public struct Set: OptionSet, Sendable {
    public let rawValue: Int8
    public init(rawValue: Int8) { self.rawValue = rawValue }
    public init(_ edge: Edge) { rawValue = 1 << edge.rawValue }

    public static let top = Set(.top)
    public static let leading = Set(.leading)
    public static let bottom = Set(.bottom)
    public static let trailing = Set(.trailing)
    public static let vertical: Set = [.top, .bottom]
    public static let horizontal: Set = [.leading, .trailing]
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

/// Source: `SwiftUI.HorizontalEdge`.
public enum HorizontalEdge: Int8, CaseIterable, Codable, Sendable, NamedArgument {
  case leading
  case trailing
}

/// Source: `SwiftUI.VerticalEdge`.
public enum VerticalEdge: Int8, CaseIterable, Codable, Sendable, NamedArgument {
  case top
  case bottom
}

/// Source: `SwiftUI.EdgeInsets`. In points.
public struct EdgeInsets: Equatable, Sendable {
  public var top: CGFloat
  public var leading: CGFloat
  public var bottom: CGFloat
  public var trailing: CGFloat

  public init(top: CGFloat, leading: CGFloat, bottom: CGFloat, trailing: CGFloat) {
    self.top = top
    self.leading = leading
    self.bottom = bottom
    self.trailing = trailing
  }

  public init() { self.init(top: 0, leading: 0, bottom: 0, trailing: 0) }
}

extension EdgeInsets: ArchivedArgument {
  package var archived: ArchivedValue {
    .record([
      "top": top.archived, "leading": leading.archived, "bottom": bottom.archived, "trailing": trailing.archived,
    ])
  }
}

/// Source: `SwiftUI.Axis`.
public enum Axis: Int8, CaseIterable, Sendable, NamedArgument {
  case horizontal
  case vertical

  /// Source: `SwiftUI.Axis.Set`.
  public struct Set: OptionSet, Sendable {
    public let rawValue: Int8
    public init(rawValue: Int8) { self.rawValue = rawValue }

    public static let horizontal = Set(rawValue: 1)
    public static let vertical = Set(rawValue: 2)
  }
}

extension Axis.Set: NamedArgument {
  var name: String {
    [contains(.horizontal) ? "horizontal" : nil, contains(.vertical) ? "vertical" : nil].compactMap { $0 }
      .joined(separator: " ")
  }
}
