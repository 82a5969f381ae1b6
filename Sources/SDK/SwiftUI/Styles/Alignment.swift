// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Source: `SwiftUI.AlignmentID`.
public protocol AlignmentID {
  static func defaultValue(in context: ViewDimensions) -> CGFloat
}

/// Source: `SwiftUI.ViewDimensions`. In points.
public struct ViewDimensions: Equatable, Sendable {
  public var width: CGFloat
  public var height: CGFloat

  /// The place of a guide that the view does not set. A text's baselines are at its bottom edge here.
  public subscript(guide: HorizontalAlignment) -> CGFloat {
    guide.id?.defaultValue(in: self) ?? place(of: guide.name, in: width)
  }
  /// The place of a guide that the view does not set. A text's baselines are at its bottom edge here.
  public subscript(guide: VerticalAlignment) -> CGFloat {
    guide.id?.defaultValue(in: self) ?? place(of: guide.name, in: height)
  }
  /// Always `nil`: guides that views within set are not known here.
  public subscript(explicit guide: HorizontalAlignment) -> CGFloat? { nil }
  /// Always `nil`: guides that views within set are not known here.
  public subscript(explicit guide: VerticalAlignment) -> CGFloat? { nil }

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
  public static func == (first: Self, second: Self) -> Bool { first.name == second.name }

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
  public static func == (first: Self, second: Self) -> Bool { first.name == second.name }

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

  var name: String {
    switch (horizontal, vertical) {
    case (.center, .center): "center"
    case (.center, let vertical): vertical.name
    case (let horizontal, .center): horizontal.name
    case (let horizontal, let vertical):
      vertical.name + horizontal.name.prefix(1).uppercased() + horizontal.name.dropFirst()
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

/// Source: `SwiftUI.TextAlignment`.
public enum TextAlignment: Hashable, CaseIterable, Sendable, NamedArgument {
  case leading
  case center
  case trailing
}
