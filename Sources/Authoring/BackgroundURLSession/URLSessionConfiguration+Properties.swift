import Conversations
public import Foundation

extension URLSessionConfiguration {
  /// The identifier of a background session; `nil` of any other.
  public var identifier: String? { values.identifier }

  /// The app group whose folder takes the downloads. Required in an extension: without it a background session is
  /// invalidated with `backgroundSessionRequiresSharedContainer` (-995).
  public var sharedContainerIdentifier: String? {
    get { self[\.sent.sharedContainerIdentifier] }
    set { self[\.sent.sharedContainerIdentifier] = newValue }
  }

  /// Whether the process is resumed or launched when a background session's tasks have ended.
  public var sessionSendsLaunchEvents: Bool {
    get { self[\.sent.sessionSendsLaunchEvents] }
    set { self[\.sent.sessionSendsLaunchEvents] = newValue }
  }

  /// Whether the system may choose the time of a background session's transfers.
  public var isDiscretionary: Bool {
    get { self[\.sent.isDiscretionary] }
    set { self[\.sent.isDiscretionary] = newValue }
  }

  /// Seconds without data after which a request fails or, in a background session, is tried again.
  public var timeoutIntervalForRequest: TimeInterval {
    get { self[\.sent.timeoutIntervalForRequest] }
    set { self[\.sent.timeoutIntervalForRequest] = newValue }
  }

  /// Seconds that a transfer may take in all, waiting and further tries included.
  public var timeoutIntervalForResource: TimeInterval {
    get { self[\.sent.timeoutIntervalForResource] }
    set { self[\.sent.timeoutIntervalForResource] = newValue }
  }

  /// How many connections to one host the session may use at a time.
  public var httpMaximumConnectionsPerHost: Int {
    get { self[\.sent.httpMaximumConnectionsPerHost] }
    set { self[\.sent.httpMaximumConnectionsPerHost] = newValue }
  }

  /// Header fields for all requests that do not set them themselves. Names and values are texts.
  public var httpAdditionalHeaders: [AnyHashable: Any]? {
    get {
      let fields = self[\.sent.httpAdditionalHeaders].map { (AnyHashable($0[0]), $0[1] as Any) }
      return fields.isEmpty ? nil : Dictionary(fields) { $1 }
    }
    set {
      self[\.sent.httpAdditionalHeaders] = (newValue ?? [:]).map { ["\($0.key.base)", "\($0.value)"] }
        .sorted { $0[0] < $1[0] }
    }
  }

  /// Whether a cellular network will do.
  public var allowsCellularAccess: Bool {
    get { self[\.sent.allowsCellularAccess] }
    set { self[\.sent.allowsCellularAccess] = newValue }
  }

  /// Whether an expensive network will do.
  public var allowsExpensiveNetworkAccess: Bool {
    get { self[\.sent.allowsExpensiveNetworkAccess] }
    set { self[\.sent.allowsExpensiveNetworkAccess] = newValue }
  }

  /// Whether a network that is to be used sparingly will do.
  public var allowsConstrainedNetworkAccess: Bool {
    get { self[\.sent.allowsConstrainedNetworkAccess] }
    set { self[\.sent.allowsConstrainedNetworkAccess] = newValue }
  }

  /// Whether a request waits for a network instead of failing. A background session always waits (documented).
  public var waitsForConnectivity: Bool {
    get { self[\.waitsForConnectivity] }
    set { self[\.waitsForConnectivity] = newValue }
  }

  /// Kept: connections are closed when the process is suspended.
  public var shouldUseExtendedBackgroundIdleMode: Bool {
    get { self[\.shouldUseExtendedBackgroundIdleMode] }
    set { self[\.shouldUseExtendedBackgroundIdleMode] = newValue }
  }

  /// What requests that say nothing may take from a cache.
  public var requestCachePolicy: NSURLRequest.CachePolicy {
    get { self[\.requestCachePolicy] }
    set { self[\.requestCachePolicy] = newValue }
  }

  /// What the traffic is for. Kept: the device has one kind of traffic.
  public var networkServiceType: NSURLRequest.NetworkServiceType {
    get { self[\.networkServiceType] }
    set { self[\.networkServiceType] = newValue }
  }

  /// Kept: no request goes out before the answer to an earlier one is there.
  public var httpShouldUsePipelining: Bool {
    get { self[\.httpShouldUsePipelining] }
    set { self[\.httpShouldUsePipelining] = newValue }
  }

  /// Whether cookies are put into requests by themselves.
  public var httpShouldSetCookies: Bool {
    get { self[\.httpShouldSetCookies] }
    set { self[\.httpShouldSetCookies] = newValue }
  }

  /// Which cookies of responses are kept.
  public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { self[\.httpCookieAcceptPolicy] }
    set { self[\.httpCookieAcceptPolicy] = newValue }
  }

  /// Where cookies are kept; `nil` for none.
  public var httpCookieStorage: HTTPCookieStorage? {
    get { self[\.cookieStorage] }
    set { self[\.cookieStorage] = newValue }
  }

  /// Where responses are kept; `nil` for none.
  public var urlCache: URLCache? {
    get { self[\.cache] }
    set { self[\.cache] = newValue }
  }

  /// Where credentials are kept; `nil` for none.
  public var urlCredentialStorage: URLCredentialStorage? {
    get { self[\.credentialStorage] }
    set { self[\.credentialStorage] = newValue }
  }

  /// Kept: connections use TLS 1.2 or 1.3.
  public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
    get { self[\.tlsMinimum] }
    set { self[\.tlsMinimum] = newValue }
  }

  /// Kept: connections use TLS 1.2 or 1.3.
  public var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t {
    get { self[\.tlsMaximum] }
    set { self[\.tlsMaximum] = newValue }
  }

  /// Which paths a connection may use at a time. Source: `Foundation.URLSessionConfiguration.MultipathServiceType`.
  public enum MultipathServiceType: Int, Sendable {
    /// One.
    case none = 0
    /// Another when the first is lost.
    case handover = 1
    /// The one that answers first.
    case interactive = 2
    /// All together.
    case aggregate = 3
  }

  /// Kept: the device has one path at a time.
  public var multipathServiceType: MultipathServiceType {
    get { self[\.multipath] }
    set { self[\.multipath] = newValue }
  }
}

// swift-format-ignore: TypeNamesShouldBeCapitalized, AlwaysUseLowerCamelCase
/// A version of TLS. Source: `Security.tls_protocol_version_t`.
public enum tls_protocol_version_t: UInt16, Sendable {
  /// TLS 1.0.
  case TLSv10 = 0x0301
  /// TLS 1.1.
  case TLSv11 = 0x0302
  /// TLS 1.2.
  case TLSv12 = 0x0303
  /// TLS 1.3.
  case TLSv13 = 0x0304
}
