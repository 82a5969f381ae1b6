// SPDX-License-Identifier: Apache-2.0

import APNs
import Archive
import NIOCore
import Synchronization

/// Passes responses from any thread to the event loop of their connection. Responses that arrive together wake the loop
/// once.
final class ResponseMailbox: Sendable {
  let loop: any EventLoop
  private let connection: NIOLoopBoundBox<APNsConnectionHandler?>
  private let waiting = Mutex(Waiting())

  private struct Waiting {
    var answers: [(stream: UInt32, answer: APNsAnswer)] = []
    /// True when the connection is closed; its event loop may be gone.
    var isOver = false
  }

  init(on loop: any EventLoop) {
    self.loop = loop
    connection = .makeEmptyBox(valueType: APNsConnectionHandler.self, eventLoop: loop)
  }

  /// Sets the connection; with `nil`, later responses are dropped. Call on the event loop.
  func serve(_ connection: APNsConnectionHandler?) {
    self.connection.value = connection
    waiting.withLock { $0.isOver = connection == nil }
  }

  func put(_ answer: APNsAnswer, on stream: UInt32) {
    if loop.inEventLoop { return deliver(answer, on: stream) }
    waiting.withLock {
      guard !$0.isOver else { return }
      $0.answers.append((stream, answer))
      if $0.answers.count == 1 { loop.execute { self.deliverWaiting() } }
    }
  }

  /// Performs an action on the event loop if the connection still exists.
  func perform(_ action: @escaping @Sendable (APNsConnectionHandler) -> Void) {
    waiting.withLock {
      guard !$0.isOver else { return }
      loop.execute { self.connection.value.map(action) }
    }
  }

  private func deliver(_ answer: APNsAnswer, on stream: UInt32) {
    guard answer.latency > 0 else {
      connection.value?.answer(CollectionOfOne((stream, answer)))
      return
    }
    loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(saturating: min(answer.latency, 1e9) * 1e9))) {
      self.connection.value?.answer(CollectionOfOne((stream, answer)))
    }
  }

  private func deliverWaiting() {
    let answers = waiting.withLock {
      let answers = $0.answers
      $0.answers = []
      return answers
    }
    for late in answers where late.answer.latency > 0 { deliver(late.answer, on: late.stream) }
    connection.value?.answer(answers.lazy.filter { $0.answer.latency <= 0 }.map { ($0.stream, $0.answer) })
  }
}
