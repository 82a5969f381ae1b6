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
