package import Conversations
package import Foundation

/// What a handler is told of the envelope that it handles.
package struct Received: Sendable, Hashable {
  package let id: UUID
  package let source: Address
  package let sourceGeneration: UInt32
  package let correlation: UUID?
  /// How often the sender has sent it before.
  package let attempt: UInt16

  package init(_ header: EnvelopeHeader) {
    self.id = header.id
    self.source = header.source
    self.sourceGeneration = header.sourceGeneration
    self.correlation = header.correlation
    self.attempt = header.attempt
  }

  /// The story for whatever is said because of this envelope.
  package var story: Story { Story(cause: id, correlation: correlation) }
}

/// What a sender does when nobody is at the destination.
package enum WhenUnreachable: Sendable {
  /// Fails at once with `unreachable`.
  case fail
  /// Sends again, under the same id, when the destination is there, until the deadline.
  case wait
}

/// One address's connection to the bus. The same over ZeroMQ and in memory, so that the rooms cannot tell.
///
/// Handlers run on the connection's executor, started in the order in which the envelopes came; a handler that has
/// much to do awaits an actor of its own. They are set before `start()`.
package protocol BusConnection: Sendable {
  nonisolated var address: Address { get }

  /// The deadline of a request that names none.
  nonisolated var requestDeadline: Duration { get }

  /// Asks, and waits for the reply.
  ///
  /// - Parameters:
  ///   - id: the envelope's id; a repeated request with the same id is answered without being done twice.
  ///   - limit: the deadline from now.
  /// - Throws: `unreachable`, `busy`, `refused`, `tooLarge` or the receiver's own code (definite); `deadline` or
  ///   `closed` (indefinite).
  func request<R: Request>(
    _ request: R, to destination: Address, id: UUID, story: Story, within limit: Duration,
    whenUnreachable: WhenUnreachable
  ) async throws(BusError) -> R.Reply

  /// The same for code that is not asynchronous: `completion` runs on the connection's executor and must be short.
  nonisolated func submit<R: Request>(
    _ request: R, to destination: Address, id: UUID, story: Story, within limit: Duration,
    whenUnreachable: WhenUnreachable, completion: @escaping @Sendable (Result<R.Reply, BusError>) -> Void)

  /// Sends an event again and again, under one id, whenever its destination comes, until it is acknowledged.
  ///
  /// - Throws: `refused` or `tooLarge`, or what the receiver's handler threw (definite); `closed`, also when the task
  ///   that waits is cancelled (indefinite): then it is no longer sent.
  func deliver<E: Event>(_ event: E, to destination: Address, id: UUID, story: Story) async throws(BusError)

  /// The same for code that is not asynchronous: it is said in the order of the calls, among notices and requests of this
  /// thread. `completion` runs on the connection's executor and must be short.
  nonisolated func submit<E: Event>(
    _ event: E, to destination: Address, id: UUID, story: Story,
    completion: @escaping @Sendable (Result<Void, BusError>) -> Void)

  /// Says something that may be lost. Any thread; in order with other notices of this connection. One that cannot be
  /// written, such as one that is too large, is lost, and `body.refused` stands in the journal.
  nonisolated func notify<N: Notice>(_ notice: N, to destination: Address, story: Story)

  /// Returns when all that was said before this call has been handed to the line; at once when nothing waits. Whoever
  /// says much waits for it, so that what a bus that is away or slow cannot take does not pile up here.
  func caughtUp() async

  /// Answers requests of a kind. What the handler throws reaches the sender: a `BusError` as it is, anything else as
  /// `failed`.
  nonisolated func onRequest<R: Request>(
    _ type: R.Type, _ handler: @escaping @Sendable (R, Received) async throws -> R.Reply)

  /// Handles events of a kind. The event is acknowledged when the handler returns: record the effect first. One that
  /// comes again while the first is being handled is dropped; after that it is acknowledged again and not handled.
  nonisolated func onEvent<E: Event>(_ type: E.Type, _ handler: @escaping @Sendable (E, Received) async throws -> Void)

  /// Hears notices of a kind. One whose body has not the kind's shape is dropped, and `body.refused` stands in the
  /// journal.
  nonisolated func onNotice<N: Notice>(_ type: N.Type, _ handler: @escaping @Sendable (N, Received) async -> Void)

  /// Hears of addresses that come and go: those that this connection has sent something to.
  nonisolated func onPresence(_ handler: @escaping @Sendable (Presence) -> Void)

  /// Hears on the connection's executor that the bus does not accept this address's key any longer.
  nonisolated func onTurnedAway(_ handler: @escaping @Sendable (BusError) -> Void)

  /// Connects, and returns when the broker has answered the first hello.
  /// - Returns: which life of the address this is.
  func start() async throws(BusError) -> UInt32

  /// Says goodbye, waits at most a second for the answer and closes. What is under way fails with `closed`.
  func leave() async
}

// An error that a nonisolated function with typed throws only passes on leaves its caller on the callee's executor
// (Swift 6.3.1, at -Onone and -O): an actor's `catch` then runs on the bus's thread. Caught and thrown anew, it comes
// back to where it belongs. `MessageBusTests` holds this.
extension BusConnection {
  /// `request` with a new id and no waiting for an absent destination.
  ///
  /// - Parameter limit: the deadline from now; nil for `requestDeadline`.
  package func request<R: Request>(
    _ request: R, to destination: Address, story: Story = .none, within limit: Duration? = nil,
    whenUnreachable: WhenUnreachable = .fail
  ) async throws(BusError) -> R.Reply {
    do throws(BusError) {
      return try await self.request(
        request, to: destination, id: UUID(), story: story, within: limit ?? requestDeadline,
        whenUnreachable: whenUnreachable)
    } catch {
      throw error
    }
  }

  /// `deliver` under a new id.
  package func deliver<E: Event>(_ event: E, to destination: Address, story: Story = .none) async throws(BusError) {
    do throws(BusError) {
      try await deliver(event, to: destination, id: UUID(), story: story)
    } catch {
      throw error
    }
  }

  /// Says something for the record: it is written to the journal and reaches nobody.
  package nonisolated func record<N: Notice>(_ notice: N, story: Story = .none) {
    notify(notice, to: .journal, story: story)
  }

  /// A notice is lost, as any may be, but not in silence.
  nonisolated func recordRefusal(
    _ kind: Kind, from source: Address, to destination: Address, _ error: BusError, story: Story
  ) {
    record(
      BodyRefused(kindName: kind.name, source: source, destination: destination, error: error), story: story)
  }
}
