public import Foundation
import Synchronization

/// A cookie. Source: `Foundation.HTTPCookie`, of which only the policy exists here: an author's code cannot read cookies.
public enum HTTPCookie {
  /// Which cookies are kept. Source: `Foundation.HTTPCookie.AcceptPolicy`.
  public enum AcceptPolicy: UInt, Sendable {
    /// All.
    case always = 0
    /// None.
    case never = 1
    /// Those of the main document's domain.
    case onlyFromMainDocumentDomain = 2
  }
}

/// Where cookies are kept. Source: `Foundation.HTTPCookieStorage`; an author's code says which one a session uses.
public final class HTTPCookieStorage: NSObject, Sendable {
  /// The process's.
  public static let shared = HTTPCookieStorage()

  override init() { super.init() }
}

/// Where responses are kept. Source: `Foundation.URLCache`; an author's code says whether a session has one.
public final class URLCache: NSObject, Sendable {
  /// The process's.
  public static let shared = URLCache(memoryCapacity: ephemeralCapacity, diskCapacity: 20 * 1024 * 1024)
  static let ephemeralCapacity = 512 * 1024

  /// Bytes that may be kept in memory.
  public let memoryCapacity: Int
  /// Bytes that may be kept on disk. Nothing is.
  public let diskCapacity: Int

  /// A cache of a session's own.
  public init(memoryCapacity: Int, diskCapacity: Int, directory directoryURL: URL? = nil) {
    self.memoryCapacity = memoryCapacity
    self.diskCapacity = diskCapacity
    super.init()
  }

  /// A cache of a session's own.
  public convenience init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
    self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, directory: nil)
  }
}

/// Where credentials are kept. Source: `Foundation.URLCredentialStorage`; an author's code says which one a session uses.
/// It is empty: credentials come from the delegate.
public final class URLCredentialStorage: NSObject, Sendable {
  /// The process's.
  public static let shared = URLCredentialStorage()

  override init() { super.init() }
}
