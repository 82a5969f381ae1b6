// SPDX-License-Identifier: Apache-2.0

/// The outputs of a service, in order, for one reader: requests to the rest of the host, and reports. The clock is not
/// advanced until the reader has handled an output: that is when it calls `next()` again.
package struct Outputs<Output: Sendable>: AsyncSequence, Sendable {
  package typealias Element = Output
  package typealias Failure = Never

  /// An entry of the stream. An entry without an output is a mark: the reader skips it and signals that it was reached.
  fileprivate struct Item: Sendable {
    var output: (Output, ClockWork)?
    var mark: AsyncStream<Void>.Continuation?
  }

  private let stream: AsyncStream<Item>
  private let continuation: AsyncStream<Item>.Continuation
  private let clock: any ControllableClock

  package init(_ clock: any ControllableClock) {
    self.clock = clock
    (stream, continuation) = AsyncStream.makeStream()
  }

  /// Adds an output. Any thread. After `finish()` it is dropped.
  package func yield(_ output: Output) {
    let work = clock.beginWork()
    if case .terminated = continuation.yield(Item(output: (output, work))) { clock.endWork(work) }
  }

  /// Returns when the reader has handled all outputs that were added before; at once after `finish()`, and when the
  /// current task is cancelled.
  package func passed() async {
    let (passed, mark) = AsyncStream.makeStream(of: Void.self)
    if case .terminated = continuation.yield(Item(mark: mark)) { return }
    for await _ in passed { return }
  }

  /// Ends the stream after the outputs that were added before.
  package func finish() { continuation.finish() }

  package func makeAsyncIterator() -> Iterator { Iterator(outputs: stream.makeAsyncIterator(), clock: clock) }

  package struct Iterator: AsyncIteratorProtocol {
    private var outputs: AsyncStream<Item>.Iterator
    private let clock: any ControllableClock
    private var work: ClockWork?

    fileprivate init(outputs: AsyncStream<Item>.Iterator, clock: any ControllableClock) {
      self.outputs = outputs
      self.clock = clock
    }

    package mutating func next() async -> Output? { await next(isolation: #isolation) }

    package mutating func next(isolation actor: isolated (any Actor)?) async -> Output? {
      if let work { clock.endWork(work) }
      work = nil
      while let next = await outputs.next(isolation: actor) {
        next.mark?.finish()
        guard let (output, work) = next.output else { continue }
        self.work = work
        return output
      }
      return nil
    }
  }
}
