// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
