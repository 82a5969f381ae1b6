// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Synchronization

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
  /// Makes the request after a redirection.
  private let following: @Sendable (URLRequest) -> any InlineExchange
  private let state = Mutex(State())
  /// Where the observer is called.
  private let queue = DispatchQueue(label: "URLProtocolClient")
  private let began = Date()
  private weak let task: URLSessionTask?
  // Only used on the queue of the authors.
  nonisolated(unsafe) private var instance: URLProtocol?

  init(
    _ kind: URLProtocol.Type, _ request: URLRequest, of task: URLSessionTask, _ observer: any InlineObserver,
    asAuthor: @escaping @Sendable (() -> Void) -> Void,
    following: @escaping @Sendable (URLRequest) -> any InlineExchange
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
      guard self.finish() else { return }
      let next = self.following(request)
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
