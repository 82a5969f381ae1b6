// SPDX-License-Identifier: Apache-2.0

public import CoreFoundationAPI
import Foundation

// The keychain of the device. Items remain when the process ends and when the app is updated. Apple's functions are in
// another process; these read and write files in the calling thread.

/// Adds an item. Source: `SecItemAdd(_:_:)`.
///
/// - Parameters:
///   - attributes: `kSecClass`, attributes, `kSecValueData`, and what is returned.
///   - result: receives what `attributes` requests of the item.
/// - Returns: `errSecSuccess`; `errSecDuplicateItem` when there is the same item; `errSecMissingEntitlement` for an access
///   group of which the process is no member; `errSecParam`, `errSecNoSuchAttr` and `errSecUnimplemented`.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  status { () throws(KeychainFailure) in
    let object = try Keychain.current.add(KeychainQuery(attributes, for: .add))
    // Foundation makes its own object of it, which converts to `Data`, `[String: Any]`, `NSDictionary` and so on.
    if let object { result?.pointee = object as AnyObject }
  }
}

/// Finds items. Source: `SecItemCopyMatching(_:_:)`.
///
/// - Parameters:
///   - query: `kSecClass`, attributes, `kSecMatchLimit`, and what is returned.
///   - result: receives the data, the persistent reference or a dictionary of the item; an array with `kSecMatchLimit`
///     other than one.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` when no item matches; the codes of `SecItemAdd`.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  status { () throws(KeychainFailure) in
    let wanted = try KeychainQuery(query, for: .copy)
    guard wanted.parts.isEmpty || result != nil else { throw KeychainFailure(errSecParam) }
    let object = try Keychain.current.copy(wanted)
    if let object { result?.pointee = object as AnyObject }
  }
}

/// Changes all items that a query means. Source: `SecItemUpdate(_:_:)`.
///
/// - Parameter attributesToUpdate: attributes and `kSecValueData`.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` when no item matches; `errSecDuplicateItem` when an item would be the
///   same as another one; `errSecUnimplemented` for another access group; the codes of `SecItemAdd`.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
  status { () throws(KeychainFailure) in
    try Keychain.current.update(KeychainQuery(query, for: .update), attributesToUpdate)
  }
}

/// Deletes all items that a query means. Source: `SecItemDelete(_:)`.
///
/// - Returns: `errSecSuccess`; `errSecItemNotFound` when no item matches; the codes of `SecItemAdd`.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  status { () throws(KeychainFailure) in try Keychain.current.delete(KeychainQuery(query, for: .delete)) }
}

private func status(_ body: () throws(KeychainFailure) -> Void) -> OSStatus {
  do {
    try body()
    return errSecSuccess
  } catch {
    return error.status
  }
}
