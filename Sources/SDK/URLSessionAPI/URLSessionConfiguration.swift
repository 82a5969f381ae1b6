// SPDX-License-Identifier: Apache-2.0

public import Foundation
import HTTPRules
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
  var sent = SessionConfiguration()
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
      timeoutIntervalForResource: sent.timeoutIntervalForResource,
      httpMaximumConnectionsPerHost: sent.httpMaximumConnectionsPerHost, waitsForConnectivity: waitsForConnectivity,
      cookies: cookies, setsCookies: httpShouldSetCookies, cookieAcceptPolicy: httpCookieAcceptPolicy,
      cacheCapacity: cache?.memoryCapacity ?? 0, client: client)
  }

  /// Adds the session's values to a request.
  func completed(_ request: URLRequest) -> URLRequest {
    var request = request
    for header in sent.httpAdditionalHeaders
    where header.count == 2 && request.value(forHTTPHeaderField: header[0]) == nil {
      request.setValue(header[1], forHTTPHeaderField: header[0])
    }
    if request.ownTimeout == nil { request.timeoutInterval = sent.timeoutIntervalForRequest }
    if request.cachePolicy == .useProtocolCachePolicy { request.cachePolicy = requestCachePolicy }
    request.allowsCellularAccess = request.allowsCellularAccess && sent.allowsCellularAccess
    request.allowsExpensiveNetworkAccess = request.allowsExpensiveNetworkAccess && sent.allowsExpensiveNetworkAccess
    request.allowsConstrainedNetworkAccess =
      request.allowsConstrainedNetworkAccess && sent.allowsConstrainedNetworkAccess
    return request
  }
}
