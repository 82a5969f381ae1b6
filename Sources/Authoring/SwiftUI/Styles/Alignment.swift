public import Foundation

/// Where a guide stands in a view. Source: `SwiftUI.AlignmentID`.
public protocol AlignmentID {
  /// The guide's place in a view that does not say it.
  static func defaultValue(in context: ViewDimensions) -> CGFloat
}

/// A view's size. Source: `SwiftUI.ViewDimensions`.
public struct ViewDimensions: Equatable, Sendable {
  /// Points.
  public var width: CGFloat
  /// Points.
  public var height: CGFloat
}

/// Where views stand across a vertical stack. Source: `SwiftUI.HorizontalAlignment`.
public struct HorizontalAlignment: Equatable, Sendable, NamedArgument {
  let name: String
  init(name: String) { self.name = name }

  /// A guide of the author's.
  public init(_ id: any AlignmentID.Type) { name = "\(id)" }

  /// At the side where reading begins.
  public static let leading = HorizontalAlignment(name: "leading")
  /// In the middle.
  public static let center = HorizontalAlignment(name: "center")
  /// At the side where reading ends.
  public static let trailing = HorizontalAlignment(name: "trailing")
}

/// Where views stand across a horizontal stack. Source: `SwiftUI.VerticalAlignment`.
public struct VerticalAlignment: Equatable, Sendable, NamedArgument {
  let name: String
  init(name: String) { self.name = name }

  /// A guide of the author's.
  public init(_ id: any AlignmentID.Type) { name = "\(id)" }

  /// Above.
  public static let top = VerticalAlignment(name: "top")
  /// In the middle.
  public static let center = VerticalAlignment(name: "center")
  /// Below.
  public static let bottom = VerticalAlignment(name: "bottom")
  /// At the first line of text.
  public static let firstTextBaseline = VerticalAlignment(name: "firstTextBaseline")
  /// At the last line of text.
  public static let lastTextBaseline = VerticalAlignment(name: "lastTextBaseline")
}

/// Where a view stands in another. Source: `SwiftUI.Alignment`.
public struct Alignment: Equatable, Sendable, NamedArgument {
  /// Across.
  public var horizontal: HorizontalAlignment
  /// Down.
  public var vertical: VerticalAlignment

  /// An alignment both ways.
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

  /// In the middle.
  public static let center = Alignment(horizontal: .center, vertical: .center)
  /// At the side where reading begins.
  public static let leading = Alignment(horizontal: .leading, vertical: .center)
  /// At the side where reading ends.
  public static let trailing = Alignment(horizontal: .trailing, vertical: .center)
  /// Above.
  public static let top = Alignment(horizontal: .center, vertical: .top)
  /// Below.
  public static let bottom = Alignment(horizontal: .center, vertical: .bottom)
  /// Above, where reading begins.
  public static let topLeading = Alignment(horizontal: .leading, vertical: .top)
  /// Above, where reading ends.
  public static let topTrailing = Alignment(horizontal: .trailing, vertical: .top)
  /// Below, where reading begins.
  public static let bottomLeading = Alignment(horizontal: .leading, vertical: .bottom)
  /// Below, where reading ends.
  public static let bottomTrailing = Alignment(horizontal: .trailing, vertical: .bottom)
  /// At the first line of text.
  public static let centerFirstTextBaseline = Alignment(horizontal: .center, vertical: .firstTextBaseline)
  /// At the first line of text, where reading begins.
  public static let leadingFirstTextBaseline = Alignment(horizontal: .leading, vertical: .firstTextBaseline)
  /// At the first line of text, where reading ends.
  public static let trailingFirstTextBaseline = Alignment(horizontal: .trailing, vertical: .firstTextBaseline)
  /// At the last line of text.
  public static let centerLastTextBaseline = Alignment(horizontal: .center, vertical: .lastTextBaseline)
  /// At the last line of text, where reading begins.
  public static let leadingLastTextBaseline = Alignment(horizontal: .leading, vertical: .lastTextBaseline)
  /// At the last line of text, where reading ends.
  public static let trailingLastTextBaseline = Alignment(horizontal: .trailing, vertical: .lastTextBaseline)
}

/// How the lines of a text stand. Source: `SwiftUI.TextAlignment`.
public enum TextAlignment: Hashable, CaseIterable, Sendable, NamedArgument {
  /// At the side where reading begins.
  case leading
  /// In the middle.
  case center
  /// At the side where reading ends.
  case trailing
}
