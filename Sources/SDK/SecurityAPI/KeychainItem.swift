// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The value of an attribute, as a query gives it and as the file of an access group has it.
enum KeychainValue: Codable, Hashable, Sendable {
  case text(String)
  case data(Data)
  /// Also a Boolean: 0 or 1.
  case number(Int64)
  case date(Date)

  /// The value as an author's code reads it.
  func object(_ kind: KeychainAttribute.Kind) -> Any {
    switch self {
    case .text(let text): text
    case .data(let data): data
    case .number(let number) where kind == .flag: number != 0
    case .number(let number): Int(number)
    case .date(let date): date
    }
  }
}

/// An attribute of a class of items. The access group is none of them: it is the file in which an item is. Source: *Item attribute keys and values*, and the groups of keys of each class there.
struct KeychainAttribute: Sendable {
  /// The types of values that an attribute accepts.
  enum Kind: Sendable {
    case text
    /// Text, data, or a number.
    case blob
    case number
    case flag
    case date
  }

  let key: String
  let kind: Kind
  /// Whether it identifies an item, together with the others of which this is true and with the access group. Source:
  /// `errSecDuplicateItem`, and the class's discussion in *Item class keys and values*.
  let isPrimary: Bool
  /// The value of an item without one. Source: observed in what iOS returns.
  let initial: KeychainValue?

  private init(_ key: String, _ kind: Kind, isPrimary: Bool = false, initial: KeychainValue? = nil) {
    self.key = key
    self.kind = kind
    self.isPrimary = isPrimary
    self.initial = initial
  }

  /// The value of an author's dictionary.
  ///
  /// - Returns: `nil` when it has another type.
  func value(_ object: Any) -> KeychainValue? {
    switch kind {
    case .text: (object as? String).map { .text($0) }
    case .date: (object as? Date).map { .date($0) }
    case .number: Self.number(object).map { .number($0) }
    case .flag: Self.number(object).map { .number($0 == 0 ? 0 : 1) }
    case .blob:
      if let text = object as? String {
        .text(text)
      } else if let data = object as? Data {
        .data(data)
      } else {
        Self.number(object).map { .number($0) }
      }
    }
  }

  private static func number(_ object: Any) -> Int64? {
    if let flag = object as? Bool { return flag ? 1 : 0 }
    if let number = object as? any BinaryInteger { return Int64(exactly: number) }
    return (object as? NSNumber)?.int64Value
  }

  private static let shared = [
    KeychainAttribute(kSecAttrAccessible, .text, initial: .text(kSecAttrAccessibleWhenUnlocked)),
    KeychainAttribute(kSecAttrSynchronizable, .flag, isPrimary: true, initial: .number(0)),
    KeychainAttribute(kSecAttrCreationDate, .date), KeychainAttribute(kSecAttrModificationDate, .date),
    KeychainAttribute(kSecAttrLabel, .blob),
  ]
  private static let ofPasswords = [
    KeychainAttribute(kSecAttrDescription, .blob), KeychainAttribute(kSecAttrComment, .blob),
    KeychainAttribute(kSecAttrCreator, .number), KeychainAttribute(kSecAttrType, .number),
    KeychainAttribute(kSecAttrIsInvisible, .flag), KeychainAttribute(kSecAttrIsNegative, .flag),
    KeychainAttribute(kSecAttrAccount, .blob, isPrimary: true, initial: .text("")),
  ]

  static let ofGenericPassword = table(
    shared + ofPasswords + [
      KeychainAttribute(kSecAttrService, .blob, isPrimary: true, initial: .text("")),
      KeychainAttribute(kSecAttrGeneric, .blob),
    ])
  static let ofInternetPassword = table(
    shared + ofPasswords + [
      KeychainAttribute(kSecAttrSecurityDomain, .blob, isPrimary: true, initial: .text("")),
      KeychainAttribute(kSecAttrServer, .blob, isPrimary: true, initial: .text("")),
      KeychainAttribute(kSecAttrProtocol, .blob, isPrimary: true, initial: .number(0)),
      KeychainAttribute(kSecAttrAuthenticationType, .blob, isPrimary: true, initial: .number(0)),
      KeychainAttribute(kSecAttrPort, .number, isPrimary: true, initial: .number(0)),
      KeychainAttribute(kSecAttrPath, .blob, isPrimary: true, initial: .text("")),
    ])
  static let ofKey = table(
    shared + [
      KeychainAttribute(kSecAttrKeyClass, .blob, isPrimary: true, initial: .number(0)),
      KeychainAttribute(kSecAttrApplicationLabel, .blob, isPrimary: true, initial: .data(Data())),
      KeychainAttribute(kSecAttrApplicationTag, .blob, isPrimary: true, initial: .data(Data())),
      KeychainAttribute(kSecAttrKeyType, .blob, isPrimary: true, initial: .number(0)),
      KeychainAttribute(kSecAttrKeySizeInBits, .number, isPrimary: true, initial: .number(0)),
      KeychainAttribute(kSecAttrIsPermanent, .flag),
    ])

  private static func table(_ attributes: [KeychainAttribute]) -> [String: KeychainAttribute] {
    Dictionary(attributes.map { ($0.key, $0) }) { $1 }
  }
}

/// A class of items that can be stored.
enum KeychainClass: String, Codable, Sendable, CaseIterable {
  case genericPassword = "genp"
  case internetPassword = "inet"
  case key = "keys"

  var attributes: [String: KeychainAttribute] {
    switch self {
    case .genericPassword: KeychainAttribute.ofGenericPassword
    case .internetPassword: KeychainAttribute.ofInternetPassword
    case .key: KeychainAttribute.ofKey
    }
  }
}

/// An item of the keychain, as the file of its access group has it.
struct KeychainItem: Codable, Sendable {
  let itemClass: KeychainClass
  /// Part of the persistent reference.
  let id: UUID
  /// Without the access group, which is that of the file.
  var attributes: [String: KeychainValue]
  var data: Data

  /// A new item.
  ///
  /// - Parameter attributes: those that a query gives.
  init(_ itemClass: KeychainClass, _ attributes: [String: KeychainValue], data: Data, at date: Date) {
    self.itemClass = itemClass
    self.data = data
    id = UUID()
    self.attributes = itemClass.attributes.compactMapValues(\.initial).merging(attributes) { $1 }
    self.attributes[kSecAttrCreationDate] = .date(date)
    self.attributes[kSecAttrModificationDate] = .date(date)
  }

  /// Whether another item of the access group would be the same item.
  func isSame(as other: KeychainItem) -> Bool {
    itemClass == other.itemClass
      && itemClass.attributes.values.filter(\.isPrimary).allSatisfy { attributes[$0.key] == other.attributes[$0.key] }
  }

  /// The persistent reference: the text of the class and 16 bytes.
  var reference: Data {
    Data(itemClass.rawValue.utf8) + withUnsafeBytes(of: id.uuid) { Data($0) }
  }

  /// The class of an item with a persistent reference; `nil` for data that is no persistent reference.
  static func itemClass(ofReference reference: Data) -> KeychainClass? {
    guard reference.count == 20 else { return nil }
    return KeychainClass(rawValue: String(decoding: reference.prefix(4), as: UTF8.self))
  }
}

/// An author's dictionary, read and checked.
struct KeychainQuery {
  /// What is done with the items.
  enum Operation {
    case add, copy, update, delete
  }

  /// What is returned of an item.
  struct Parts: OptionSet {
    let rawValue: Int
    static let data = Parts(rawValue: 1)
    static let attributes = Parts(rawValue: 2)
    static let reference = Parts(rawValue: 4)
  }

  let operation: Operation
  /// `nil` for a list of references with items of several classes.
  private(set) var itemClass: KeychainClass?
  /// Without the access group.
  private(set) var attributes: [String: KeychainValue] = [:]
  private(set) var accessGroup: String?
  private(set) var data: Data?
  /// The persistent references of the items that are meant; `nil`: all items.
  private(set) var references: [Data]?
  private(set) var parts: Parts = []
  /// The number of items; `nil` for all.
  private(set) var limit: Int? = 1
  private var matchesAnySynchronizable = false
  private var hasLimit = false
  /// Whether one item is meant, by `kSecValuePersistentRef`.
  private var isByReference = false

  /// - Throws: `errSecParam` for a key, a value or a combination that is not valid, `errSecNoSuchAttr` for an attribute of
  ///   another class, `errSecNoSuchClass`, and `errSecUnimplemented` for what is not simulated. Source: *Keychain Items*
  ///   for the keys; the codes are observed.
  init(_ dictionary: CFDictionary, for operation: Operation) throws(KeychainFailure) {
    self.operation = operation
    try readReferences(dictionary)
    try readClass(dictionary)
    for (key, object) in dictionary where key != kSecClass { try read(key, object) }
    try check()
    guard references == nil, attributes[kSecAttrSynchronizable] == nil, !matchesAnySynchronizable else { return }
    attributes[kSecAttrSynchronizable] = .number(0)
  }

  private mutating func readReferences(_ dictionary: CFDictionary) throws(KeychainFailure) {
    if let object = dictionary[kSecValuePersistentRef] {
      guard let reference = object as? Data else { throw KeychainFailure(errSecParam) }
      references = [reference]
      isByReference = true
    }
    if let object = dictionary[kSecMatchItemList], operation != .add {
      guard references == nil, let list = object as? [Any] else { throw KeychainFailure(errSecParam) }
      var found: [Data] = []
      for element in list {
        guard let reference = element as? Data else { throw KeychainFailure(errSecParam) }
        found.append(reference)
      }
      references = found
    }
    for reference in references ?? [] where KeychainItem.itemClass(ofReference: reference) == nil {
      throw KeychainFailure(errSecParam)
    }
  }

  private mutating func readClass(_ dictionary: CFDictionary) throws(KeychainFailure) {
    guard let object = dictionary[kSecClass] else {
      guard let references else { throw KeychainFailure(errSecParam) }
      let classes = Set(references.compactMap(KeychainItem.itemClass))
      if classes.count == 1 { itemClass = classes.first }
      return
    }
    guard let name = object as? String else { throw KeychainFailure(errSecParam) }
    if [kSecClassCertificate, kSecClassIdentity].contains(name) {
      guard operation == .add else { throw KeychainFailure(errSecItemNotFound) }
      throw .notSimulated("kSecClass", "certificates and identities cannot be stored: SecItemAdd returns -4")
    }
    itemClass = KeychainClass(rawValue: name)
    if itemClass == nil { throw KeychainFailure(errSecNoSuchClass) }
  }

  private mutating func read(_ key: String, _ object: Any) throws(KeychainFailure) {
    switch key {
    case kSecValueData:
      guard let data = object as? Data else { throw KeychainFailure(errSecParam) }
      self.data = data
    case kSecValuePersistentRef, kSecMatchItemList: break
    case kSecMatchLimit: try readLimit(object)
    case kSecReturnData: try add(.data, object)
    case kSecReturnAttributes: try add(.attributes, object)
    case kSecReturnPersistentRef: try add(.reference, object)
    case kSecReturnRef:
      guard try Self.flag(object) else { break }
      throw .notSimulated("kSecReturnRef", "there are no references to items: the query returns -4")
    case kSecValueRef:
      throw .notSimulated("kSecValueRef", "there are no references to items: the query returns -4")
    case kSecUseDataProtectionKeychain, kSecUseAuthenticationUI, kSecUseOperationPrompt: break
    case kSecAttrAccessGroup:
      guard let group = object as? String else { throw KeychainFailure(errSecParam) }
      accessGroup = group
    case kSecAttrSynchronizable where object as? String == kSecAttrSynchronizableAny: matchesAnySynchronizable = true
    default: attributes[key] = try Self.attribute(key, object, of: itemClass)
    }
  }

  private mutating func readLimit(_ object: Any) throws(KeychainFailure) {
    hasLimit = true
    switch object as? String {
    case kSecMatchLimitAll: limit = nil
    case kSecMatchLimitOne: limit = 1
    default:
      guard let number = (object as? Int) ?? (object as? NSNumber)?.intValue, number > 0 else {
        throw KeychainFailure(errSecParam)
      }
      limit = number
    }
  }

  private mutating func add(_ part: Parts, _ object: Any) throws(KeychainFailure) {
    if try Self.flag(object) { parts.insert(part) }
  }

  private static func flag(_ object: Any) throws(KeychainFailure) -> Bool {
    guard let flag = object as? Bool else { throw KeychainFailure(errSecParam) }
    return flag
  }

  /// The value of an attribute.
  ///
  /// - Parameter itemClass: `nil` for a list of references with items of several classes.
  private static func attribute(
    _ key: String, _ object: Any, of itemClass: KeychainClass?
  ) throws(KeychainFailure) -> KeychainValue {
    let classes = itemClass.map { [$0] } ?? KeychainClass.allCases
    guard let attribute = classes.compactMap({ $0.attributes[key] }).first else {
      let isKnown = KeychainClass.allCases.contains { $0.attributes[key] != nil }
      throw KeychainFailure(isKnown ? errSecNoSuchAttr : errSecParam)
    }
    guard let value = attribute.value(object) else { throw KeychainFailure(errSecParam) }
    if key == kSecAttrAccessible, !accessibilities.contains(value) { throw KeychainFailure(errSecParam) }
    return value
  }

  private static let accessibilities: Set<KeychainValue> = [
    .text(kSecAttrAccessibleWhenUnlocked), .text(kSecAttrAccessibleAfterFirstUnlock), .text(kSecAttrAccessibleAlways),
    .text(kSecAttrAccessibleWhenUnlockedThisDeviceOnly), .text(kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly),
    .text(kSecAttrAccessibleAlwaysThisDeviceOnly), .text(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly),
  ]

  /// Combinations that Apple's keychain refuses.
  private func check() throws(KeychainFailure) {
    let isValid =
      switch operation {
      case .add: references == nil
      case .copy: !isByReference || attributes.isEmpty
      case .update: parts.isEmpty && !hasLimit
      case .delete: (!isByReference || attributes.isEmpty) && !hasLimit
      }
    guard isValid else { throw KeychainFailure(errSecParam) }
  }

  /// What an update changes.
  ///
  /// - Parameter itemClass: that of the items.
  /// - Throws: `errSecParam` for a key that is no attribute and not the data.
  static func changes(
    _ dictionary: CFDictionary, of itemClass: KeychainClass?
  ) throws(KeychainFailure) -> (attributes: [String: KeychainValue], accessGroup: String?, data: Data?) {
    var attributes: [String: KeychainValue] = [:]
    var accessGroup: String?
    var data: Data?
    for (key, object) in dictionary {
      switch key {
      case kSecValueData:
        guard let new = object as? Data else { throw KeychainFailure(errSecParam) }
        data = new
      case kSecAttrAccessGroup:
        guard let new = object as? String else { throw KeychainFailure(errSecParam) }
        accessGroup = new
      default: attributes[key] = try attribute(key, object, of: itemClass)
      }
    }
    return (attributes, accessGroup, data)
  }

  /// Whether an item is meant.
  func fits(_ item: KeychainItem) -> Bool {
    guard itemClass == nil || itemClass == item.itemClass else { return false }
    if let references, !references.contains(item.reference) { return false }
    return attributes.allSatisfy { item.attributes[$0.key] == $0.value }
  }
}
