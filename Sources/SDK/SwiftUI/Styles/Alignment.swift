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
}

/// Source: `SwiftUI.HorizontalAlignment`.
public struct HorizontalAlignment: Equatable, Sendable, NamedArgument {
  let name: String
  init(name: String) { self.name = name }

  public init(_ id: any AlignmentID.Type) { name = "\(id)" }

  public static let leading = HorizontalAlignment(name: "leading")
  public static let center = HorizontalAlignment(name: "center")
  public static let trailing = HorizontalAlignment(name: "trailing")
}

/// Source: `SwiftUI.VerticalAlignment`.
public struct VerticalAlignment: Equatable, Sendable, NamedArgument {
  let name: String
  init(name: String) { self.name = name }

  public init(_ id: any AlignmentID.Type) { name = "\(id)" }

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
