// SPDX-License-Identifier: Apache-2.0

public import Foundation

// The names of Core Foundation's types. Here they are Swift's own types: the conversions that authors write
// (`as CFDictionary`, `as String`) compile, and have no effect.

/// Source: `CoreFoundation.CFString`. Here it is a `String`.
public typealias CFString = String
/// Source: `CoreFoundation.CFData`. Here it is a `Data`.
public typealias CFData = Data
/// Source: `CoreFoundation.CFBoolean`. Here it is a `Bool`.
public typealias CFBoolean = Bool
/// Source: `CoreFoundation.CFNumber`.
public typealias CFNumber = NSNumber
/// Source: `CoreFoundation.CFArray`. Here it is an `Array`.
public typealias CFArray = [Any]
/// Source: `CoreFoundation.CFDictionary`. Here it is a `Dictionary`, and its keys are strings. An `NSDictionary` is
/// none, and needs a conversion with `as? [String: Any]`.
public typealias CFDictionary = [String: Any]
/// Source: `CoreFoundation.CFURL`. Here it is a `URL`.
public typealias CFURL = URL
/// Source: `CoreFoundation.CFError`. Here it is an `NSError`.
public typealias CFError = NSError
/// Source: `CoreFoundation.CFTypeRef`.
public typealias CFTypeRef = AnyObject

/// A result code, such as `errSecSuccess`. Source: `Darwin.OSStatus`.
public typealias OSStatus = Int32
/// Source: `Darwin.noErr`.
public let noErr: OSStatus = 0

/// Source: `CoreFoundation.kCFBooleanTrue`.
public let kCFBooleanTrue: CFBoolean! = true
/// Source: `CoreFoundation.kCFBooleanFalse`.
public let kCFBooleanFalse: CFBoolean! = false
