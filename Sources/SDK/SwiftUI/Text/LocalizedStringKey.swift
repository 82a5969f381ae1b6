// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

/// Source: `SwiftUI.LocalizedStringKey`.
nonisolated public struct LocalizedStringKey: Equatable, Sendable, ExpressibleByStringInterpolation {
  /// An interpolated value.
  enum Argument: Equatable, Sendable {
    case text(String)
    case integer(Int)
    case view(Text)
  }

  /// The key as in a strings file, with `%@` and other format specifiers for the values.
  package let key: String
  let arguments: [Argument]

  public init(_ value: String) { (key, arguments) = (value, []) }
  public init(stringLiteral value: String) { (key, arguments) = (value, []) }
  public init(stringInterpolation: StringInterpolation) {
    (key, arguments) = (stringInterpolation.key, stringInterpolation.arguments)
  }

  /// Archives the text in the language of an environment. A text with a live part has its parts as children.
  func archive(in environment: EnvironmentValues, table: String? = nil, bundle: Bundle? = nil) -> ViewArchive {
    let looked = LocalizedLookup(
      key: key, table: table, bundle: bundle, locale: environment.locale,
      count: arguments.lazy.compactMap(\.count).first)
    let format = environment.localize(looked) ?? key
    if arguments.isEmpty { return .text(format) }
    var runs: [ViewArchive] = []
    for piece in FormatPieces(format) {
      switch piece {
      case .literal(let text): runs.append(.text(text))
      case .argument(let index): runs += arguments.indices.contains(index) ? arguments[index].runs(in: environment) : []
      }
    }
    guard runs.contains(where: { $0.arguments[.text] == nil || !$0.modifiers.isEmpty }) else {
      return .text(runs.flatMap(\.lines).joined())
    }
    return ViewArchive(.leaf(.text), children: runs)
  }
}

extension LocalizedStringKey.Argument {
  /// The number that selects the plural form.
  fileprivate var count: Double? { if case .integer(let number) = self { Double(number) } else { nil } }

  fileprivate func runs(in environment: EnvironmentValues) -> [ViewArchive] {
    switch self {
    case .text(let text): [.text(text)]
    case .integer(let number): [.text(number.formatted(.number.locale(environment.locale)))]
    case .view(let text): text.runs(in: environment)
    }
  }
}

extension LocalizedStringKey {
  /// Source: `SwiftUI.LocalizedStringKey.StringInterpolation`.
  public struct StringInterpolation: StringInterpolationProtocol {
    var key = ""
    var arguments: [Argument] = []

    public init(literalCapacity: Int, interpolationCount: Int) {
      key.reserveCapacity(literalCapacity + 2 * interpolationCount)
    }

    private mutating func append(_ specifier: String, _ argument: Argument) {
      key += specifier
      arguments.append(argument)
    }

    public mutating func appendLiteral(_ literal: String) {
      key += literal.replacingOccurrences(of: "%", with: "%%")
    }
    public mutating func appendInterpolation(_ string: String) { append("%@", .text(string)) }
    @_disfavoredOverload public mutating func appendInterpolation<S: StringProtocol>(_ string: S) {
      append("%@", .text(String(string)))
    }
    /// Grouped as in the region.
    public mutating func appendInterpolation<T: BinaryInteger>(_ value: T) {
      append("%lld", .integer(Int(clamping: value)))
    }
    /// With six decimals, as `%lf`.
    public mutating func appendInterpolation(_ value: Double) {
      append("%lf", .text(String(format: "%lf", value)))
    }
    /// With six decimals, as `%lf`.
    public mutating func appendInterpolation(_ value: CGFloat) { appendInterpolation(Double(value)) }
    /// With six decimals, as `%f`.
    public mutating func appendInterpolation(_ value: Float) { append("%f", .text(String(format: "%f", value))) }
    /// In a C format, such as `%.1f`.
    public mutating func appendInterpolation<T: CVarArg>(_ value: T, specifier: String) {
      append(specifier, .text(String(format: specifier, value)))
    }
    public mutating func appendInterpolation(_ attributedString: AttributedString) {
      append("%@", .view(Text(attributedString)))
    }
    public mutating func appendInterpolation(_ resource: LocalizedStringResource) {
      append("%@", .view(Text(resource)))
    }
    public mutating func appendInterpolation(_ text: Text) { append("%@", .view(text)) }
    public mutating func appendInterpolation(_ image: Image) { append("%@", .view(Text(image))) }
    /// The system updates the text as time passes.
    public mutating func appendInterpolation(_ date: Date, style: Text.DateStyle) {
      append("%@", .view(Text(date, style: style)))
    }
    public mutating func appendInterpolation(_ dates: ClosedRange<Date>) { append("%@", .view(Text(dates))) }
    public mutating func appendInterpolation(_ interval: DateInterval) { append("%@", .view(Text(interval))) }
    public mutating func appendInterpolation(
      timerInterval: ClosedRange<Date>, pauseTime: Date? = nil, countsDown: Bool = true, showsHours: Bool = true
    ) {
      let text = Text(
        timerInterval: timerInterval, pauseTime: pauseTime, countsDown: countsDown, showsHours: showsHours)
      append("%@", .view(text))
    }
    public mutating func appendInterpolation<F: FormatStyle>(_ input: F.FormatInput, format: F)
    where F.FormatInput: Equatable, F.FormatOutput == String {
      append("%@", .text(format.format(input)))
    }
    public mutating func appendInterpolation<Subject: ReferenceConvertible>(_ subject: Subject, formatter: Formatter) {
      append("%@", .text(formatter.string(for: subject) ?? ""))
    }
    public mutating func appendInterpolation(_ subject: Date, formatter: Formatter) {
      append("%@", .text(formatter.string(for: subject) ?? ""))
    }
    public mutating func appendInterpolation<Subject: NSObject>(_ subject: Subject, formatter: Formatter) {
      append("%@", .text(formatter.string(for: subject) ?? ""))
    }
    /// Any other value, as Swift describes it.
    @_disfavoredOverload public mutating func appendInterpolation<T>(_ value: T) { append("%@", .text("\(value)")) }
  }
}

/// A lookup of a text in an author's strings files.
package struct LocalizedLookup {
  /// The key, with `%@` and other format specifiers for values.
  package let key: String
  /// The strings file; `nil` is `Localizable`.
  package let table: String?
  package let bundle: Bundle?
  package let locale: Locale
  /// The number that selects the plural form: the first one.
  package let count: Double?
}

private struct LocalizeKey: EnvironmentKey {
  static var defaultValue: (LocalizedLookup) -> String? { { _ in nil } }
}

extension EnvironmentValues {
  /// Finds a text, with `%@` and other format specifiers for values; `nil`: the key is the text.
  package var localize: (LocalizedLookup) -> String? {
    get { self[LocalizeKey.self] }
    set { self[LocalizeKey.self] = newValue }
  }
}

/// The parts of a format such as `%lld of %@`, or `%2$@: %1$lld`.
struct FormatPieces: Sequence, IteratorProtocol {
  enum Piece: Equatable {
    case literal(String)
    case argument(Int)
  }

  private var rest: Substring
  private var takenCount = 0

  init(_ format: String) { rest = format[...] }

  mutating func next() -> Piece? {
    guard let first = rest.first else { return nil }
    if first == "%",
      let match = rest.prefixMatch(of: /%(?:(\d+)\$)?[-+ #0]*\d*(?:\.\d+)?(?:hh|h|ll|l|q|z)?[@dDuUxXoOfFeEgGcCsSaA]/)
    {
      rest = rest[match.range.upperBound...]
      if let given = match.output.1.flatMap({ Int($0) }) { return .argument(given - 1) }
      defer { takenCount += 1 }
      return .argument(takenCount)
    }
    var literal = ""
    while let character = rest.first {
      if rest.hasPrefix("%%") {
        literal += "%"
        rest = rest.dropFirst(2)
      } else if character == "%", !literal.isEmpty {
        break
      } else {
        literal.append(character)
        rest = rest.dropFirst()
      }
    }
    return .literal(literal)
  }
}
