// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Messages
import Synchronization

/// The namespace of a request's enumerations. Source: `Foundation.NSURLRequest`; a request itself is a `URLRequest`.
public enum NSURLRequest {
  /// How a request uses caches. Source: `Foundation.NSURLRequest.CachePolicy`.
  public enum CachePolicy: UInt, Sendable {
    /// As the protocol defines.
    case useProtocolCachePolicy = 0
    /// Ignores the local cache.
    case reloadIgnoringLocalCacheData = 1
    /// Uses a cached response regardless of its age, or else sends the request.
    case returnCacheDataElseLoad = 2
    /// Uses a cached response regardless of its age, or else fails.
    case returnCacheDataDontLoad = 3
    /// Ignores all caches.
    case reloadIgnoringLocalAndRemoteCacheData = 4
    /// Uses a cached response if the server confirms it.
    case reloadRevalidatingCacheData = 5

    public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
  }

  /// The type of traffic. Source: `Foundation.NSURLRequest.NetworkServiceType`.
  public enum NetworkServiceType: UInt, Sendable {
    /// Standard traffic.
    case `default` = 0
    case voip = 1
    case video = 2
    case background = 3
    case voice = 4
    /// Data that the user is waiting for.
    case responsiveData = 6
    /// Streaming audio or video.
    case avStreaming = 8
    /// Responsive audio or video.
    case responsiveAV = 9
    /// Call signalling.
    case callSignaling = 11
  }
}

/// A request for a URL. Source: `Foundation.URLRequest`.
public struct URLRequest: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  public typealias CachePolicy = NSURLRequest.CachePolicy
  public typealias NetworkServiceType = NSURLRequest.NetworkServiceType

  public var url: URL?
  public var cachePolicy: CachePolicy
  /// The main document of which this request loads a part.
  public var mainDocumentURL: URL?
  /// Stored only: the device has one type of traffic.
  public var networkServiceType = NetworkServiceType.default
  /// Whether it may use a cellular network.
  public var allowsCellularAccess = true
  /// Whether it may use an expensive network.
  public var allowsExpensiveNetworkAccess = true
  /// Whether it may use a network in Low Data Mode.
  public var allowsConstrainedNetworkAccess = true
  /// Stored only: requests use HTTP/1.1 or HTTP/2.
  public var assumesHTTP3Capable = false
  /// Whether stored cookies are sent and received cookies are stored.
  public var httpShouldHandleCookies = true
  /// Stored only: requests are not pipelined.
  public var httpShouldUsePipelining = false
  public var httpBody: Data?
  public var httpBodyStream: InputStream? {
    get { stream }
    set { stream = newValue }
  }
  private var method = "GET"
  private var fields: [Field] = []
  /// The timeout that the author set; `nil` for the session's.
  private(set) var ownTimeout: TimeInterval?
  // Read once, by the performer of the request. Apple's URLRequest also carries the stream by reference.
  nonisolated(unsafe) private var stream: InputStream?

  private struct Field: Hashable, Sendable {
    let name: String
    var value: String

    func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
  }

  /// A `GET` request. A timeout of 60 seconds, the default, is treated as not set: the session's timeout applies.
  public init(
    url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = URLRequest.timeout
  ) {
    self.url = url
    self.cachePolicy = cachePolicy
    ownTimeout = timeoutInterval == URLRequest.timeout ? nil : timeoutInterval
  }

  /// A placeholder for a task from resume data, whose URL is not known.
  init(nothing: Void) { cachePolicy = .useProtocolCachePolicy }

  /// The default timeout, in seconds.
  public static var timeout: TimeInterval { 60 }

  /// In seconds without data, after which the request fails or, in a background session, is retried.
  public var timeoutInterval: TimeInterval {
    get { ownTimeout ?? URLRequest.timeout }
    set { ownTimeout = newValue }
  }

  /// The method, in upper case. Default: `GET`.
  public var httpMethod: String? {
    get { method }
    set { method = newValue ?? "GET" }
  }

  /// The header fields. Names are case-insensitive.
  public var allHTTPHeaderFields: [String: String]? {
    get { fields.isEmpty ? nil : Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }) }
    set {
      fields = (newValue ?? [:]).sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) }
    }
  }

  public func value(forHTTPHeaderField field: String) -> String? {
    fields.first { $0.isNamed(field) }?.value
  }

  /// Sets a header field, or removes it with `nil`.
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
    guard let value else { return fields.removeAll { $0.isNamed(field) } }
    guard let index = fields.firstIndex(where: { $0.isNamed(field) }) else {
      return fields.append(Field(name: field, value: value))
    }
    fields[index].value = value
  }

  /// Appends a value to a header field, separated by a comma.
  public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
    setValue(self.value(forHTTPHeaderField: field).map { "\($0),\(value)" } ?? value, forHTTPHeaderField: field)
  }

  public var description: String { url?.absoluteString ?? "url: nil" }
  public var debugDescription: String { description }
}

extension URLRequest {
  /// The request in messages.
  var transfer: TransferRequest {
    TransferRequest(
      url: url?.absoluteString ?? "", method: method, headers: fields.map { [$0.name, $0.value] }, body: httpBody,
      timeoutInterval: ownTimeout, allowsCellularAccess: allowsCellularAccess,
      allowsExpensiveNetworkAccess: allowsExpensiveNetworkAccess,
      allowsConstrainedNetworkAccess: allowsConstrainedNetworkAccess,
      handlesCookies: httpShouldHandleCookies ? nil : false)
  }

  /// A request from the host.
  init(_ transfer: TransferRequest) {
    cachePolicy = .useProtocolCachePolicy
    url = URL(string: transfer.url)
    method = transfer.method
    httpBody = transfer.body
    ownTimeout = transfer.timeoutInterval
    allowsCellularAccess = transfer.allowsCellularAccess
    allowsExpensiveNetworkAccess = transfer.allowsExpensiveNetworkAccess
    allowsConstrainedNetworkAccess = transfer.allowsConstrainedNetworkAccess
    httpShouldHandleCookies = transfer.handlesCookies ?? true
    for header in transfer.headers where header.count == 2 { addValue(header[1], forHTTPHeaderField: header[0]) }
  }
}

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
