import APNs
import NIOCore
import Synchronization

/// Answers on their way, from whatever thread a backend has, to the event loop of their connection: many that come together
/// wake it once.
final class AnswerInbox: Sendable {
  let loop: any EventLoop
  private let connection: NIOLoopBoundBox<ProviderConnection?>
  private let waiting = Mutex<[(stream: UInt32, answer: APNsAnswer)]>([])

  init(on loop: any EventLoop) {
    self.loop = loop
    connection = .makeEmptyBox(valueType: ProviderConnection.self, eventLoop: loop)
  }

  /// On the event loop. With `nil` all that comes later is dropped.
  func serve(_ connection: ProviderConnection?) { self.connection.value = connection }

  func put(_ answer: APNsAnswer, on stream: UInt32) {
    if loop.inEventLoop { return deliver(answer, on: stream) }
    let isFirst = waiting.withLock {
      $0.append((stream, answer))
      return $0.count == 1
    }
    if isFirst { loop.execute { self.deliverWaiting() } }
  }

  /// Does it on the event loop, if the connection is still there.
  func perform(_ action: @escaping @Sendable (ProviderConnection) -> Void) {
    loop.execute { self.connection.value.map(action) }
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
      let answers = $0
      $0 = []
      return answers
    }
    for late in answers where late.answer.latency > 0 { deliver(late.answer, on: late.stream) }
    connection.value?.answer(answers.lazy.filter { $0.answer.latency <= 0 }.map { ($0.stream, $0.answer) })
  }
}
