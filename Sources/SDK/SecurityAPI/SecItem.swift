// SPDX-License-Identifier: Apache-2.0

@_exported public import CoreFoundationAPI
@_exported public import Foundation

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

// The keys and values of queries. Source: *Keychain Items* of Apple's Security framework. Their texts are Apple's, because
// authors print them and write them into property lists.

// MARK: Classes

public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecClassInternetPassword: CFString = "inet"
/// Here a key is stored as data: there are no operations with it, and no `SecKey`.
public let kSecClassKey: CFString = "keys"
/// Here a certificate cannot be stored: `SecItemAdd` returns `errSecUnimplemented`.
public let kSecClassCertificate: CFString = "cert"
/// Here an identity cannot be stored: `SecItemAdd` returns `errSecUnimplemented`.
public let kSecClassIdentity: CFString = "idnt"

// MARK: Attributes of all items

public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessGroup: CFString = "agrp"
/// An item with `true` is another item than one with `false`. It is not synchronised here.
public let kSecAttrSynchronizable: CFString = "sync"
public let kSecAttrSynchronizableAny: CFString = "syna"
public let kSecAttrCreationDate: CFString = "cdat"
public let kSecAttrModificationDate: CFString = "mdat"
public let kSecAttrLabel: CFString = "labl"

// MARK: Attributes of passwords

public let kSecAttrDescription: CFString = "desc"
public let kSecAttrComment: CFString = "icmt"
public let kSecAttrCreator: CFString = "crtr"
public let kSecAttrType: CFString = "type"
public let kSecAttrIsInvisible: CFString = "invi"
public let kSecAttrIsNegative: CFString = "nega"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrService: CFString = "svce"
public let kSecAttrGeneric: CFString = "gena"
public let kSecAttrSecurityDomain: CFString = "sdmn"
public let kSecAttrServer: CFString = "srvr"
public let kSecAttrProtocol: CFString = "ptcl"
public let kSecAttrAuthenticationType: CFString = "atyp"
public let kSecAttrPort: CFString = "port"
public let kSecAttrPath: CFString = "path"

// MARK: Attributes of keys

public let kSecAttrApplicationLabel: CFString = "klbl"
public let kSecAttrApplicationTag: CFString = "atag"
public let kSecAttrKeyClass: CFString = "kcls"
public let kSecAttrKeyType: CFString = "type"
public let kSecAttrKeySizeInBits: CFString = "bsiz"
public let kSecAttrIsPermanent: CFString = "perm"

public let kSecAttrKeyClassPublic: CFString = "0"
public let kSecAttrKeyClassPrivate: CFString = "1"
public let kSecAttrKeyClassSymmetric: CFString = "2"
public let kSecAttrKeyTypeRSA: CFString = "42"
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"

// MARK: Values of attributes

/// These values are kept with an item, and have no effect: an item can be read while the device is locked.
public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
public let kSecAttrAccessibleAlways: CFString = "dk"
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

public let kSecAttrProtocolFTP: CFString = "ftp "
public let kSecAttrProtocolHTTP: CFString = "http"
public let kSecAttrProtocolHTTPS: CFString = "htps"
public let kSecAttrProtocolIMAP: CFString = "imap"
public let kSecAttrProtocolIMAPS: CFString = "imps"
public let kSecAttrProtocolLDAP: CFString = "ldap"
public let kSecAttrProtocolSMTP: CFString = "smtp"
public let kSecAttrProtocolSSH: CFString = "ssh "

public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"

// MARK: What is searched

public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"
public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// A list of persistent references.
public let kSecMatchItemList: CFString = "m_ItemList"

// MARK: What is returned

public let kSecReturnData: CFString = "r_Data"
public let kSecReturnAttributes: CFString = "r_Attributes"
public let kSecReturnPersistentRef: CFString = "r_PersistentRef"
/// Here there are no references to items: a query with `true` returns `errSecUnimplemented`.
public let kSecReturnRef: CFString = "r_Ref"

// MARK: Values of items

public let kSecValueData: CFString = "v_Data"
public let kSecValuePersistentRef: CFString = "v_PersistentRef"
/// Here there are no references to items: a query with one returns `errSecUnimplemented`.
public let kSecValueRef: CFString = "v_Ref"

// MARK: Use of the keychain

/// Has no effect: this is the only keychain of the device.
public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// Has no effect: no item needs the user's authentication.
public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Has no effect: no item needs the user's authentication.
public let kSecUseOperationPrompt: CFString = "u_OpPrompt"

// Source of the codes: *Security Framework Result Codes*.

public let errSecSuccess: OSStatus = 0
/// Also: what a query asks for is not simulated, such as a reference to an item.
public let errSecUnimplemented: OSStatus = -4
public let errSecDiskFull: OSStatus = -34
public let errSecIO: OSStatus = -36
/// A key, a value or their combination is not valid, such as a query without `kSecClass`.
public let errSecParam: OSStatus = -50
public let errSecWrPerm: OSStatus = -61
public let errSecAllocate: OSStatus = -108
public let errSecUserCanceled: OSStatus = -128
public let errSecBadReq: OSStatus = -909
public let errSecInternalComponent: OSStatus = -2070
/// Here: another process kept the lock of the access group for seconds, because it is suspended.
public let errSecNotAvailable: OSStatus = -25_291
public let errSecReadOnly: OSStatus = -25_292
public let errSecAuthFailed: OSStatus = -25_293
public let errSecNoSuchKeychain: OSStatus = -25_294
public let errSecInvalidKeychain: OSStatus = -25_295
public let errSecDuplicateItem: OSStatus = -25_299
public let errSecItemNotFound: OSStatus = -25_300
/// The class of the item does not have the attribute.
public let errSecNoSuchAttr: OSStatus = -25_303
public let errSecNoSuchClass: OSStatus = -25_306
public let errSecNoDefaultKeychain: OSStatus = -25_307
/// Never returned here: the keychain does not follow the lock of the device.
public let errSecInteractionNotAllowed: OSStatus = -25_308
public let errSecInteractionRequired: OSStatus = -25_315
public let errSecDataNotAvailable: OSStatus = -25_316
public let errSecDataNotModifiable: OSStatus = -25_317
/// Here: the file of an access group cannot be read.
public let errSecDecode: OSStatus = -26_275
public let errSecInternalError: OSStatus = -67_671
/// The process is not a member of the access group.
public let errSecMissingEntitlement: OSStatus = -34_018

/// Describes a result code. Source: `SecCopyErrorMessageString(_:_:)`.
///
/// - Parameter reserved: has no effect.
/// - Returns: an English text; `nil` for a code that this module does not return.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
  switch status {
  case errSecSuccess: "No error."
  case errSecUnimplemented: "Function or operation not implemented."
  case errSecDiskFull: "The disk is full."
  case errSecIO: "I/O error."
  case errSecParam: "One or more parameters passed to a function were not valid."
  case errSecAllocate: "Failed to allocate memory."
  case errSecUserCanceled: "User canceled the operation."
  case errSecNotAvailable: "No keychain is available."
  case errSecAuthFailed: "The user name or passphrase you entered is not correct."
  case errSecDuplicateItem: "The specified item already exists in the keychain."
  case errSecItemNotFound: "The specified item could not be found in the keychain."
  case errSecNoSuchAttr: "The specified attribute does not exist."
  case errSecNoSuchClass: "The specified item does not appear to be a valid keychain item."
  case errSecInteractionNotAllowed: "User interaction is not allowed."
  case errSecDecode: "Unable to decode the provided data."
  case errSecMissingEntitlement: "A required entitlement isn't present."
  default: nil
  }
}

/// Why an operation with the keychain failed.
struct KeychainFailure: Error {
  let status: OSStatus
  init(_ status: OSStatus) { self.status = status }
}

/// A source of random bytes. Source: `Security.SecRandomRef`.
public final class SecRandom: Sendable {
  private init() {}
}

/// Source: `Security.SecRandomRef`.
public typealias SecRandomRef = SecRandom

/// The random numbers of the operating system. Source: `Security.kSecRandomDefault`.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills a buffer with random bytes of the operating system. Source: `SecRandomCopyBytes(_:_:_:)`.
///
/// - Parameters:
///   - rnd: `kSecRandomDefault`.
///   - count: the number of bytes.
///   - bytes: a buffer of at least `count` bytes.
/// - Returns: `errSecSuccess`; `errSecParam` for a negative number.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
  guard count >= 0 else { return errSecParam }
  var generator = SystemRandomNumberGenerator()
  for offset in 0..<count {
    bytes.storeBytes(of: UInt8.random(in: .min ... .max, using: &generator), toByteOffset: offset, as: UInt8.self)
  }
  return errSecSuccess
}
