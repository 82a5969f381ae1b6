// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.Font`.
public struct Font: Hashable, Sendable, ArchivedArgument {
  /// The font's properties; each modifier sets or adds one.
  var parts: ArchivedArguments

  init(_ parts: ArchivedArguments) { self.parts = parts }

  func with(_ part: ArgumentLabel, _ value: some ArchivedArgument) -> Font {
    var font = self
    font.parts[part] = value.archived
    return font
  }

  package var archived: ArchivedValue {
    if parts.count == 1, let style = parts[.style] { return style }
    return .record(parts)
  }

  public static func system(
    size: CGFloat, weight: Font.Weight? = nil, design: Font.Design? = nil
  ) -> Font {
    Font([.size: size.archived, .weight: weight?.archived, .design: design?.archived])
  }

  @_disfavoredOverload public static func system(
    size: CGFloat, weight: Font.Weight = .regular, design: Font.Design = .default
  ) -> Font {
    Font([.size: size.archived, .weight: weight.archived, .design: design.archived])
  }

  public static func system(
    _ style: Font.TextStyle, design: Font.Design? = nil, weight: Font.Weight? = nil
  ) -> Font {
    Font([.style: style.archived, .weight: weight?.archived, .design: design?.archived])
  }

  @_disfavoredOverload public static func system(_ style: Font.TextStyle, design: Font.Design = .default) -> Font {
    Font([.style: style.archived, .design: design.archived])
  }

  /// Scales with the user's text size.
  public static func custom(_ name: String, size: CGFloat) -> Font {
    Font([.custom: name.archived, .size: size.archived])
  }
  /// Scales with a text style.
  public static func custom(_ name: String, size: CGFloat, relativeTo textStyle: Font.TextStyle) -> Font {
    Font([.custom: name.archived, .size: size.archived, .relativeTo: textStyle.archived])
  }
  /// Does not scale.
  public static func custom(_ name: String, fixedSize: CGFloat) -> Font {
    Font([.custom: name.archived, .fixedSize: fixedSize.archived])
  }

  public func weight(_ weight: Font.Weight) -> Font { with(.weight, weight) }
  public func width(_ width: Font.Width) -> Font { with(.width, width) }
  public func bold() -> Font { with(.bold, true) }
  public func italic() -> Font { with(.italic, true) }
  public func monospaced() -> Font { with(.monospaced, true) }
  public func monospacedDigit() -> Font { with(.monospacedDigit, true) }
  public func smallCaps() -> Font { with(.smallCaps, true) }
  public func lowercaseSmallCaps() -> Font { with(.lowercaseSmallCaps, true) }
  public func uppercaseSmallCaps() -> Font { with(.uppercaseSmallCaps, true) }
  public func leading(_ leading: Font.Leading) -> Font { with(.leading, leading) }
}

extension Font {
  /// Source: `SwiftUI.Font.TextStyle`.
  public enum TextStyle: CaseIterable, Hashable, Sendable, NamedArgument {
    case largeTitle, title, title2, title3, headline, subheadline, body, callout, footnote, caption, caption2
  }

  /// Source: `SwiftUI.Font.Weight`.
  public struct Weight: Hashable, Sendable, NamedArgument {
    let name: String
    public static let ultraLight = Weight(name: "ultraLight"), thin = Weight(name: "thin"),
      light = Weight(name: "light"), regular = Weight(name: "regular"), medium = Weight(name: "medium"),
      semibold = Weight(name: "semibold"), bold = Weight(name: "bold"), heavy = Weight(name: "heavy"),
      black = Weight(name: "black")
  }

  /// Source: `SwiftUI.Font.Width`.
  public struct Width: Hashable, Sendable, ArchivedArgument {
    /// 0 is the standard width.
    public var value: CGFloat
    public init(_ value: CGFloat) { self.value = value }
    public static let compressed = Width(-0.3), condensed = Width(-0.2), standard = Width(0), expanded = Width(0.2)
    package var archived: ArchivedValue { value.archived }
  }

  /// Source: `SwiftUI.Font.Design`.
  public enum Design: Hashable, Sendable, NamedArgument {
    case `default`, serif, rounded, monospaced
  }

  /// Source: `SwiftUI.Font.Leading`.
  public enum Leading: Hashable, Sendable, NamedArgument {
    case standard, tight, loose
  }

  private static func style(_ style: TextStyle) -> Font { Font([.style: style.archived]) }

  public static let largeTitle = style(.largeTitle), title = style(.title), title2 = style(.title2),
    title3 = style(.title3), headline = style(.headline), subheadline = style(.subheadline), body = style(.body),
    callout = style(.callout), footnote = style(.footnote), caption = style(.caption), caption2 = style(.caption2)
}
