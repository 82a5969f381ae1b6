// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import Messages
import Synchronization
import URLSessionAPI

/// One inline request, performed by a separate thread.
final class CurlExchange: InlineExchange {
  private struct State {
    var hasBegun = false
    var isHeld = false
    var isCancelled = false
    var line: CurlLine?
  }

  /// Requests with the same value share a limit of concurrent requests.
  let place: String
  let request: URLRequest
  let body: InlineBody
  let observer: any InlineObserver
  let connections: CurlConnections
  private let state = Mutex(State())
  /// Signalled after every change that the thread may wait for.
  private let bell = MonotonicSemaphore()

  init(
    _ request: URLRequest, _ body: InlineBody, _ observer: any InlineObserver, on connections: CurlConnections
  ) {
    self.request = request
    self.body = body
    self.observer = observer
    self.connections = connections
    place = "\(request.url?.scheme ?? "")://\(request.url?.host ?? ""):\(request.url?.port ?? 0)"
  }

  // MARK: Any thread

  func resume() {
    let begins = state.withLock { state in
      state.isHeld = false
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if begins { connections.enqueue(self) } else { ring() }
  }

  func suspend() {
    state.withLock { $0.isHeld = true }
    ring()
  }

  func cancel() {
    let begins = state.withLock { state in
      state.isCancelled = true
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if begins { perform(inPlace: false) } else { connections.hurry(self) }
    ring()
  }

  func ring() {
    bell.signal()
    state.withLock { $0.line }?.wake()
  }

  /// - Parameter inPlace: whether it counts towards the limit of its host.
  func perform(inPlace: Bool) {
    let thread = Thread { [self] in
      let network = connections.network
      network.watch(self) { [weak self] in self?.ring() }
      let run = RequestRun(self)
      let failure = run.run()
      network.forget(self)
      if inPlace { connections.left(place) }
      observer.ended(failure, run.metrics)
    }
    thread.name = "URLSession"
    thread.start()
  }

  // MARK: The performing thread

  var isHeld: Bool { state.withLock { $0.isHeld } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// The handle to wake after a change.
  func has(_ line: CurlLine?) { state.withLock { $0.line = line } }

  /// Waits for a change, at most until `end`.
  func waitForChange(until end: ContinuousClock.Instant) {
    bell.wait(seconds: (end - .now) / .seconds(1))
  }

  /// Sends a question. The reply arrives with a change.
  func ask<Reply: Sendable>(_ question: (@escaping @Sendable (Reply) -> Void) -> Void) -> ExchangeResult<Reply> {
    let answer = ExchangeResult<Reply>()
    question { [bell] reply in
      answer.give(reply)
      bell.signal()
    }
    return answer
  }
}

/// A reply from another thread.
final class ExchangeResult<Reply: Sendable>: Sendable {
  private let state = Mutex<Reply?>(nil)

  var reply: Reply? { state.withLock { $0 } }
  func give(_ reply: Reply) { state.withLock { $0 = reply } }
}
