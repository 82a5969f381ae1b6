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

/// The result of `.result()`. Source: `AppIntents.IntentResultContainer`.
public struct IntentResultContainer<Value: Sendable>: ReturnsValue {
  /// `nil` for a result without a value.
  public let value: Value?
}

/// The result of `.result(dialog:)`.
public struct DialogResult<Value: Sendable>: ReturnsValue, ProvidesDialog {
  /// `nil` for a result without a value.
  public let value: Value?
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
