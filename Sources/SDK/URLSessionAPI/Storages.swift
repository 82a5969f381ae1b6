// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization

/// A cookie. Source: `Foundation.HTTPCookie`. Only the policy exists here: an author's code cannot read cookies.
public enum HTTPCookie {
  /// Which cookies are stored. Source: `Foundation.HTTPCookie.AcceptPolicy`.
  public enum AcceptPolicy: UInt, Sendable {
    case always = 0
    case never = 1
    /// Cookies of the main document's domain.
    case onlyFromMainDocumentDomain = 2
  }
}

/// A cookie storage. Source: `Foundation.HTTPCookieStorage`; it only identifies the storage that a session uses.
public final class HTTPCookieStorage: NSObject, Sendable {
  public static let shared = HTTPCookieStorage()

  override init() { super.init() }
}

/// A cache for responses. Source: `Foundation.URLCache`; it only determines whether and how much a session caches.
public final class URLCache: NSObject, Sendable {
  public static let shared = URLCache(memoryCapacity: ephemeralCapacity, diskCapacity: 20 * 1024 * 1024)
  static let ephemeralCapacity = 512 * 1024

  /// In bytes.
  public let memoryCapacity: Int
  /// In bytes. Nothing is stored on disk.
  public let diskCapacity: Int

  public init(memoryCapacity: Int, diskCapacity: Int, directory directoryURL: URL? = nil) {
    self.memoryCapacity = memoryCapacity
    self.diskCapacity = diskCapacity
    super.init()
  }

  public convenience init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
    self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, directory: nil)
  }
}

/// A credential storage. Source: `Foundation.URLCredentialStorage`; it only identifies the storage that a session uses.
/// It is empty: credentials come from the delegate.
public final class URLCredentialStorage: NSObject, Sendable {
  public static let shared = URLCredentialStorage()

  override init() { super.init() }
}
