import Archive
public import Foundation

/// The key of a text in a strings file. Source: `SwiftUI.LocalizedStringKey`.
nonisolated public struct LocalizedStringKey: Equatable, Sendable, ExpressibleByStringInterpolation {
  /// A value that was put into a key.
  enum Argument: Equatable, Sendable {
    case text(String)
    case integer(Int)
    case view(Text)
  }

  /// As in a strings file: with `%@` and its kin for the values.
  package let key: String
  let arguments: [Argument]

  /// A key.
  public init(_ value: String) { (key, arguments) = (value, []) }
  /// A key.
  public init(stringLiteral value: String) { (key, arguments) = (value, []) }
  /// A key with values in it.
  public init(stringInterpolation: StringInterpolation) {
    (key, arguments) = (stringInterpolation.key, stringInterpolation.arguments)
  }

  /// The text in the language of an environment. One that has a live text in it has its parts as children.
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
    guard runs.contains(where: { $0.arguments["text"] == nil || !$0.modifiers.isEmpty }) else {
      return .text(runs.flatMap(\.lines).joined())
    }
    return ViewArchive("Text", children: runs)
  }
}

extension LocalizedStringKey.Argument {
  /// What decides about singular and plural.
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
  /// Puts values into a key. Source: `SwiftUI.LocalizedStringKey.StringInterpolation`.
  public struct StringInterpolation: StringInterpolationProtocol {
    var key = ""
    var arguments: [Argument] = []

    /// Begins a key.
    public init(literalCapacity: Int, interpolationCount: Int) {
      key.reserveCapacity(literalCapacity + 2 * interpolationCount)
    }

    private mutating func append(_ specifier: String, _ argument: Argument) {
      key += specifier
      arguments.append(argument)
    }

    /// A part of the key.
    public mutating func appendLiteral(_ literal: String) {
      key += literal.replacingOccurrences(of: "%", with: "%%")
    }
    /// A text.
    public mutating func appendInterpolation(_ string: String) { append("%@", .text(string)) }
    /// A text.
    @_disfavoredOverload public mutating func appendInterpolation<S: StringProtocol>(_ string: S) {
      append("%@", .text(String(string)))
    }
    /// A number, grouped as the region does.
    public mutating func appendInterpolation<T: BinaryInteger>(_ value: T) {
      append("%lld", .integer(Int(clamping: value)))
    }
    /// A number, with six places as `%lf` has them.
    public mutating func appendInterpolation(_ value: Double) {
      append("%lf", .text(String(format: "%lf", value)))
    }
    /// A number, with six places as `%lf` has them.
    public mutating func appendInterpolation(_ value: CGFloat) { appendInterpolation(Double(value)) }
    /// A number, with six places as `%f` has them.
    public mutating func appendInterpolation(_ value: Float) { append("%f", .text(String(format: "%f", value))) }
    /// A value by a C format, such as `%.1f`.
    public mutating func appendInterpolation<T: CVarArg>(_ value: T, specifier: String) {
      append(specifier, .text(String(format: specifier, value)))
    }
    /// A text view's text.
    public mutating func appendInterpolation(_ text: Text) { append("%@", .view(text)) }
    /// A picture.
    public mutating func appendInterpolation(_ image: Image) { append("%@", .view(Text(image))) }
    /// A date, which the system writes anew as time passes.
    public mutating func appendInterpolation(_ date: Date, style: Text.DateStyle) {
      append("%@", .view(Text(date, style: style)))
    }
    /// From a date to another.
    public mutating func appendInterpolation(_ dates: ClosedRange<Date>) { append("%@", .view(Text(dates))) }
    /// From a date to another.
    public mutating func appendInterpolation(_ interval: DateInterval) { append("%@", .view(Text(interval))) }
    /// A timer that runs within an interval.
    public mutating func appendInterpolation(
      timerInterval: ClosedRange<Date>, pauseTime: Date? = nil, countsDown: Bool = true, showsHours: Bool = true
    ) {
      let text = Text(
        timerInterval: timerInterval, pauseTime: pauseTime, countsDown: countsDown, showsHours: showsHours)
      append("%@", .view(text))
    }
    /// A value in a format.
    public mutating func appendInterpolation<F: FormatStyle>(_ input: F.FormatInput, format: F)
    where F.FormatInput: Equatable, F.FormatOutput == String {
      append("%@", .text(format.format(input)))
    }
    /// A value in a format.
    public mutating func appendInterpolation<Subject: ReferenceConvertible>(_ subject: Subject, formatter: Formatter) {
      append("%@", .text(formatter.string(for: subject) ?? ""))
    }
    /// Anything else, as Swift describes it.
    @_disfavoredOverload public mutating func appendInterpolation<T>(_ value: T) { append("%@", .text("\(value)")) }
  }
}
