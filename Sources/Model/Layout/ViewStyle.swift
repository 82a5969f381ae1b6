// SPDX-License-Identifier: Apache-2.0

package import Archive

/// What a view inherits from the modifiers around it, as far as layout or drawing read it.
package struct ViewStyle: Hashable, Sendable {
  /// Limits of a text's lines. Source: `SwiftUI.View.lineLimit`.
  package struct Lines: Hashable, Sendable {
    /// `nil`: no limit.
    package var limit: Int?
    /// The lines whose space is reserved.
    package var reserved = 1
    /// Additional space between two lines, in points.
    package var spacing = 0.0
    /// `leading`, `center` or `trailing`.
    package var alignment = "leading"
    /// `head`, `middle` or `tail`.
    package var truncation = "tail"
    /// The smallest font size, as a factor of the usual one.
    package var minimumScale = 1.0
  }

  package var textSize: TextSizeName
  package var colorScheme: ColorSchemeName
  /// The colours of `foregroundStyle`, by level; empty: those of the system.
  package var foreground: [ArchivedValue] = []
  /// `nil`: the system's.
  package var tint: ArchivedValue?
  /// `nil`: the system's.
  package var background: ArchivedValue?
  package var lines = Lines()
  /// The colour of a line below a text, or an empty record for that of the text; `nil`: no line.
  package var underline: ArchivedValue?
  /// The same for a line through a text.
  package var strikethrough: ArchivedValue?
  /// `small`, `medium` or `large`.
  package var imageScale = "medium"
  /// The variants of symbols, such as `fill`; inner ones first.
  package var symbolVariants: [String] = []
  /// How symbols are coloured; `nil`: as the symbol prefers.
  package var symbolRenderingMode: String?
  /// In points above the baseline.
  package var baselineOffset = 0.0

  var isBold: Bool
  var font: ArchivedValue?
  var weight: String?
  var design: String?
  var width: Double?
  var isItalic = false
  var isMonospaced = false
  var hasMonospacedDigits = false
  var tracking = 0.0
  var textCase: String?
  /// The styles of controls by the names of their modifiers.
  var controlStyles: [StyleModifier: String] = [:]

  package init(
    textSize: TextSizeName = .large, colorScheme: ColorSchemeName = .light, isTextBold: Bool = false
  ) {
    self.textSize = textSize
    self.colorScheme = colorScheme
    isBold = isTextBold
  }

  /// The font of texts and symbols. A view without a font has the body style. Source: `SwiftUI.Font`.
  package var resolvedFont: FontDescription {
    var parts: ArchivedArguments = [:]
    if case .record(let record) = font { parts = record } else if let font { parts[.style] = font }
    let style = parts[.style]?.string ?? "body"
    var result: FontDescription
    if let size = parts[.fixedSize]?.number ?? parts[.size]?.number {
      let scaling = parts[.custom] == nil || parts[.fixedSize] != nil ? nil : parts[.relativeTo]?.string ?? "body"
      result = FontDescription(size: scaling.map { TypeSizes.scaled(size, as: $0, at: textSize) } ?? size)
    } else {
      result = FontDescription(
        size: TypeSizes.size(of: style, at: textSize) ?? 17, weight: TypeSizes.weight(of: style))
    }
    if !result.size.isFinite || result.size <= 0 { result.size = 17 }
    if parts[.bold] == true || isBold { result.weight = TypeSizes.boldWeight(of: style) }
    if let own = (weight ?? parts[.weight]?.string).flatMap(FontDescription.Weight.init) { result.weight = own }
    result.design = design ?? parts[.design]?.string ?? "default"
    result.width = width ?? parts[.width]?.number ?? 0
    result.isItalic = isItalic || parts[.italic] == true
    if isMonospaced || parts[.monospaced] == true { result.design = "monospaced" }
    result.hasMonospacedDigits = hasMonospacedDigits || parts[.monospacedDigit] == true
    result.tracking = tracking
    result.custom = parts[.custom]?.string
    return result
  }

  /// Applies a modifier that sets what the views within inherit.
  mutating func apply(_ name: StyleModifier, _ arguments: ArchivedArguments) {
    let isActive = arguments[.isActive] != false
    switch name {
    case .foregroundColor: foreground = arguments[.color].map { [$0] } ?? []
    case .foregroundStyle:
      foreground = [ArgumentLabel.style, .secondary, .tertiary].compactMap { arguments[$0] }.map(level)
    case .tint: tint = arguments[.style]
    case .accentColor: tint = arguments[.color]
    case .backgroundStyle: background = arguments[.style]
    case .colorScheme: colorScheme = arguments[.scheme]?.string.flatMap(ColorSchemeName.init) ?? colorScheme
    case .dynamicTypeSize: setTextSize(arguments)
    case .imageScale: imageScale = arguments[.scale]?.string ?? imageScale
    case .symbolRenderingMode: symbolRenderingMode = arguments[.mode]?.string
    case .symbolVariant: symbolVariants = (arguments[.variant]?.string).map { [$0] + symbolVariants } ?? []
    case .labelStyle, .buttonStyle, .toggleStyle, .gaugeStyle, .progressViewStyle:
      controlStyles[name] = arguments[.style]?.string
    case .controlSize: controlStyles[name] = arguments[.size]?.string
    case .buttonBorderShape: controlStyles[name] = arguments[.shape]?.string
    case .labelsHidden: controlStyles[name] = "true"
    case .font: font = arguments[.font]
    case .fontWeight: weight = arguments[.weight]?.string
    case .fontDesign: design = arguments[.design]?.string
    case .fontWidth: width = arguments[.width]?.number
    case .bold: isBold = isActive
    case .italic: isItalic = isActive
    case .monospaced: isMonospaced = isActive
    case .monospacedDigit: hasMonospacedDigits = true
    case .tracking, .kerning: tracking = arguments[.points]?.finite ?? 0
    case .baselineOffset: baselineOffset = arguments[.points]?.finite ?? 0
    case .underline: underline = isActive ? arguments[.color] ?? .record([:]) : nil
    case .strikethrough: strikethrough = isActive ? arguments[.color] ?? .record([:]) : nil
    case .textCase: textCase = arguments[.case]?.string
    case .lineLimit:
      lines.limit = arguments[.lines]?.count.map { max($0, 1) }
      let reserved = arguments[.reservesSpace] == true ? lines.limit : arguments[.from]?.count
      lines.reserved = min(max(reserved ?? 1, 1), 1000)
    case .lineSpacing: lines.spacing = max(0, arguments[.points]?.finite ?? 0)
    case .multilineTextAlignment: lines.alignment = arguments[.alignment]?.string ?? lines.alignment
    case .truncationMode: lines.truncation = arguments[.mode]?.string ?? lines.truncation
    case .minimumScaleFactor: lines.minimumScale = (arguments[.factor]?.finite ?? 1).clamped(0.01, 1)
    }
  }

  /// A style as the views within see it: a hierarchy level is resolved against the surrounding style.
  private func level(_ style: ArchivedValue) -> ArchivedValue {
    let levels = ["primary", "secondary", "tertiary", "quaternary", "quinary"]
    guard let name = style.string, let rank = levels.firstIndex(of: name), let first = foreground.first else {
      return style
    }
    if foreground.indices.contains(rank) { return foreground[rank] }
    return .record([.style: first, .rank: style])
  }

  /// One size, or a range as Swift describes it.
  private mutating func setTextSize(_ arguments: ArchivedArguments) {
    if let size = arguments[.size]?.string.flatMap(TextSizeName.init) {
      textSize = size
      return
    }
    guard let range = arguments[.range]?.string else { return }
    let sizes = TextSizeName.allCases
    let bounds = range.split { !$0.isLetter && !$0.isNumber }.compactMap { TextSizeName(rawValue: String($0)) }
      .compactMap { sizes.firstIndex(of: $0) }
    guard let first = bounds.first, let last = bounds.last, let own = sizes.firstIndex(of: textSize) else { return }
    let lower = range.contains("Through") || range.contains("UpTo") ? 0 : first
    let upper = range.contains("From") ? sizes.count - 1 : range.contains("UpTo") ? last - 1 : last
    textSize = sizes[max(lower, min(own, max(upper, 0)))]
  }
}

extension ArchivedValue {
  /// The number, if the value is one and is neither infinite nor not a number.
  var finite: Double? { number.flatMap { $0.isFinite ? $0 : nil } }
  /// The number as a whole one, if the value is one.
  var count: Int? { finite.map { Int(saturating: $0.clamped(-1_000_000, 1_000_000)) } }
}
