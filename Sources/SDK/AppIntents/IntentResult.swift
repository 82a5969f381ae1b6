// SPDX-License-Identifier: Apache-2.0

/// The result of an intent. Source: `AppIntents.IntentResult`.
public protocol IntentResult: Sendable {}

/// A result with a value. Source: `AppIntents.ReturnsValue`.
public protocol ReturnsValue<Value>: IntentResult {
  associatedtype Value: Sendable
  var value: Value? { get }
}

/// A result with a dialog for the user. Source: `AppIntents.ProvidesDialog`.
public protocol ProvidesDialog: IntentResult {}

/// A result with another intent, which the system performs. Source: `AppIntents.OpensIntent`.
public protocol OpensIntent: IntentResult {
  /// `nil` for none.
  var opensIntent: (any AppIntent)? { get }
}

/// The result of `.result()`. Source: `AppIntents.IntentResultContainer`.
public struct IntentResultContainer<Value: Sendable>: ReturnsValue, OpensIntent {
  /// `nil` for a result without a value.
  public let value: Value?
  public var opensIntent: (any AppIntent)?
}

/// The result of `.result(dialog:)`.
public struct DialogResult<Value: Sendable>: ReturnsValue, OpensIntent, ProvidesDialog {
  /// `nil` for a result without a value.
  public let value: Value?
  public var opensIntent: (any AppIntent)?
}

extension IntentResult where Self == IntentResultContainer<Never> {
  public static func result() -> Self { IntentResultContainer(value: nil) }
}

extension IntentResult {
  public static func result<Value: Sendable>(value: Value) -> Self where Self == IntentResultContainer<Value> {
    IntentResultContainer(value: value)
  }
  public static func result(dialog: IntentDialog) -> Self where Self == DialogResult<Never> {
    DialogResult(value: nil)
  }
  public static func result<Value: Sendable>(value: Value, dialog: IntentDialog) -> Self
  where Self == DialogResult<Value> {
    DialogResult(value: value)
  }
}

extension IntentResult {
  public static func result(opensIntent: some AppIntent) -> Self where Self == IntentResultContainer<Never> {
    IntentResultContainer(value: nil, opensIntent: opensIntent)
  }
  public static func result<Value: Sendable>(value: Value, opensIntent: some AppIntent) -> Self
  where Self == IntentResultContainer<Value> {
    IntentResultContainer(value: value, opensIntent: opensIntent)
  }
  public static func result(opensIntent: some AppIntent, dialog: IntentDialog) -> Self
  where Self == DialogResult<Never> {
    DialogResult(value: nil, opensIntent: opensIntent)
  }
  public static func result<Value: Sendable>(
    value: Value, opensIntent: some AppIntent, dialog: IntentDialog
  ) -> Self where Self == DialogResult<Value> {
    DialogResult(value: value, opensIntent: opensIntent)
  }
}
