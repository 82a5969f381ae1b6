// SPDX-License-Identifier: Apache-2.0

import Archive
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
    var arguments: [String: ArchivedValue] = [
      "guide": .string(guide.name), "axis": .string(guide.axis), "isDefault": true,
    ]
    guard let (identifier, size) = environment.closures?.add() else { return view }
    arguments["closure"] = .string(identifier)
    if let size {
      arguments["in"] = size.archived
      let dimensions = ViewDimensions(width: size.width, height: size.height)
      arguments["value"] = environment.during { guide.id.defaultValue(in: dimensions) }.archived
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
