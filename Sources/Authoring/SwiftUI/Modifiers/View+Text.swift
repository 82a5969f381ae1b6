import Archive
public import Foundation

// Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  /// The font of the texts in the view.
  nonisolated public func font(_ font: Font?) -> some View {
    modified("font", ["font": font?.archived]) { $0.font = font }
  }
  /// How fat letters are.
  nonisolated public func fontWeight(_ weight: Font.Weight?) -> some View {
    modified("fontWeight", ["weight": weight?.archived])
  }
  /// How wide letters are.
  nonisolated public func fontWidth(_ width: Font.Width?) -> some View {
    modified("fontWidth", ["width": width?.archived])
  }
  /// What letters look like.
  nonisolated public func fontDesign(_ design: Font.Design?) -> some View {
    modified("fontDesign", ["design": design?.archived])
  }
  /// Bold, or not.
  nonisolated public func bold(_ isActive: Bool = true) -> some View { switched("bold", isActive) }
  /// Italic, or not.
  nonisolated public func italic(_ isActive: Bool = true) -> some View { switched("italic", isActive) }
  /// Each letter as wide, or not.
  nonisolated public func monospaced(_ isActive: Bool = true) -> some View { switched("monospaced", isActive) }
  /// Each digit as wide.
  nonisolated public func monospacedDigit() -> some View { modified("monospacedDigit") }
  /// A line under the texts.
  nonisolated public func underline(
    _ isActive: Bool = true, pattern: Text.LineStyle.Pattern = .solid, color: Color? = nil
  ) -> some View {
    modified("underline", lined(isActive, pattern, color))
  }
  /// A line through the texts.
  nonisolated public func strikethrough(
    _ isActive: Bool = true, pattern: Text.LineStyle.Pattern = .solid, color: Color? = nil
  ) -> some View {
    modified("strikethrough", lined(isActive, pattern, color))
  }
  /// More room between letters; points.
  nonisolated public func tracking(_ tracking: CGFloat) -> some View {
    modified("tracking", ["points": tracking.archived])
  }
  /// More room between letters; points.
  nonisolated public func kerning(_ kerning: CGFloat) -> some View { modified("kerning", ["points": kerning.archived]) }
  /// The texts higher; points.
  nonisolated public func baselineOffset(_ baselineOffset: CGFloat) -> some View {
    modified("baselineOffset", ["points": baselineOffset.archived])
  }
  /// How large the texts are beside others of their style.
  nonisolated public func textScale(_ scale: Text.Scale, isEnabled: Bool = true) -> some View {
    modified("textScale", ["scale": isEnabled ? scale.archived : "default"])
  }
  /// How many lines a text may have.
  nonisolated public func lineLimit(_ number: Int?) -> some View {
    modified("lineLimit", ["lines": number?.archived]) { $0.lineLimit = number }
  }
  /// How many lines a text may have.
  nonisolated public func lineLimit(_ limit: PartialRangeFrom<Int>) -> some View {
    modified("lineLimit", ["from": limit.lowerBound.archived])
  }
  /// How many lines a text may have.
  nonisolated public func lineLimit(_ limit: PartialRangeThrough<Int>) -> some View {
    lineLimit(limit.upperBound)
  }
  /// How many lines a text may have.
  nonisolated public func lineLimit(_ limit: ClosedRange<Int>) -> some View {
    modified("lineLimit", ["from": limit.lowerBound.archived, "lines": limit.upperBound.archived]) {
      $0.lineLimit = limit.upperBound
    }
  }
  /// How many lines a text may have, and whether it takes that room always.
  nonisolated public func lineLimit(_ limit: Int, reservesSpace: Bool) -> some View {
    modified("lineLimit", ["lines": limit.archived, "reservesSpace": reservesSpace.archived]) { $0.lineLimit = limit }
  }
  /// Room between lines; points.
  nonisolated public func lineSpacing(_ lineSpacing: CGFloat) -> some View {
    modified("lineSpacing", ["points": lineSpacing.archived]) { $0.lineSpacing = lineSpacing }
  }
  /// How the lines of a text stand.
  nonisolated public func multilineTextAlignment(_ alignment: TextAlignment) -> some View {
    modified("multilineTextAlignment", ["alignment": alignment.archived]) { $0.multilineTextAlignment = alignment }
  }
  /// How much a text may shrink, down to this part of its size.
  nonisolated public func minimumScaleFactor(_ factor: CGFloat) -> some View {
    modified("minimumScaleFactor", ["factor": factor.archived]) { $0.minimumScaleFactor = factor }
  }
  /// Where a text is cut that has no room.
  nonisolated public func truncationMode(_ mode: Text.TruncationMode) -> some View {
    modified("truncationMode", ["mode": mode.archived]) { $0.truncationMode = mode }
  }
  /// Whether letters may move together.
  nonisolated public func allowsTightening(_ flag: Bool) -> some View {
    modified("allowsTightening", ["flag": flag.archived]) { $0.allowsTightening = flag }
  }
  /// Which letters are shown.
  nonisolated public func textCase(_ textCase: Text.Case?) -> some View {
    modified("textCase", ["case": textCase?.archived]) { $0.textCase = textCase }
  }
  /// The text sizes in which the view is shown.
  nonisolated public func dynamicTypeSize(_ size: DynamicTypeSize) -> some View {
    modified("dynamicTypeSize", ["size": size.archived]) { $0.dynamicTypeSize = size }
  }
  /// The text sizes in which the view is shown.
  nonisolated public func dynamicTypeSize<T: RangeExpression<DynamicTypeSize>>(_ range: T) -> some View {
    modified("dynamicTypeSize", ["range": .string("\(range)")]) { environment in
      let sizes = DynamicTypeSize.allCases.filter(range.contains)
      if let first = sizes.first, let last = sizes.last {
        environment.dynamicTypeSize = min(max(environment.dynamicTypeSize, first), last)
      }
    }
  }
  /// How large symbols are beside text.
  nonisolated public func imageScale(_ scale: Image.Scale) -> some View {
    modified("imageScale", ["scale": scale.archived]) { $0.imageScale = scale }
  }
  /// How symbols are coloured.
  nonisolated public func symbolRenderingMode(_ mode: SymbolRenderingMode?) -> some View {
    modified("symbolRenderingMode", ["mode": mode?.archived]) { $0.symbolRenderingMode = mode }
  }
  /// Which form of symbols is shown.
  nonisolated public func symbolVariant(_ variant: SymbolVariants) -> some View {
    modified("symbolVariant", ["variant": variant.archived])
  }

  nonisolated private func switched(_ name: String, _ isActive: Bool) -> some View {
    modified(name, ["isActive": isActive ? nil : false])
  }
}

private func lined(
  _ isActive: Bool, _ pattern: Text.LineStyle.Pattern, _ color: Color?
) -> [String: ArchivedValue?] {
  [
    "isActive": isActive ? nil : false, "pattern": pattern == .solid ? nil : pattern.archived, "color": color?.value,
  ]
}

// Source of all: `SwiftUI.Text` of the iOS 18 SDK.
extension Text {
  /// The text in a font.
  public func font(_ font: Font?) -> Text { modified("font", ["font": font?.archived]) }
  /// How fat letters are.
  public func fontWeight(_ weight: Font.Weight?) -> Text { modified("fontWeight", ["weight": weight?.archived]) }
  /// How wide letters are.
  public func fontWidth(_ width: Font.Width?) -> Text { modified("fontWidth", ["width": width?.archived]) }
  /// What letters look like.
  public func fontDesign(_ design: Font.Design?) -> Text { modified("fontDesign", ["design": design?.archived]) }
  /// Bold.
  public func bold() -> Text { modified("bold") }
  /// Bold, or not.
  public func bold(_ isActive: Bool) -> Text { modified("bold", ["isActive": isActive ? nil : false]) }
  /// Italic.
  public func italic() -> Text { modified("italic") }
  /// Italic, or not.
  public func italic(_ isActive: Bool) -> Text { modified("italic", ["isActive": isActive ? nil : false]) }
  /// Each letter as wide, or not.
  public func monospaced(_ isActive: Bool = true) -> Text {
    modified("monospaced", ["isActive": isActive ? nil : false])
  }
  /// Each digit as wide.
  public func monospacedDigit() -> Text { modified("monospacedDigit") }
  /// A line under the text.
  public func underline(
    _ isActive: Bool = true, pattern: Text.LineStyle.Pattern = .solid, color: Color? = nil
  ) -> Text {
    modified("underline", lined(isActive, pattern, color))
  }
  /// A line through the text.
  public func strikethrough(
    _ isActive: Bool = true, pattern: Text.LineStyle.Pattern = .solid, color: Color? = nil
  ) -> Text {
    modified("strikethrough", lined(isActive, pattern, color))
  }
  /// A line under the text.
  public func underline(_ isActive: Bool = true, color: Color?) -> Text {
    underline(isActive, pattern: .solid, color: color)
  }
  /// A line through the text.
  public func strikethrough(_ isActive: Bool = true, color: Color?) -> Text {
    strikethrough(isActive, pattern: .solid, color: color)
  }
  /// More room between letters; points.
  public func tracking(_ tracking: CGFloat) -> Text { modified("tracking", ["points": tracking.archived]) }
  /// More room between letters; points.
  public func kerning(_ kerning: CGFloat) -> Text { modified("kerning", ["points": kerning.archived]) }
  /// The text higher; points.
  public func baselineOffset(_ baselineOffset: CGFloat) -> Text {
    modified("baselineOffset", ["points": baselineOffset.archived])
  }
  /// How large the text is beside others of its style.
  public func textScale(_ scale: Text.Scale, isEnabled: Bool = true) -> Text {
    modified("textScale", ["scale": isEnabled ? scale.archived : "default"])
  }
  /// The colour of the text.
  public func foregroundColor(_ color: Color?) -> Text { modified("foregroundColor", ["color": color?.value]) }
  /// What the text is drawn with.
  public func foregroundStyle<S: ShapeStyle>(_ style: S) -> Text {
    modified("foregroundStyle", ["style": style.archived(in: .current)])
  }
}
