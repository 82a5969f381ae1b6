package import Archive
public import Foundation

/// A font. Source: `SwiftUI.Font`.
public struct Font: Hashable, Sendable, ArchivedArgument {
  /// What the font is made of; each modifier sets or adds one part.
  var parts: [String: ArchivedValue]

  init(_ parts: [String: ArchivedValue?]) { self.parts = parts.compactMapValues { $0 } }

  func with(_ part: String, _ value: some ArchivedArgument) -> Font {
    var font = self
    font.parts[part] = value.archived
    return font
  }

  package var archived: ArchivedValue {
    if parts.count == 1, let style = parts["style"] { return style }
    return .record(parts)
  }

  /// A font of the system.
  public static func system(
    size: CGFloat, weight: Font.Weight? = nil, design: Font.Design? = nil
  ) -> Font {
    Font(["size": size.archived, "weight": weight?.archived, "design": design?.archived])
  }

  /// A font of the system.
  @_disfavoredOverload public static func system(
    size: CGFloat, weight: Font.Weight = .regular, design: Font.Design = .default
  ) -> Font {
    Font(["size": size.archived, "weight": weight.archived, "design": design.archived])
  }

  /// A font of the system, as large as a style of text.
  public static func system(
    _ style: Font.TextStyle, design: Font.Design? = nil, weight: Font.Weight? = nil
  ) -> Font {
    Font(["style": style.archived, "weight": weight?.archived, "design": design?.archived])
  }

  /// A font of the system, as large as a style of text.
  @_disfavoredOverload public static func system(_ style: Font.TextStyle, design: Font.Design = .default) -> Font {
    Font(["style": style.archived, "design": design.archived])
  }

  /// A font by its name, which grows with the text size that a person chose.
  public static func custom(_ name: String, size: CGFloat) -> Font {
    Font(["custom": name.archived, "size": size.archived])
  }
  /// A font by its name, which grows as a style of text does.
  public static func custom(_ name: String, size: CGFloat, relativeTo textStyle: Font.TextStyle) -> Font {
    Font(["custom": name.archived, "size": size.archived, "relativeTo": textStyle.archived])
  }
  /// A font by its name, which stays as large as it is.
  public static func custom(_ name: String, fixedSize: CGFloat) -> Font {
    Font(["custom": name.archived, "fixedSize": fixedSize.archived])
  }

  /// The font in another weight.
  public func weight(_ weight: Font.Weight) -> Font { with("weight", weight) }
  /// The font in another width.
  public func width(_ width: Font.Width) -> Font { with("width", width) }
  /// The font in bold.
  public func bold() -> Font { with("bold", true) }
  /// The font in italics.
  public func italic() -> Font { with("italic", true) }
  /// The font, each of whose letters is as wide.
  public func monospaced() -> Font { with("monospaced", true) }
  /// The font, each of whose digits is as wide.
  public func monospacedDigit() -> Font { with("monospacedDigit", true) }
  /// The font with small capitals.
  public func smallCaps() -> Font { with("smallCaps", true) }
  /// The font with small letters as small capitals.
  public func lowercaseSmallCaps() -> Font { with("lowercaseSmallCaps", true) }
  /// The font with capitals as small capitals.
  public func uppercaseSmallCaps() -> Font { with("uppercaseSmallCaps", true) }
  /// The font with another distance between lines.
  public func leading(_ leading: Font.Leading) -> Font { with("leading", leading) }
}

extension Font {
  /// What a text is for. Source: `SwiftUI.Font.TextStyle`.
  public enum TextStyle: CaseIterable, Hashable, Sendable, NamedArgument {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case largeTitle, title, title2, title3, headline, subheadline, body, callout, footnote, caption, caption2
  }

  /// How fat letters are. Source: `SwiftUI.Font.Weight`.
  public struct Weight: Hashable, Sendable, NamedArgument {
    let name: String
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let ultraLight = Weight(name: "ultraLight"), thin = Weight(name: "thin"),
      light = Weight(name: "light"), regular = Weight(name: "regular"), medium = Weight(name: "medium"),
      semibold = Weight(name: "semibold"), bold = Weight(name: "bold"), heavy = Weight(name: "heavy"),
      black = Weight(name: "black")
  }

  /// How wide letters are. Source: `SwiftUI.Font.Width`.
  public struct Width: Hashable, Sendable, ArchivedArgument {
    /// 0 is as usual.
    public var value: CGFloat
    /// A width.
    public init(_ value: CGFloat) { self.value = value }
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let compressed = Width(-0.3), condensed = Width(-0.2), standard = Width(0), expanded = Width(0.2)
    package var archived: ArchivedValue { value.archived }
  }

  /// What letters look like. Source: `SwiftUI.Font.Design`.
  public enum Design: Hashable, Sendable, NamedArgument {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case `default`, serif, rounded, monospaced
  }

  /// How far lines are apart. Source: `SwiftUI.Font.Leading`.
  public enum Leading: Hashable, Sendable, NamedArgument {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case standard, tight, loose
  }

  private static func style(_ style: TextStyle) -> Font { Font(["style": style.archived]) }

  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let largeTitle = style(.largeTitle), title = style(.title), title2 = style(.title2),
    title3 = style(.title3), headline = style(.headline), subheadline = style(.subheadline), body = style(.body),
    callout = style(.callout), footnote = style(.footnote), caption = style(.caption), caption2 = style(.caption2)
}
