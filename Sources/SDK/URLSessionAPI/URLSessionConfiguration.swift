// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation
import Messages
import Synchronization

/// The configuration of a session. Source: `Foundation.URLSessionConfiguration`.
///
/// A session copies it. Later changes have no effect.
public final class URLSessionConfiguration: NSObject, NSCopying, Sendable {
  private let storage: Mutex<SessionValues>

  init(_ values: SessionValues) {
    storage = Mutex(values)
  }

  var values: SessionValues { storage.withLock { $0 } }

  subscript<Value: Sendable>(_ path: any WritableKeyPath<SessionValues, Value> & Sendable) -> Value {
    get { storage.withLock { $0[keyPath: path] } }
    set { storage.withLock { $0[keyPath: path] = newValue } }
  }

  /// Uses the process's shared cookies, cache and credentials.
  public class var `default`: URLSessionConfiguration {
    URLSessionConfiguration(
      SessionValues(cookieStorage: .shared, cache: .shared, credentialStorage: .shared))
  }

  /// Stores nothing on disk: cookies, cache and credentials exist as long as the session.
  public class var ephemeral: URLSessionConfiguration {
    URLSessionConfiguration(
      SessionValues(
        cookieStorage: HTTPCookieStorage(),
        cache: URLCache(memoryCapacity: URLCache.ephemeralCapacity, diskCapacity: 0),
        credentialStorage: URLCredentialStorage()))
  }

  /// The host system performs the transfers while the process is suspended or not running.
  ///
  /// - Parameter identifier: not empty; unique within the process's bundle, and the same after a relaunch.
  public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
    guard !identifier.isEmpty else { fatalError("the identifier of a background session must not be empty") }
    return URLSessionConfiguration(
      SessionValues(identifier: identifier, cookieStorage: .shared, credentialStorage: .shared))
  }

  public override func copy() -> Any { copy(with: nil) }
  public func copy(with zone: NSZone? = nil) -> Any { URLSessionConfiguration(values) }
}

/// The values of a configuration.
struct SessionValues: Sendable {
  var identifier: String?
  var sentConfiguration = SessionConfiguration()
  var waitsForConnectivity = false
  var shouldUseExtendedBackgroundIdleMode = false
  var requestCachePolicy = NSURLRequest.CachePolicy.useProtocolCachePolicy
  var networkServiceType = NSURLRequest.NetworkServiceType.default
  var httpShouldUsePipelining = false
  var httpShouldSetCookies = true
  var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
  var cookieStorage: HTTPCookieStorage?
  var cache: URLCache?
  var credentialStorage: URLCredentialStorage?
  var tlsMinimum = tls_protocol_version_t.TLSv12
  var tlsMaximum = tls_protocol_version_t.TLSv13
  var multipath = URLSessionConfiguration.MultipathServiceType.none
  var protocolClasses: [URLProtocol.Type] = []

  /// How the transfers of a background session use the product's cookies; `nil`: not at all.
  var cookies: CookieUse? {
    if cookieStorage == nil { return nil }
    return CookieUse(sends: httpShouldSetCookies, stores: httpCookieAcceptPolicy != .never)
  }

  /// The values that inline requests need, most of which the host does not receive.
  func inline(of client: ClientProfile) -> InlineConfiguration {
    let cookies: InlineConfiguration.Cookies =
      if let cookieStorage { cookieStorage === HTTPCookieStorage.shared ? .shared : .ofSession } else { .none }
    return InlineConfiguration(
      timeoutIntervalForResource: sentConfiguration.timeoutIntervalForResource,
      httpMaximumConnectionsPerHost: sentConfiguration.httpMaximumConnectionsPerHost,
      waitsForConnectivity: waitsForConnectivity,
      cookies: cookies, setsCookies: httpShouldSetCookies, cookieAcceptPolicy: httpCookieAcceptPolicy,
      cacheCapacity: cache?.memoryCapacity ?? 0, client: client, isBackground: identifier != nil)
  }

  /// Adds the session's values to a request.
  func completed(_ request: URLRequest) -> URLRequest {
    var request = request
    for header in sentConfiguration.httpAdditionalHeaders
    where header.count == 2 && request.value(forHTTPHeaderField: header[0]) == nil {
      request.setValue(header[1], forHTTPHeaderField: header[0])
    }
    if request.ownTimeout == nil { request.timeoutInterval = sentConfiguration.timeoutIntervalForRequest }
    if request.cachePolicy == .useProtocolCachePolicy { request.cachePolicy = requestCachePolicy }
    request.allowsCellularAccess = request.allowsCellularAccess && sentConfiguration.allowsCellularAccess
    request.allowsExpensiveNetworkAccess =
      request.allowsExpensiveNetworkAccess && sentConfiguration.allowsExpensiveNetworkAccess
    request.allowsConstrainedNetworkAccess =
      request.allowsConstrainedNetworkAccess && sentConfiguration.allowsConstrainedNetworkAccess
    return request
  }
}

extension URLSessionConfiguration {
  /// The identifier of a background session; `nil` for other sessions.
  public var identifier: String? { values.identifier }

  /// The app group whose container receives the files of a background session's downloads. Required in an extension:
  /// without it a background session is invalidated with `backgroundSessionRequiresSharedContainer` (-995).
  public var sharedContainerIdentifier: String? {
    get { self[\.sentConfiguration.sharedContainerIdentifier] }
    set { self[\.sentConfiguration.sharedContainerIdentifier] = newValue }
  }

  /// Whether the process is resumed or launched when the tasks of a background session have ended.
  public var sessionSendsLaunchEvents: Bool {
    get { self[\.sentConfiguration.sessionSendsLaunchEvents] }
    set { self[\.sentConfiguration.sessionSendsLaunchEvents] = newValue }
  }

  /// Whether the system may choose the time of a background session's transfers.
  public var isDiscretionary: Bool {
    get { self[\.sentConfiguration.isDiscretionary] }
    set { self[\.sentConfiguration.isDiscretionary] = newValue }
  }

  /// In seconds without data, after which a request fails or, in a background session, is retried.
  public var timeoutIntervalForRequest: TimeInterval {
    get { self[\.sentConfiguration.timeoutIntervalForRequest] }
    set { self[\.sentConfiguration.timeoutIntervalForRequest] = newValue }
  }

  /// Maximum duration of a transfer in seconds, including waiting and retries.
  public var timeoutIntervalForResource: TimeInterval {
    get { self[\.sentConfiguration.timeoutIntervalForResource] }
    set { self[\.sentConfiguration.timeoutIntervalForResource] = newValue }
  }

  /// How many connections to one host the session may use at a time.
  public var httpMaximumConnectionsPerHost: Int {
    get { self[\.sentConfiguration.httpMaximumConnectionsPerHost] }
    set { self[\.sentConfiguration.httpMaximumConnectionsPerHost] = newValue }
  }

  /// Header fields of all requests that do not set them. Names and values are converted to strings.
  public var httpAdditionalHeaders: [AnyHashable: Any]? {
    get {
      let fields = self[\.sentConfiguration.httpAdditionalHeaders].map { (AnyHashable($0[0]), $0[1] as Any) }
      return fields.isEmpty ? nil : Dictionary(fields) { $1 }
    }
    set {
      self[\.sentConfiguration.httpAdditionalHeaders] = (newValue ?? [:]).map { ["\($0.key.base)", "\($0.value)"] }
        .sorted { $0[0] < $1[0] }
    }
  }

  /// Whether requests may use a cellular network.
  public var allowsCellularAccess: Bool {
    get { self[\.sentConfiguration.allowsCellularAccess] }
    set { self[\.sentConfiguration.allowsCellularAccess] = newValue }
  }

  /// Whether requests may use an expensive network.
  public var allowsExpensiveNetworkAccess: Bool {
    get { self[\.sentConfiguration.allowsExpensiveNetworkAccess] }
    set { self[\.sentConfiguration.allowsExpensiveNetworkAccess] = newValue }
  }

  /// Whether requests may use a network in Low Data Mode.
  public var allowsConstrainedNetworkAccess: Bool {
    get { self[\.sentConfiguration.allowsConstrainedNetworkAccess] }
    set { self[\.sentConfiguration.allowsConstrainedNetworkAccess] = newValue }
  }

  /// Whether a request waits for a network instead of failing. A background session always waits (documented).
  public var waitsForConnectivity: Bool {
    get { self[\.waitsForConnectivity] }
    set { self[\.waitsForConnectivity] = newValue }
  }

  /// Stored only: connections are closed when the process is suspended.
  public var shouldUseExtendedBackgroundIdleMode: Bool {
    get { self[\.shouldUseExtendedBackgroundIdleMode] }
    set { self[\.shouldUseExtendedBackgroundIdleMode] = newValue }
  }

  /// The cache policy of requests with the default policy.
  public var requestCachePolicy: NSURLRequest.CachePolicy {
    get { self[\.requestCachePolicy] }
    set { self[\.requestCachePolicy] = newValue }
  }

  /// Stored only: the device has one type of traffic.
  public var networkServiceType: NSURLRequest.NetworkServiceType {
    get { self[\.networkServiceType] }
    set { self[\.networkServiceType] = newValue }
  }

  /// Stored only: requests are not pipelined.
  public var httpShouldUsePipelining: Bool {
    get { self[\.httpShouldUsePipelining] }
    set { self[\.httpShouldUsePipelining] = newValue }
  }

  /// Whether cookies are added to requests automatically.
  public var httpShouldSetCookies: Bool {
    get { self[\.httpShouldSetCookies] }
    set { self[\.httpShouldSetCookies] = newValue }
  }

  /// Which cookies of responses are stored.
  public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { self[\.httpCookieAcceptPolicy] }
    set { self[\.httpCookieAcceptPolicy] = newValue }
  }

  /// `nil` for no cookies.
  public var httpCookieStorage: HTTPCookieStorage? {
    get { self[\.cookieStorage] }
    set { self[\.cookieStorage] = newValue }
  }

  /// `nil` for no caching.
  public var urlCache: URLCache? {
    get { self[\.cache] }
    set { self[\.cache] = newValue }
  }

  /// `nil` for no credential storage.
  public var urlCredentialStorage: URLCredentialStorage? {
    get { self[\.credentialStorage] }
    set { self[\.credentialStorage] = newValue }
  }

  /// Stored only: connections use TLS 1.2 or 1.3.
  public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
    get { self[\.tlsMinimum] }
    set { self[\.tlsMinimum] = newValue }
  }

  /// Stored only: connections use TLS 1.2 or 1.3.
  public var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t {
    get { self[\.tlsMaximum] }
    set { self[\.tlsMaximum] = newValue }
  }

  /// Which network paths a connection uses. Source: `Foundation.URLSessionConfiguration.MultipathServiceType`.
  public enum MultipathServiceType: Int, Sendable {
    /// A single path.
    case none = 0
    /// A second path when the first is lost.
    case handover = 1
    /// The path with the lowest latency.
    case interactive = 2
    /// All paths together.
    case aggregate = 3
  }

  /// Stored only: the device has one path at a time.
  public var multipathServiceType: MultipathServiceType {
    get { self[\.multipath] }
    set { self[\.multipath] = newValue }
  }
}

// swift-format-ignore: TypeNamesShouldBeCapitalized, AlwaysUseLowerCamelCase
/// A version of TLS. Source: `Security.tls_protocol_version_t`.
public enum tls_protocol_version_t: UInt16, Sendable {
  case TLSv10 = 0x0301
  case TLSv11 = 0x0302
  case TLSv12 = 0x0303
  case TLSv13 = 0x0304
}

extension SessionValues {
  /// Reports the properties that an author has changed and that have no effect here: SESSION-17.
  func noticeUnsimulated(in process: HostedProcess) {
    let standard = SessionValues()
    let changed = [
      ("tlsMinimumSupportedProtocolVersion", tlsMinimum != standard.tlsMinimum),
      ("tlsMaximumSupportedProtocolVersion", tlsMaximum != standard.tlsMaximum),
      ("multipathServiceType", multipath != standard.multipath),
      ("networkServiceType", networkServiceType != standard.networkServiceType),
      ("httpShouldUsePipelining", httpShouldUsePipelining != standard.httpShouldUsePipelining),
      (
        "shouldUseExtendedBackgroundIdleMode",
        shouldUseExtendedBackgroundIdleMode != standard.shouldUseExtendedBackgroundIdleMode
      ),
    ]
    for (name, _) in changed.filter(\.1) {
      process.noticeUnsimulated(name, "the session keeps the value, which has no effect")
    }
  }
}

extension NSURLRequest.CachePolicy {
  /// Reports a policy that answers from a cache on a phone: responses are not cached here.
  func noticeUnsimulated(in process: HostedProcess) {
    switch self {
    case .returnCacheDataElseLoad:
      process.noticeUnsimulated("returnCacheDataElseLoad", "responses are not cached, so the server is asked each time")
    case .returnCacheDataDontLoad:
      process.noticeUnsimulated("returnCacheDataDontLoad", "responses are not cached, so the request fails with -1008")
    default: break
    }
  }
}
