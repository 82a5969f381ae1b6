/// What a room asks of the others, in order; one reader. The clock is not advanced before the reader has done what it was
/// given: it has when it comes for the next.
package struct Intents<Intent: Sendable>: AsyncSequence, Sendable {
  package typealias Element = Intent
  package typealias Failure = Never

  private let stream: AsyncStream<(Intent, ClockWork)>
  private let continuation: AsyncStream<(Intent, ClockWork)>.Continuation
  private let clock: any DeviceClock

  package init(_ clock: any DeviceClock) {
    self.clock = clock
    (stream, continuation) = AsyncStream.makeStream()
  }

  /// Asks for one thing more. Any thread.
  package func yield(_ intent: Intent) { continuation.yield((intent, clock.beginWork())) }

  /// The reader is given what is left, and then `nil`.
  package func finish() { continuation.finish() }

  package func makeAsyncIterator() -> Iterator { Iterator(intents: stream.makeAsyncIterator(), clock: clock) }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate var intents: AsyncStream<(Intent, ClockWork)>.Iterator
    fileprivate let clock: any DeviceClock
    private var work: ClockWork?

    fileprivate init(intents: AsyncStream<(Intent, ClockWork)>.Iterator, clock: any DeviceClock) {
      self.intents = intents
      self.clock = clock
    }

    package mutating func next() async -> Intent? { await next(isolation: #isolation) }

    package mutating func next(isolation actor: isolated (any Actor)?) async -> Intent? {
      if let work { clock.endWork(work) }
      let next = await intents.next(isolation: actor)
      work = next?.1
      return next?.0
    }
  }
}
