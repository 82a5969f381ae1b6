// SPDX-License-Identifier: Apache-2.0

public import CoreFoundationAPI

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
