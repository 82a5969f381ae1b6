import APNs
import NIOCore
import Synchronization

/// Answers on their way, from whatever thread a backend has, to the event loop of their connection: many that come together
/// wake it once.
final class AnswerInbox: Sendable {
  let loop: any EventLoop
  private let connection: NIOLoopBoundBox<ProviderConnection?>
  private let waiting = Mutex(Waiting())

  private struct Waiting {
    var answers: [(stream: UInt32, answer: APNsAnswer)] = []
    /// The connection is gone, and its event loop may be.
    var isOver = false
  }

  init(on loop: any EventLoop) {
    self.loop = loop
    connection = .makeEmptyBox(valueType: ProviderConnection.self, eventLoop: loop)
  }

  /// On the event loop. With `nil` all that comes later is dropped.
  func serve(_ connection: ProviderConnection?) {
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

  /// Does it on the event loop, if the connection is still there.
  func perform(_ action: @escaping @Sendable (ProviderConnection) -> Void) {
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
    loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(min(answer.latency, 1e9) * 1e9))) {
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
