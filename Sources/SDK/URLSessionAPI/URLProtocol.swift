// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization

/// Loads requests with the author's own code, such as recorded responses. Source: `Foundation.URLProtocol`.
///
/// A subclass overrides `canInit(with:)`, `canonicalRequest(for:)`, `startLoading()` and `stopLoading()`. A session asks
/// the classes of its configuration's `protocolClasses` in their order, `URLSession.shared` those of `registerClass`.
/// When none loads a request, the session loads it itself. Background sessions ask none (documented).
///
/// `startLoading()` and `stopLoading()` of all instances run in sequence on one queue of the process, which has no run
/// loop. An initializer that a subclass overrides has to be `required`, as in the open source Foundation.
open class URLProtocol: NSObject {
  /// The canonical form of the request to load.
  public let request: URLRequest
  /// Always `nil`: responses are not cached here.
  public let cachedResponse: CachedURLResponse?
  /// Receives what is loaded, from any thread.
  public let client: (any URLProtocolClient)?
  /// The task whose request it loads.
  public internal(set) weak var task: URLSessionTask?

  private static let registered = Mutex<[URLProtocol.Type]>([])

  public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
    self.request = request
    self.cachedResponse = cachedResponse
    self.client = client
  }

  /// Whether this class loads a request. A subclass overrides it.
  open class func canInit(with request: URLRequest) -> Bool { false }

  /// Whether this class loads the request of a task.
  open class func canInit(with task: URLSessionTask) -> Bool { task.currentRequest.map { canInit(with: $0) } ?? false }

  /// The form of a request with which it is loaded.
  open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  /// Whether two requests have the same cached response.
  open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
    canonicalRequest(for: a) == canonicalRequest(for: b)
  }

  /// Begins to load the request, and tells the client what was loaded. A subclass overrides it.
  open func startLoading() { fatalError("\(type(of: self)) does not override startLoading()") }

  /// Ends the loading: after the client has received the end, or when the task is cancelled. A subclass overrides it.
  open func stopLoading() { fatalError("\(type(of: self)) does not override stopLoading()") }

  /// Makes `URLSession.shared` ask a class, before those that were registered earlier.
  ///
  /// - Returns: whether it is a subclass of `URLProtocol`.
  @discardableResult
  open class func registerClass(_ protocolClass: AnyClass) -> Bool {
    guard let protocolClass = protocolClass as? URLProtocol.Type else { return false }
    registered.withLock { $0.insert(protocolClass, at: 0) }
    return true
  }

  /// Ends the effect of `registerClass`.
  open class func unregisterClass(_ protocolClass: AnyClass) {
    registered.withLock { $0.removeAll { $0 === protocolClass } }
  }

  static var registeredClasses: [URLProtocol.Type] { registered.withLock(\.self) }
}

/// Receives what a `URLProtocol` loads. Source: `Foundation.URLProtocolClient`.
public protocol URLProtocolClient: NSObjectProtocol {
  /// The request was redirected. The protocol's instance is stopped, and the new request is loaded, unless the task's
  /// delegate accepts the redirection itself as the response.
  func urlProtocol(
    _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
  /// The instance's `cachedResponse` is the result.
  func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
  /// The head of the response. Nothing is cached here.
  func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy)
  /// The next bytes of the body.
  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
  /// The body is complete.
  func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
  /// The request failed. The task ends with this error.
  func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
  /// Not simulated: the task fails with `userAuthenticationRequired` and the reason.
  func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
  /// Not simulated: no challenge was passed on.
  func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}

/// A response with its body. Source: `Foundation.CachedURLResponse`; nothing is cached here.
public final class CachedURLResponse: NSObject, Sendable {
  public let response: URLResponse
  public let data: Data
  public let storagePolicy: URLCache.StoragePolicy

  public init(response: URLResponse, data: Data, storagePolicy: URLCache.StoragePolicy = .allowed) {
    self.response = response
    self.data = data
    self.storagePolicy = storagePolicy
  }
}

extension URLCache {
  /// Where a response may be cached. Source: `Foundation.URLCache.StoragePolicy`.
  public enum StoragePolicy: UInt, Sendable {
    case allowed = 0
    case allowedInMemoryOnly = 1
    case notAllowed = 2
  }
}

extension URLSessionConfiguration {
  /// The subclasses of `URLProtocol` that may load the session's requests, before the session itself does. Empty by
  /// default, where Apple's systems list their own classes.
  public var protocolClasses: [AnyClass]? {
    get { self[\.protocolClasses] }
    set { self[\.protocolClasses] = (newValue ?? []).compactMap { $0 as? URLProtocol.Type } }
  }
}
