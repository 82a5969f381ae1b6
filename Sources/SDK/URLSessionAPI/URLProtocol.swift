// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Messages
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

/// An inline request that a `URLProtocol` of the author loads.
final class ProtocolLoading: NSObject, InlineExchange {
  private enum Event: Sendable {
    case redirected(URLRequest, URLResponse)
    case answered(URLResponse)
    case received(Data)
    case ended((any Error)?)
  }

  private struct State: Sendable {
    var events: [Event] = []
    var hasBegun = false
    var isHeld = false
    /// The observer handles an event.
    var isBusy = false
    var isCancelled = false
    /// The end was passed on, or another request has taken its place.
    var isOver = false
    /// The request after a redirection.
    var next: (any InlineExchange)?

    mutating func nextEvent() -> Event? {
      guard !isBusy, !isHeld, !isOver, !events.isEmpty else { return nil }
      isBusy = true
      return events.removeFirst()
    }
  }

  /// Where the author's code runs.
  private static let authors = DispatchQueue(label: "URLProtocol")

  private let kind: URLProtocol.Type
  private let request: URLRequest
  private let observer: any InlineObserver
  /// Runs code of the author as code of its process.
  private let asAuthor: @Sendable (() -> Void) -> Void
  /// Makes the request after a redirection. It throws when the body cannot be read.
  private let following: @Sendable (URLRequest) throws(URLError) -> any InlineExchange
  private let state = Mutex(State())
  /// Where the observer is called.
  private let queue = DispatchQueue(label: "URLProtocolClient")
  private let began = Date()
  private weak let task: URLSessionTask?
  // Only used on the queue of the authors.
  nonisolated(unsafe) private var instance: URLProtocol?

  init(
    _ kind: URLProtocol.Type, request: URLRequest, of task: URLSessionTask, observer: any InlineObserver,
    asAuthor: @escaping @Sendable (() -> Void) -> Void,
    following: @escaping @Sendable (URLRequest) throws(URLError) -> any InlineExchange
  ) {
    self.kind = kind
    self.request = request
    self.task = task
    self.observer = observer
    self.asAuthor = asAuthor
    self.following = following
  }

  func resume() {
    let (isFirst, next) = state.withLock { state in
      defer { (state.hasBegun, state.isHeld) = (true, false) }
      return (!state.hasBegun, state.next)
    }
    if let next { return next.resume() }
    if isFirst { Self.authors.async { self.load() } } else { goOn() }
  }

  private func load() {
    guard !state.withLock({ $0.isOver || $0.isCancelled }) else { return }
    asAuthor {
      let instance = kind.init(request: kind.canonicalRequest(for: request), cachedResponse: nil, client: self)
      instance.task = task
      self.instance = instance
      instance.startLoading()
    }
  }

  func suspend() {
    let next = state.withLock { state in
      state.isHeld = true
      return state.next
    }
    next?.suspend()
  }

  func cancel() {
    let next = state.withLock { state in
      state.isCancelled = true
      return state.next
    }
    if let next { return next.cancel() }
    queue.async { self.end(URLError(.cancelled)) }
  }

  // MARK: Events

  private func put(_ events: Event...) {
    state.withLock { state in
      if !state.isOver { state.events += events }
    }
    queue.async { self.handleEvents() }
  }

  private func goOn() {
    queue.async {
      self.state.withLock { $0.isBusy = false }
      self.handleEvents()
    }
  }

  private func handleEvents() {
    while let event = state.withLock({ $0.nextEvent() }) {
      switch event {
      case .answered(let response):
        observer.answered(response) { goesOn in
          if goesOn { self.goOn() } else { self.cancel() }
        }
      case .received(let data):
        observer.received(data)
        state.withLock { $0.isBusy = false }
      case .ended(let error): end(error)
      case .redirected(let request, let response): redirect(to: request, by: response)
      }
    }
  }

  private func redirect(to request: URLRequest, by response: URLResponse) {
    guard let response = response as? HTTPURLResponse else { return follow(request) }
    observer.redirected(by: response, to: request) { next in
      if let next { return self.follow(next) }
      self.state.withLock { $0.events.insert(.answered(response), at: 0) }
      self.goOn()
    }
  }

  private func follow(_ request: URLRequest) {
    queue.async {
      let next: any InlineExchange
      do {
        next = try self.following(request)
      } catch {
        return self.end(error)
      }
      guard self.finish() else { return }
      let (isHeld, isCancelled) = self.state.withLock { state in
        state.next = next
        return (state.isHeld, state.isCancelled)
      }
      if isCancelled { next.cancel() } else if !isHeld { next.resume() }
    }
  }

  private func end(_ error: (any Error)?) {
    guard finish() else { return }
    observer.ended(error, TransferMetrics(began: began, ended: Date(), redirectCount: 0, attempts: 1))
  }

  /// Stops the author's code.
  ///
  /// - Returns: whether it was not over yet.
  private func finish() -> Bool {
    let isFirst = state.withLock { state in
      defer { (state.isOver, state.events) = (true, []) }
      return !state.isOver
    }
    guard isFirst else { return false }
    Self.authors.async {
      guard let instance = self.instance else { return }
      self.instance = nil
      self.asAuthor { instance.stopLoading() }
    }
    return true
  }
}

extension ProtocolLoading: URLProtocolClient {
  func urlProtocol(
    _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
  ) { put(.redirected(request, redirectResponse)) }

  func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
    put(.answered(cachedResponse.response), .received(cachedResponse.data), .ended(nil))
  }

  func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
  ) { put(.answered(response)) }

  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { put(.received(data)) }

  func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { put(.ended(nil)) }

  func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) { put(.ended(error)) }

  func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
    let reason = "\(kind): urlProtocol(_:didReceive:) for an authentication challenge is not simulated"
    put(.ended(URLError(.userAuthenticationRequired, userInfo: [NSLocalizedDescriptionKey: reason])))
  }

  func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
}
