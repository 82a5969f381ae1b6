// SPDX-License-Identifier: Apache-2.0

/// The values of other parameters, for an options provider or a query. Source: `AppIntents.IntentParameterDependency`.
@propertyWrapper public final class IntentParameterDependency<Intent: AppIntent>: Sendable {
  // The paths of properties, which contain no values.
  nonisolated(unsafe) private let parameters: [PartialKeyPath<Intent>]

  public init<each Value: _IntentValue>(_ parameters: repeat KeyPath<Intent, IntentParameter<each Value>>) {
    var all: [PartialKeyPath<Intent>] = []
    for parameter in repeat each parameters { all.append(parameter) }
    self.parameters = all
  }

  /// The intent that the user configures, with the values so far, or the intent whose values are looked up. `nil` if
  /// one of the parameters has no value, for another intent, and when nothing is configured.
  public var wrappedValue: IntentProjection<Intent>? {
    guard let intent = ConfiguredIntent.current as? Intent,
      parameters.allSatisfy({ (intent[keyPath: $0] as? any AnyIntentParameter)?.hasValue == true })
    else { return nil }
    return IntentProjection(intent)
  }
}

/// The values of an intent, which are not optional. Source: `AppIntents.IntentProjection`.
@dynamicMemberLookup public final class IntentProjection<Intent: AppIntent>: Sendable {
  private let intent: Intent

  fileprivate init(_ intent: Intent) { self.intent = intent }

  public subscript<Value: _IntentValue>(dynamicMember path: KeyPath<Intent, Value>) -> Value.UnwrappedType {
    guard let value = intent[keyPath: path] as? Value.UnwrappedType else {
      fatalError("\(path) has no value; list the parameter in IntentParameterDependency")
    }
    return value
  }
}

/// The intent whose options are asked for, or whose values are looked up.
enum ConfiguredIntent {
  @TaskLocal static var current: (any AppIntent)?
}

extension DynamicOptionsProvider {
  /// Declares the parameters that the options depend on.
  public typealias ParameterDependency = IntentParameterDependency
}
