/// What an intent gives back. Source: `AppIntents.IntentResult`.
public protocol IntentResult: Sendable {}

/// A result with a value. Source: `AppIntents.ReturnsValue`.
public protocol ReturnsValue<Value>: IntentResult {
  /// What it is of.
  associatedtype Value: Sendable
  /// The value.
  var value: Value? { get }
}

/// A result that says something to a person. Source: `AppIntents.ProvidesDialog`.
public protocol ProvidesDialog: IntentResult {}

/// A result, as `.result()` makes it. Source: `AppIntents.IntentResultContainer`.
public struct IntentResultContainer<Value: Sendable>: ReturnsValue {
  /// The value; `nil` where there is none.
  public let value: Value?
}

/// A result that says something, as `.result(dialog:)` makes it.
public struct DialogResult<Value: Sendable>: ReturnsValue, ProvidesDialog {
  /// The value; `nil` where there is none.
  public let value: Value?
}

extension IntentResult where Self == IntentResultContainer<Never> {
  /// It is done.
  public static func result() -> Self { IntentResultContainer(value: nil) }
}

extension IntentResult {
  /// It is done, with a value.
  public static func result<Value: Sendable>(value: Value) -> Self where Self == IntentResultContainer<Value> {
    IntentResultContainer(value: value)
  }
  /// It is done, and says something.
  public static func result(dialog: IntentDialog) -> Self where Self == DialogResult<Never> {
    DialogResult(value: nil)
  }
  /// It is done, with a value, and says something.
  public static func result<Value: Sendable>(value: Value, dialog: IntentDialog) -> Self
  where Self == DialogResult<Value> {
    DialogResult(value: value)
  }
}
