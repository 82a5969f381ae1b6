/// The sentence in which a person reads an intent's parameters; accepted, since nothing shows it. Source:
/// `AppIntents.ParameterSummary`.
public protocol ParameterSummary {}

/// No sentence.
struct EmptyParameterSummary: ParameterSummary {}

/// A sentence with parameters in it, and others below. Source: `AppIntents.IntentParameterSummary`.
public struct IntentParameterSummary<Intent: AppIntent>: ParameterSummary {
  /// A sentence.
  public init(_ sentence: ParameterSummaryString<Intent>, table: String? = nil) {}
  /// A sentence, and parameters below it.
  public init(
    _ sentence: ParameterSummaryString<Intent>, table: String? = nil,
    @ParameterKeyPathsBuilder<Intent> _ others: () -> [PartialKeyPath<Intent>]
  ) {}
  /// Parameters alone.
  public init(@ParameterKeyPathsBuilder<Intent> _ others: () -> [PartialKeyPath<Intent>]) {}
  /// Nothing.
  public init() {}
}

extension AppIntent {
  /// The summary of this intent.
  public typealias Summary = IntentParameterSummary<Self>
}

/// The sentence of a summary. Source: `AppIntents.ParameterSummaryString`.
public struct ParameterSummaryString<Intent: AppIntent>: ExpressibleByStringInterpolation {
  /// A literal.
  public init(stringLiteral value: String) {}
  /// A literal with parameters in it.
  public init(stringInterpolation: StringInterpolation) {}

  /// Takes parameters by their key paths.
  public struct StringInterpolation: StringInterpolationProtocol {
    /// Begins a sentence.
    public init(literalCapacity: Int, interpolationCount: Int) {}
    /// A part of the sentence.
    public mutating func appendLiteral(_ literal: String) {}
    /// A parameter.
    public mutating func appendInterpolation<Value>(_ path: KeyPath<Intent, IntentParameter<Value>>) {}
  }
}

/// Parameters below a summary. Source: `AppIntents.ParameterKeyPathsBuilder`.
@resultBuilder public struct ParameterKeyPathsBuilder<Intent: AppIntent> {
  /// A parameter.
  public static func buildExpression<Value>(
    _ path: KeyPath<Intent, IntentParameter<Value>>
  ) -> [PartialKeyPath<Intent>] { [path] }
  /// All of them.
  public static func buildBlock(_ paths: [PartialKeyPath<Intent>]...) -> [PartialKeyPath<Intent>] {
    paths.flatMap { $0 }
  }
}
