import BackgroundURLSession
import Conversations
import Foundation
import Synchronization

/// One inline request, as whoever asked for it holds it. A thread of its own performs it.
final class ForegroundExchange: InlineExchange {
  private struct State {
    var hasBegun = false
    var isHeld = false
    var isCancelled = false
    var line: CurlLine?
  }

  /// Requests with the same one share the number that may run at a time.
  let place: String
  let request: URLRequest
  let body: InlineBody
  let observer: any InlineObserver
  let connections: ForegroundConnections
  private let state = Mutex(State())
  /// Rung whenever something has changed that the thread may wait for.
  private let bell = DispatchSemaphore(value: 0)

  init(
    _ request: URLRequest, _ body: InlineBody, _ observer: any InlineObserver, on connections: ForegroundConnections
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

  /// - Parameter inPlace: whether it is one of those that its host may have at a time.
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

  // MARK: The thread that performs it

  var isHeld: Bool { state.withLock { $0.isHeld } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// The line that is woken by a change.
  func has(_ line: CurlLine?) { state.withLock { $0.line = line } }

  /// Waits for a change, or until then.
  func waitForChange(until end: ContinuousClock.Instant) {
    let seconds = min(max((end - .now) / .seconds(1), 0), 86_400)
    _ = bell.wait(timeout: .now() + seconds)
  }

  /// Hands over a question; the answer arrives with a change.
  func ask<Reply: Sendable>(_ question: (@escaping @Sendable (Reply) -> Void) -> Void) -> Answer<Reply> {
    let answer = Answer<Reply>()
    question { [bell] reply in
      answer.give(reply)
      bell.signal()
    }
    return answer
  }
}

/// What somebody answers on another thread.
final class Answer<Reply: Sendable>: Sendable {
  private let state = Mutex<Reply?>(nil)

  var reply: Reply? { state.withLock { $0 } }
  func give(_ reply: Reply) { state.withLock { $0 = reply } }
}
