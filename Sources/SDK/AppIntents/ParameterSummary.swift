// SPDX-License-Identifier: Apache-2.0

/// The sentence that describes an intent's parameters to the user. Accepted, but not shown. Source:
/// `AppIntents.ParameterSummary`.
public protocol ParameterSummary {}

/// A summary without text.
struct EmptyParameterSummary: ParameterSummary {}

/// A sentence with parameters, and further parameters below it. Source: `AppIntents.IntentParameterSummary`.
public struct IntentParameterSummary<Intent: AppIntent>: ParameterSummary {
  public init(_ sentence: ParameterSummaryString<Intent>, table: String? = nil) {}
  /// A sentence, and further parameters below it.
  public init(
    _ sentence: ParameterSummaryString<Intent>, table: String? = nil,
    @ParameterKeyPathsBuilder<Intent> _ others: () -> [PartialKeyPath<Intent>]
  ) {}
  /// Only parameters.
  public init(@ParameterKeyPathsBuilder<Intent> _ others: () -> [PartialKeyPath<Intent>]) {}
  /// An empty summary.
  public init() {}
}

extension AppIntent {
  public typealias Summary = IntentParameterSummary<Self>
}

/// The sentence of a summary. Source: `AppIntents.ParameterSummaryString`.
public struct ParameterSummaryString<Intent: AppIntent>: ExpressibleByStringInterpolation {
  public init(stringLiteral value: String) {}
  public init(stringInterpolation: StringInterpolation) {}

  /// Accepts parameters as key paths.
  public struct StringInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    public mutating func appendInterpolation<Value>(_ path: KeyPath<Intent, IntentParameter<Value>>) {}
  }
}

/// The parameters below a summary. Source: `AppIntents.ParameterKeyPathsBuilder`.
@resultBuilder public struct ParameterKeyPathsBuilder<Intent: AppIntent> {
  public static func buildExpression<Value>(
    _ path: KeyPath<Intent, IntentParameter<Value>>
  ) -> [PartialKeyPath<Intent>] { [path] }
  public static func buildBlock(_ paths: [PartialKeyPath<Intent>]...) -> [PartialKeyPath<Intent>] {
    paths.flatMap { $0 }
  }
}
