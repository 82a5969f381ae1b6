// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.AlignmentID`.
public protocol AlignmentID {
  static func defaultValue(in context: ViewDimensions) -> CGFloat
}

/// Source: `SwiftUI.ViewDimensions`. In points.
public struct ViewDimensions: Equatable, Sendable {
  public var width: CGFloat
  public var height: CGFloat
  /// The guides that modifiers of the view set, by their keys.
  var guides: [String: CGFloat] = [:]

  /// The place of a guide. A text's baselines are at its bottom edge here.
  public subscript(guide: HorizontalAlignment) -> CGFloat {
    self[explicit: guide] ?? guide.id?.defaultValue(in: self) ?? place(of: guide.name, in: width)
  }
  /// The place of a guide. A text's baselines are at its bottom edge here.
  public subscript(guide: VerticalAlignment) -> CGFloat {
    self[explicit: guide] ?? guide.id?.defaultValue(in: self) ?? place(of: guide.name, in: height)
  }
  /// Guides that views within a container set are not known here.
  public subscript(explicit guide: HorizontalAlignment) -> CGFloat? { guides[guide.key] }
  /// Guides that views within a container set are not known here.
  public subscript(explicit guide: VerticalAlignment) -> CGFloat? { guides[guide.key] }

  private func place(of guide: String, in length: CGFloat) -> CGFloat {
    switch guide {
    case "leading", "top": 0
    case "center": length / 2
    default: length
    }
  }
}

/// Source: `SwiftUI.HorizontalAlignment`.
public struct HorizontalAlignment: Equatable, Sendable, NamedArgument {
  let name: String
  /// `nil`: a guide of the system. Only its static method is called, which is not isolated.
  fileprivate nonisolated(unsafe) let id: (any AlignmentID.Type)?
  init(name: String) { (self.name, id) = (name, nil) }

  public init(_ id: any AlignmentID.Type) { (name, self.id) = ("\(id)", id) }
  public static func == (first: Self, second: Self) -> Bool { first.key == second.key }

  /// Identifies the guide among those of both axes.
  var key: String { "horizontal \(name)" }
  var custom: CustomGuide? { id.map { CustomGuide(name: name, axis: "horizontal", id: $0) } }

  public static let leading = HorizontalAlignment(name: "leading")
  public static let center = HorizontalAlignment(name: "center")
  public static let trailing = HorizontalAlignment(name: "trailing")
}

/// Source: `SwiftUI.VerticalAlignment`.
public struct VerticalAlignment: Equatable, Sendable, NamedArgument {
  let name: String
  /// `nil`: a guide of the system. Only its static method is called, which is not isolated.
  fileprivate nonisolated(unsafe) let id: (any AlignmentID.Type)?
  init(name: String) { (self.name, id) = (name, nil) }

  public init(_ id: any AlignmentID.Type) { (name, self.id) = ("\(id)", id) }
  public static func == (first: Self, second: Self) -> Bool { first.key == second.key }

  /// Identifies the guide among those of both axes.
  var key: String { "vertical \(name)" }
  var custom: CustomGuide? { id.map { CustomGuide(name: name, axis: "vertical", id: $0) } }

  public static let top = VerticalAlignment(name: "top")
  public static let center = VerticalAlignment(name: "center")
  public static let bottom = VerticalAlignment(name: "bottom")
  public static let firstTextBaseline = VerticalAlignment(name: "firstTextBaseline")
  public static let lastTextBaseline = VerticalAlignment(name: "lastTextBaseline")
}

/// Source: `SwiftUI.Alignment`.
public struct Alignment: Equatable, Sendable, NamedArgument {
  public var horizontal: HorizontalAlignment
  public var vertical: VerticalAlignment

  public init(horizontal: HorizontalAlignment, vertical: VerticalAlignment) {
    self.horizontal = horizontal
    self.vertical = vertical
  }

  /// With a guide of the author both guides in parentheses, since their names do not tell the axis.
  var name: String {
    if horizontal.custom != nil || vertical.custom != nil { return "(\(horizontal.name), \(vertical.name))" }
    switch (horizontal, vertical) {
    case (.center, .center): return "center"
    case (.center, let vertical): return vertical.name
    case (let horizontal, .center): return horizontal.name
    case (let horizontal, let vertical):
      return vertical.name + horizontal.name.prefix(1).uppercased() + horizontal.name.dropFirst()
    }
  }

  public static let center = Alignment(horizontal: .center, vertical: .center)
  public static let leading = Alignment(horizontal: .leading, vertical: .center)
  public static let trailing = Alignment(horizontal: .trailing, vertical: .center)
  public static let top = Alignment(horizontal: .center, vertical: .top)
  public static let bottom = Alignment(horizontal: .center, vertical: .bottom)
  public static let topLeading = Alignment(horizontal: .leading, vertical: .top)
  public static let topTrailing = Alignment(horizontal: .trailing, vertical: .top)
  public static let bottomLeading = Alignment(horizontal: .leading, vertical: .bottom)
  public static let bottomTrailing = Alignment(horizontal: .trailing, vertical: .bottom)
  public static let centerFirstTextBaseline = Alignment(horizontal: .center, vertical: .firstTextBaseline)
  public static let leadingFirstTextBaseline = Alignment(horizontal: .leading, vertical: .firstTextBaseline)
  public static let trailingFirstTextBaseline = Alignment(horizontal: .trailing, vertical: .firstTextBaseline)
  public static let centerLastTextBaseline = Alignment(horizontal: .center, vertical: .lastTextBaseline)
  public static let leadingLastTextBaseline = Alignment(horizontal: .leading, vertical: .lastTextBaseline)
  public static let trailingLastTextBaseline = Alignment(horizontal: .trailing, vertical: .lastTextBaseline)
}

/// A guide of the author.
struct CustomGuide {
  let name: String
  /// `horizontal` or `vertical`.
  let axis: String
  let id: any AlignmentID.Type
}

extension ArchivingContext {
  /// The views of a container that aligns them by guides of the author. A view has the guide's default place where no
  /// `alignmentGuide` sets one. It depends on the size of the view: it is calculated as a closure is.
  @MainActor func aligned(_ views: [ViewArchive], by guides: CustomGuide?...) -> [ViewArchive] {
    let guides = guides.compactMap { $0 }
    return guides.isEmpty ? views : views.map { view in guides.reduce(view) { aligned($0, by: $1) } }
  }

  @MainActor private func aligned(_ view: ViewArchive, by guide: CustomGuide) -> ViewArchive {
    var view = view
    // A group is several views of the container.
    if view.name == .container(.group) {
      view.children = view.children.map { aligned($0, by: guide) }
      return view
    }
    var arguments: ArchivedArguments = [
      .guide: .string(guide.name), .axis: .string(guide.axis), .isDefault: true,
    ]
    guard let (identifier, size) = environment.closures?.add() else { return view }
    arguments[.closure] = .string(identifier)
    if let size {
      arguments[.in] = size.archived
      let dimensions = ViewDimensions(width: size.width, height: size.height)
      arguments[.value] = environment.during { guide.id.defaultValue(in: dimensions) }.archived
    }
    view.modifiers.append(ViewArchive.Modifier(.layout(.alignmentGuide), arguments))
    return view
  }
}

/// Source: `SwiftUI.TextAlignment`.
public enum TextAlignment: Hashable, CaseIterable, Sendable, NamedArgument {
  case leading
  case center
  case trailing
}

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
      .top: top.archived, .leading: leading.archived, .bottom: bottom.archived, .trailing: trailing.archived,
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

/// Source: `SwiftUI.Angle`.
public struct Angle: Hashable, Comparable, Sendable, ArchivedArgument {
  public var radians: Double
  public var degrees: Double {
    get { radians * 180 / .pi }
    set { radians = newValue * .pi / 180 }
  }

  public init() { radians = 0 }
  public init(radians: Double) { self.radians = radians }
  public init(degrees: Double) { radians = degrees * .pi / 180 }

  public static func radians(_ radians: Double) -> Angle { Angle(radians: radians) }
  public static func degrees(_ degrees: Double) -> Angle { Angle(degrees: degrees) }
  public static let zero = Angle()

  public static func < (lhs: Angle, rhs: Angle) -> Bool { lhs.radians < rhs.radians }
  public static func + (lhs: Angle, rhs: Angle) -> Angle { Angle(radians: lhs.radians + rhs.radians) }
  public static func - (lhs: Angle, rhs: Angle) -> Angle { Angle(radians: lhs.radians - rhs.radians) }
  public static func * (lhs: Angle, rhs: Double) -> Angle { Angle(radians: lhs.radians * rhs) }
  public static func / (lhs: Angle, rhs: Double) -> Angle { Angle(radians: lhs.radians / rhs) }
  public static prefix func - (angle: Angle) -> Angle { Angle(radians: -angle.radians) }

  package var archived: ArchivedValue { .number(degrees) }
}

/// Source: `SwiftUI.UnitPoint`. Both coordinates are from 0 to 1.
public struct UnitPoint: Hashable, Sendable, NamedArgument {
  /// 0 is the leading edge.
  public var x: CGFloat
  /// 0 is the top edge.
  public var y: CGFloat

  public init() { self.init(x: 0, y: 0) }
  public init(x: CGFloat, y: CGFloat) {
    self.x = x
    self.y = y
  }

  var name: String { Self.names[self] ?? "(\(Double(x)), \(Double(y)))" }

  private static let names: [UnitPoint: String] = [
    .center: "center", .leading: "leading", .trailing: "trailing", .top: "top", .bottom: "bottom",
    .topLeading: "topLeading", .topTrailing: "topTrailing", .bottomLeading: "bottomLeading",
    .bottomTrailing: "bottomTrailing",
  ]

  public static let zero = UnitPoint(x: 0, y: 0)
  public static let center = UnitPoint(x: 0.5, y: 0.5)
  public static let leading = UnitPoint(x: 0, y: 0.5)
  public static let trailing = UnitPoint(x: 1, y: 0.5)
  public static let top = UnitPoint(x: 0.5, y: 0)
  public static let bottom = UnitPoint(x: 0.5, y: 1)
  public static let topLeading = UnitPoint(x: 0, y: 0)
  public static let topTrailing = UnitPoint(x: 1, y: 0)
  public static let bottomLeading = UnitPoint(x: 0, y: 1)
  public static let bottomTrailing = UnitPoint(x: 1, y: 1)
}
