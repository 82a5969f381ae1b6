// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// A request of the user, or the configuration of a widget. Source: `Intents.INIntent`. The classes of an
/// `.intentdefinition` are generated: Documentation/authors.md.
open class INIntent: NSObject {
  open var identifier: String?
  open var suggestedInvocationPhrase: String?
  /// The values of the parameters, by name. An absent value is the default, or none.
  private var values: [String: Any] = [:]

  public required override init() { super.init() }

  /// What the definition declares. Generated classes override it.
  open class var _definition: _INDefinition { _INDefinition(title: "\(Self.self)", parameters: []) }

  open var intentDescription: String? { Self._definition.title }

  /// The value of a parameter, for generated classes.
  public final func _value<Value>(_ name: String) -> Value? { values[name] as? Value }
  /// Sets the value of a parameter, for generated classes.
  public final func _set(_ name: String, _ value: Any?) { values[name] = value }

  /// Copies the values of the parameters.
  open override func copy() -> Any {
    let copy = Self()
    copy.identifier = identifier
    copy.values = values
    return copy
  }
}

extension INIntent {
  /// What the user can configure.
  package static var archivedDeclaration: IntentDeclaration {
    let definition = _definition
    return IntentDeclaration(
      type: String(reflecting: Self.self), title: definition.title,
      parameters: definition.parameters.filter(\.isConfigurable).map(\.archivedDeclaration))
  }

  /// The values by parameter. Parameters without a value are omitted.
  package var archivedParameters: [String: ArchivedValue] {
    var archived: [String: ArchivedValue] = [:]
    for parameter in Self._definition.parameters {
      if let value: Any = _value(parameter.name) { archived[parameter.name] = parameter.archive(value) }
    }
    return archived
  }

  /// An intent with these values. A parameter that is not among them has its default.
  ///
  /// - Throws: `INValueRefusal` for a value that a parameter does not accept.
  package static func restored(_ archived: [String: ArchivedValue]) throws(INValueRefusal) -> Self {
    let intent = Self()
    for parameter in _definition.parameters {
      guard let value = archived[parameter.name] ?? parameter.standard?.archived else { continue }
      guard let restored = parameter.restore(value) else {
        throw INValueRefusal(description: "\(parameter.title) does not accept \(value)")
      }
      intent._set(parameter.name, restored)
    }
    return intent
  }
}

/// Why an intent cannot be restored.
package struct INValueRefusal: Error, CustomStringConvertible {
  package let description: String
}

/// The result of an intent. Source: `Intents.INIntentResponse`.
open class INIntentResponse: NSObject {
  open var userActivity: AnyObject?
  public override init() { super.init() }
}

/// Handles intents in an Intents extension. Source: `Intents.INExtension`. Such extensions do not exist here, so the
/// system never calls it.
open class INExtension: NSObject, INIntentHandlerProviding {
  public override init() { super.init() }
  open func handler(for intent: INIntent) -> Any? { self }
}

/// Source: `Intents.INIntentHandlerProviding`.
public protocol INIntentHandlerProviding: NSObjectProtocol {
  func handler(for intent: INIntent) -> Any?
}
