/// What a room asks of the others, in order; one reader. The clock is not advanced before the reader has done what it was
/// given: it has when it comes for the next.
package struct Intents<Intent: Sendable>: AsyncSequence, Sendable {
  package typealias Element = Intent
  package typealias Failure = Never

  /// An entry of the stream. One without an intent is a mark: the reader skips it and signals that it was reached.
  fileprivate struct Item: Sendable {
    var intent: (Intent, ClockWork)?
    var mark: AsyncStream<Void>.Continuation?
  }

  private let stream: AsyncStream<Item>
  private let continuation: AsyncStream<Item>.Continuation
  private let clock: any DeviceClock

  package init(_ clock: any DeviceClock) {
    self.clock = clock
    (stream, continuation) = AsyncStream.makeStream()
  }

  /// Asks for one thing more. Any thread.
  package func yield(_ intent: Intent) { continuation.yield(Item(intent: (intent, clock.beginWork()))) }

  /// Returns when the reader has done all that it was asked for until now; at once after `finish()`.
  package func passed() async {
    let (passed, mark) = AsyncStream.makeStream(of: Void.self)
    if case .terminated = continuation.yield(Item(mark: mark)) { return }
    for await _ in passed { return }
  }

  /// The reader is given what is left, and then `nil`.
  package func finish() { continuation.finish() }

  package func makeAsyncIterator() -> Iterator { Iterator(intents: stream.makeAsyncIterator(), clock: clock) }

  package struct Iterator: AsyncIteratorProtocol {
    private var intents: AsyncStream<Item>.Iterator
    private let clock: any DeviceClock
    private var work: ClockWork?

    fileprivate init(intents: AsyncStream<Item>.Iterator, clock: any DeviceClock) {
      self.intents = intents
      self.clock = clock
    }

    package mutating func next() async -> Intent? { await next(isolation: #isolation) }

    package mutating func next(isolation actor: isolated (any Actor)?) async -> Intent? {
      if let work { clock.endWork(work) }
      work = nil
      while let next = await intents.next(isolation: actor) {
        next.mark?.finish()
        guard let (intent, work) = next.intent else { continue }
        self.work = work
        return intent
      }
      return nil
    }
  }
}
