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

/// Builds a summary. Source: `AppIntents.ParameterSummaryBuilder`.
@resultBuilder public struct ParameterSummaryBuilder<Intent: AppIntent> {
  public static func buildBlock<Summary: ParameterSummary>(_ summary: Summary) -> Summary { summary }
}

/// A summary that depends on a parameter or on the widget's family. Both are accepted, and none is evaluated, since no
/// summary is shown. Source: `AppIntents.ParameterSummaryWhenCondition`.
public struct ParameterSummaryWhenCondition<
  Intent: AppIntent, WhenCondition: ParameterSummary, Otherwise: ParameterSummary
>: ParameterSummary {
  public init<Value>(
    _ path: KeyPath<Intent, IntentParameter<Value>>, _ comparison: EquatableComparisonOperator, _ value: Value,
    @ParameterSummaryBuilder<Intent> _ whenCondition: () -> WhenCondition,
    @ParameterSummaryBuilder<Intent> otherwise: () -> Otherwise
  ) {}
  public init<Value: Comparable>(
    _ path: KeyPath<Intent, IntentParameter<Value>>, _ comparison: ComparableComparisonOperator, _ value: Value,
    @ParameterSummaryBuilder<Intent> _ whenCondition: () -> WhenCondition,
    @ParameterSummaryBuilder<Intent> otherwise: () -> Otherwise
  ) {}
  public init<Value>(
    _ path: KeyPath<Intent, IntentParameter<Value>>, _ comparison: ContainsComparisonOperator, _ values: [Value],
    @ParameterSummaryBuilder<Intent> _ whenCondition: () -> WhenCondition,
    @ParameterSummaryBuilder<Intent> otherwise: () -> Otherwise
  ) {}
  public init<Value>(
    _ path: KeyPath<Intent, IntentParameter<Value>>, _ comparison: HasValueComparisonOperator,
    @ParameterSummaryBuilder<Intent> _ whenCondition: () -> WhenCondition,
    @ParameterSummaryBuilder<Intent> otherwise: () -> Otherwise
  ) {}
  public init(
    widgetFamily comparison: EquatableComparisonOperator, _ family: IntentWidgetFamily,
    @ParameterSummaryBuilder<Intent> _ whenCondition: () -> WhenCondition,
    @ParameterSummaryBuilder<Intent> otherwise: () -> Otherwise
  ) {}
  public init(
    widgetFamily comparison: ContainsComparisonOperator, _ families: [IntentWidgetFamily],
    @ParameterSummaryBuilder<Intent> _ whenCondition: () -> WhenCondition,
    @ParameterSummaryBuilder<Intent> otherwise: () -> Otherwise
  ) {}
}

/// A summary for each value of a parameter. Source: `AppIntents.ParameterSummarySwitchCondition`.
public struct ParameterSummarySwitchCondition<Intent: AppIntent, Value: _IntentValue>: ParameterSummary {
  public init(
    _ path: KeyPath<Intent, IntentParameter<Value>>,
    @ParameterSummaryCaseBuilder<Intent, Value> _ cases: () -> [ParameterSummaryCaseCondition<Intent, Value>]
  ) {}
}

/// A summary for some values. Source: `AppIntents.ParameterSummaryCaseCondition`, and
/// `AppIntents.ParameterSummaryDefaultCaseCondition`.
public struct ParameterSummaryCaseCondition<Intent: AppIntent, Value> {
  public init<Summary: ParameterSummary>(
    _ value: Value, @ParameterSummaryBuilder<Intent> _ summary: () -> Summary
  ) {}
  public init<Summary: ParameterSummary>(
    _ values: [Value], @ParameterSummaryBuilder<Intent> _ summary: () -> Summary
  ) {}
  fileprivate init() {}
}

/// The summary for all other values. Source: `AppIntents.ParameterSummaryDefaultCaseCondition`.
public struct ParameterSummaryDefaultCaseCondition<Intent: AppIntent> {
  public init<Summary: ParameterSummary>(@ParameterSummaryBuilder<Intent> _ summary: () -> Summary) {}
}

/// Builds the cases of a summary. Source: `AppIntents.ParameterSummaryCaseBuilder`.
@resultBuilder public struct ParameterSummaryCaseBuilder<Intent: AppIntent, Value> {
  public static func buildExpression(
    _ condition: ParameterSummaryCaseCondition<Intent, Value>
  ) -> ParameterSummaryCaseCondition<Intent, Value> { condition }
  public static func buildExpression(
    _ condition: ParameterSummaryDefaultCaseCondition<Intent>
  ) -> ParameterSummaryCaseCondition<Intent, Value> { ParameterSummaryCaseCondition() }
  public static func buildBlock(
    _ conditions: ParameterSummaryCaseCondition<Intent, Value>...
  ) -> [ParameterSummaryCaseCondition<Intent, Value>] { conditions }
}

/// Source: `AppIntents.EquatableComparisonOperator`.
public enum EquatableComparisonOperator: Sendable {
  case equalTo, notEqualTo
}

/// Source: `AppIntents.ComparableComparisonOperator`.
public enum ComparableComparisonOperator: Sendable {
  case lessThan, lessThanOrEqualTo, greaterThan, greaterThanOrEqualTo
}

/// Source: `AppIntents.ContainsComparisonOperator`.
public enum ContainsComparisonOperator: Sendable {
  case oneOf
}

/// Source: `AppIntents.HasValueComparisonOperator`.
public enum HasValueComparisonOperator: Sendable {
  case hasAnyValue
}

/// The family of the widget that is configured. Source: `AppIntents.IntentWidgetFamily`.
public enum IntentWidgetFamily: String, CaseIterable, Sendable {
  case systemSmall, systemMedium, systemLarge, systemExtraLarge, accessoryCircular, accessoryRectangular,
    accessoryInline
}

extension AppIntent {
  public typealias When<WhenCondition: ParameterSummary, Otherwise: ParameterSummary> = ParameterSummaryWhenCondition<
    Self, WhenCondition, Otherwise
  >
  public typealias Switch<Value: _IntentValue> = ParameterSummarySwitchCondition<Self, Value>
  public typealias Case<Value> = ParameterSummaryCaseCondition<Self, Value>
  public typealias DefaultCase = ParameterSummaryDefaultCaseCondition<Self>
}
