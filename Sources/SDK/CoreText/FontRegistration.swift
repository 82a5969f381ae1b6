// SPDX-License-Identifier: Apache-2.0

@_exported public import CoreFoundationAPI
@_exported public import CoreGraphicsAPI
import Foundation
import UIKit

/// Where a registered font can be used. Source: `CoreText.CTFontManagerScope`.
public enum CTFontManagerScope: UInt32, Sendable {
  case none, process, persistent, session

  public static var user: CTFontManagerScope { .persistent }
}

/// Source: `CoreText.kCTFontManagerErrorDomain`.
public let kCTFontManagerErrorDomain: CFString = "com.apple.CoreText.CTFontManagerErrorDomain"

/// Source: `CoreText.CTFontManagerError`.
public enum CTFontManagerError: Int, Sendable {
  case fileNotFound = 101
  case insufficientPermissions = 102
  case unrecognizedFormat = 103
  case invalidFontData = 104
  case alreadyRegistered = 105
  case exceededResourceLimit = 106
  case assetNotFound = 107
  case notRegistered = 201
  case inUse = 202
  case systemRequired = 203
}

/// Registers the fonts of a file for this process: `UIFont.familyNames` has them. The font of a view is found by its name in
/// the bundle, registered or not. Source: `CoreText.CTFontManagerRegisterFontsForURL(_:_:_:)`.
///
/// - Returns: whether the file is a font file that was not registered before; the error says why not.
public func CTFontManagerRegisterFontsForURL(
  _ fontURL: CFURL, _ scope: CTFontManagerScope, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
  let fault: CTFontManagerError? =
    switch RegisteredFonts.shared.register(fontURL) {
    case .success(let isNew): isNew ? nil : .alreadyRegistered
    case .failure(.missing): .fileNotFound
    case .failure(.damaged): .unrecognizedFormat
    }
  guard let fault else { return true }
  error?.pointee = .passRetained(
    NSError(
      domain: kCTFontManagerErrorDomain, code: fault.rawValue,
      userInfo: [NSLocalizedDescriptionKey: "CTFontManagerRegisterFontsForURL: \(fontURL.path): \(fault)"]))
  return false
}

/// Source: `CoreText.CTFontManagerUnregisterFontsForURL(_:_:_:)`.
///
/// - Returns: whether the file was registered by this process.
public func CTFontManagerUnregisterFontsForURL(
  _ fontURL: CFURL, _ scope: CTFontManagerScope, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
  if RegisteredFonts.shared.unregister(fontURL) { return true }
  error?.pointee = .passRetained(
    NSError(domain: kCTFontManagerErrorDomain, code: CTFontManagerError.notRegistered.rawValue))
  return false
}
