// SPDX-License-Identifier: Apache-2.0

package import Archive
import AuthorRuntime
@_exported public import Foundation
// The modules that `import Intents` makes visible to an author's file.
@_exported public import URLSessionAPI

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

/// A value of a type that an `.intentdefinition` declares. Source: `Intents.INObject`.
open class INObject: NSObject {
  public let identifier: String?
  public let displayString: String
  public let pronunciationHint: String?
  open var subtitleString: String?
  open var displayImage: INImage?
  /// The values of the type's own properties, by name.
  private var values: [String: Any] = [:]

  public required init(identifier: String?, display displayString: String, pronunciationHint: String?) {
    self.identifier = identifier
    self.displayString = displayString
    self.pronunciationHint = pronunciationHint
  }
  public convenience init(identifier: String?, display displayString: String) {
    self.init(identifier: identifier, display: displayString, pronunciationHint: nil)
  }
  public convenience init(
    identifier: String?, display displayString: String, subtitle subtitleString: String?, image displayImage: INImage?
  ) {
    self.init(identifier: identifier, display: displayString, pronunciationHint: nil)
    self.subtitleString = subtitleString
    self.displayImage = displayImage
  }

  /// The value of a property, for generated classes.
  public final func _value<Value>(_ name: String) -> Value? { values[name] as? Value }
  /// Sets the value of a property, for generated classes.
  public final func _set(_ name: String, _ value: Any?) { values[name] = value }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? INObject, type(of: self) == type(of: other) else { return false }
    return identifier == other.identifier && displayString == other.displayString
  }
  open override var hash: Int { (identifier ?? displayString).hashValue }
}

/// The options of a parameter. Source: `Intents.INObjectCollection`.
public final class INObjectCollection<ObjectType: NSObjectProtocol>: NSObject {
  public let sections: [INObjectSection<ObjectType>]
  public var usesIndexedCollation = false
  public var allItems: [ObjectType] { sections.flatMap(\.items) }

  public init(sections: [INObjectSection<ObjectType>]) { self.sections = sections }
  public convenience init(items: [ObjectType]) { self.init(sections: [INObjectSection(title: nil, items: items)]) }
}

/// Source: `Intents.INObjectSection`.
public final class INObjectSection<ObjectType: NSObjectProtocol>: NSObject {
  public let title: String?
  public let items: [ObjectType]

  public init(title: String?, items: [ObjectType]) {
    self.title = title
    self.items = items
  }
}

/// Source: `Intents.INImage`.
open class INImage: NSObject {
  /// The source that it was created with.
  package enum Origin: Sendable {
    case name(String)
    case data(Data)
    case url(URL)
    case symbol(String)
  }

  package let origin: Origin
  private init(_ origin: Origin) { self.origin = origin }
  public convenience init(named name: String) { self.init(.name(name)) }
  public convenience init(imageData: Data) { self.init(.data(imageData)) }
  public convenience init?(url: URL) { self.init(.url(url)) }
  public static func systemImageNamed(_ systemImageName: String) -> INImage { INImage(.symbol(systemImageName)) }
}

/// An intent with its result. Source: `Intents.INInteraction`.
open class INInteraction: NSObject {
  public let intent: INIntent
  public let intentResponse: INIntentResponse?
  open var identifier = UUID().uuidString
  open var groupIdentifier: String?
  open var dateInterval: DateInterval?

  public init(intent: INIntent, response: INIntentResponse?) {
    self.intent = intent
    intentResponse = response
  }

  /// Has no effect: the system does not suggest widgets. The diagnosis `not-simulated` names it.
  open func donate(completion: (((any Error)?) -> Void)? = nil) {
    HostedProcess.current?.noticeUnsimulated(
      "INInteraction.donate", "the system does not predict what the user will do; nothing is donated")
    completion?(nil)
  }
  /// Has no effect, as `donate`.
  open class func deleteAll(completion: (((any Error)?) -> Void)? = nil) { completion?(nil) }
  /// Has no effect, as `donate`.
  open class func delete(with identifiers: [String], completion: (((any Error)?) -> Void)? = nil) { completion?(nil) }
}

/// What a handler answers about a parameter. Source: `Intents.INIntentResolutionResult`. Handlers are never called here.
open class INIntentResolutionResult: NSObject {
  public required override init() { super.init() }
  open class func needsValue() -> Self { Self() }
  open class func notRequired() -> Self { Self() }
  open class func unsupported() -> Self { Self() }
}

/// Source: `Intents.INObjectResolutionResult`.
open class INObjectResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedObject: INObject) -> Self { Self() }
  open class func disambiguation(with objectsToDisambiguate: [INObject]) -> Self { Self() }
  open class func confirmationRequired(with objectToConfirm: INObject?) -> Self { Self() }
}

/// Source: `Intents.INEnumResolutionResult`.
open class INEnumResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedValue: Int) -> Self { Self() }
  open class func confirmationRequired(with valueToConfirm: Int) -> Self { Self() }
}

/// Source: `Intents.INStringResolutionResult`.
open class INStringResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedString: String) -> Self { Self() }
  open class func disambiguation(with stringsToDisambiguate: [String]) -> Self { Self() }
  open class func confirmationRequired(with stringToConfirm: String?) -> Self { Self() }
}

/// Source: `Intents.INBooleanResolutionResult`.
open class INBooleanResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedValue: Bool) -> Self { Self() }
  open class func confirmationRequired(with valueToConfirm: NSNumber?) -> Self { Self() }
}

/// Source: `Intents.INIntegerResolutionResult`.
open class INIntegerResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedValue: Int) -> Self { Self() }
  open class func confirmationRequired(with valueToConfirm: NSNumber?) -> Self { Self() }
}

/// Source: `Intents.INDoubleResolutionResult`.
open class INDoubleResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedValue: Double) -> Self { Self() }
  open class func confirmationRequired(with valueToConfirm: NSNumber?) -> Self { Self() }
}

/// Source: `Intents.INDateComponentsResolutionResult`.
open class INDateComponentsResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedDateComponents: DateComponents) -> Self { Self() }
}

/// Source: `Intents.INURLResolutionResult`.
open class INURLResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedURL: URL) -> Self { Self() }
}
