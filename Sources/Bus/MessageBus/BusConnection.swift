// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// The header fields that a handler gets with a message.
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

  /// The message context for messages that are sent because of this envelope.
  package var context: MessageContext { MessageContext(cause: id, correlation: correlation) }
}

/// The behaviour when no process is connected at the destination.
package enum WhenUnreachable: Sendable {
  /// Fails at once with `unreachable`.
  case fail
  /// Sends again, under the same id, when the destination connects, until the deadline.
  case wait
}

/// The connection of one address to the bus. The ZeroMQ and in-memory implementations behave identically.
///
/// Handlers run on the connection's executor, started in the order in which the envelopes arrived; a handler with
/// longer work awaits another actor. Set them before `start()`.
package protocol BusConnection: Sendable {
  nonisolated var address: Address { get }

  /// The deadline of a request without an explicit one.
  nonisolated var requestDeadline: Duration { get }

  /// The thread of the connection. A task on it also runs while other code occupies all threads of Swift concurrency.
  nonisolated var executor: any TaskExecutor { get }

  /// Sends a request, and waits for the reply.
  ///
  /// - Parameters:
  ///   - id: the envelope's id; a repeated request with the same id gets the same reply and is performed only once.
  ///   - limit: the deadline from now.
  /// - Throws: `unreachable`, `busy`, `refused`, `tooLarge` or the receiver's own code (definite); `deadline` or
  ///   `closed` (indefinite). `busy` also means that too many requests, replies and events of this connection wait for
  ///   the bus: then the request fails at once, whatever `whenUnreachable` is.
  func request<R: Request>(
    _ request: R, to destination: Address, id: UUID, context: MessageContext, within limit: Duration,
    whenUnreachable: WhenUnreachable
  ) async throws(BusError) -> R.Reply

  /// Sends a request from synchronous code: `completion` runs on the connection's executor and must be short.
  nonisolated func submit<R: Request>(
    _ request: R, to destination: Address, id: UUID, context: MessageContext, within limit: Duration,
    whenUnreachable: WhenUnreachable, completion: @escaping @Sendable (Result<R.Reply, BusError>) -> Void)

  /// Sends an event again, under one id, whenever its destination connects, until it is acknowledged. It waits for the
  /// bus however many messages do.
  ///
  /// - Throws: `refused` or `tooLarge`, or the error of the receiver's handler (definite); `closed`, also when the
  ///   waiting task is cancelled (indefinite): then it is no longer sent.
  func deliver<E: Event>(_ event: E, to destination: Address, id: UUID, context: MessageContext) async throws(BusError)

  /// Sends an event from synchronous code, in the order of the calls, together with notices and requests of this
  /// thread. `completion` runs on the connection's executor and must be short.
  nonisolated func submit<E: Event>(
    _ event: E, to destination: Address, id: UUID, context: MessageContext,
    completion: @escaping @Sendable (Result<Void, BusError>) -> Void)

  /// Sends a notice, which may be lost. Any thread; in order with other notices of this connection. When too many
  /// messages wait for the bus, the oldest notice is dropped. A notice that cannot be encoded, such as one that is too
  /// large, is dropped, and `body.refused` is recorded in the journal.
  nonisolated func notify<N: Notice>(_ notice: N, to destination: Address, context: MessageContext)

  /// Returns when everything sent before this call has been handed to the transport; at once when nothing waits.
  /// Senders of many messages await it, to bound the queue while the bus is slow or disconnected.
  func caughtUp() async

  /// Sets the handler for a request type. An error of the handler is sent to the requester: a `BusError` unchanged,
  /// others as `failed`. For an indefinite `closed` there is no reply: this process is ending, and the next instance
  /// gets the request.
  nonisolated func onRequest<R: Request>(
    _ type: R.Type, _ handler: @escaping @Sendable (R, Received) async throws -> R.Reply)

  /// Sets the handler for an event type. The event is acknowledged when the handler returns, so the handler must record
  /// the effect first. After an indefinite `closed` it is sent again to the next instance. A repetition is dropped
  /// while the handler runs; afterwards it is acknowledged again without a call of the handler.
  nonisolated func onEvent<E: Event>(_ type: E.Type, _ handler: @escaping @Sendable (E, Received) async throws -> Void)

  /// Sets the handler for a notice type. A notice whose body does not match its type is dropped, and `body.refused` is
  /// recorded in the journal.
  nonisolated func onNotice<N: Notice>(_ type: N.Type, _ handler: @escaping @Sendable (N, Received) async -> Void)

  /// Adds a handler for connections and disconnections of the addresses to which this connection has sent something.
  nonisolated func onPresence(_ handler: @escaping @Sendable (Presence) -> Void)

  /// Adds a handler, called on the connection's executor, for each later connection to a broker. Another broker does not
  /// know to whom this connection has sent something, and announces the presence of none of them.
  nonisolated func onReconnection(_ handler: @escaping @Sendable () -> Void)

  /// Adds a handler, called on the connection's executor, for the case that the bus no longer accepts this address's
  /// key.
  nonisolated func onTurnedAway(_ handler: @escaping @Sendable (BusError) -> Void)

  /// Connects before `start()`, so that messages can be sent and get their replies. A message whose handler is not set
  /// waits for `start()`. Any thread.
  nonisolated func connect()

  /// Connects, and returns when the broker has replied to the first hello. All handlers are set by now.
  /// - Returns: the generation of this process instance.
  func start() async throws(BusError) -> UInt32

  /// Sends a goodbye, waits at most a second for the reply and closes. Pending requests fail with `closed`.
  func leave() async
}

// A nonisolated function with typed throws that only propagates an error leaves its caller on the callee's executor
// (Swift 6.3.1, at -Onone and -O): an actor's `catch` then runs on the bus's thread. Catching and rethrowing restores
// the caller's executor. `Tests/BusTests/MessageBus` verifies this.
extension BusConnection {
  /// Sends a `request` with a new id, without waiting for a disconnected destination.
  ///
  /// - Parameter limit: the deadline from now; nil for `requestDeadline`.
  package func request<R: Request>(
    _ request: R, to destination: Address, context: MessageContext = .none, within limit: Duration? = nil,
    whenUnreachable: WhenUnreachable = .fail
  ) async throws(BusError) -> R.Reply {
    do throws(BusError) {
      return try await self.request(
        request, to: destination, id: .random(), context: context, within: limit ?? requestDeadline,
        whenUnreachable: whenUnreachable)
    } catch {
      throw error
    }
  }

  /// Sends an event with a new id.
  package func deliver<E: Event>(_ event: E, to destination: Address, context: MessageContext = .none)
    async throws(BusError)
  {
    do throws(BusError) {
      try await deliver(event, to: destination, id: .random(), context: context)
    } catch {
      throw error
    }
  }

  /// Records a notice in the journal without forwarding it.
  package nonisolated func record<N: Notice>(_ notice: N, context: MessageContext = .none) {
    notify(notice, to: .journal, context: context)
  }

  /// Records that a notice was dropped because of its body.
  nonisolated func recordRefusal(
    _ kind: Kind, from source: Address, to destination: Address, _ error: BusError, context: MessageContext
  ) {
    record(
      BodyRefused(kindName: kind.name, source: source, destination: destination, error: error), context: context)
  }
}

/// Carries a connection's frames. Confined to the connection's loop, as are its closures.
package protocol Transport: AnyObject {
  /// Begins to connect, and retries until it succeeds.
  ///
  /// - Parameter deliver: called for each connection, disconnection and frame.
  /// - Throws: when the transport cannot be created; an unreachable broker is not an error.
  func open(_ deliver: @escaping @Sendable (TransportEvent) -> Void) throws
  /// Sends a frame; `false` when the queue is full.
  func send(_ frame: [UInt8]) -> Bool
  /// Calls the handler once, when the queue has room again.
  func whenWritable(_ handler: @escaping @Sendable () -> Void)
  func close()
  /// Whether a transport created now would use another key than this one.
  var hasNewerKey: Bool { get }
}

/// An event of a transport.
package enum TransportEvent: Sendable {
  /// Connected: frames can be sent.
  case up
  /// Disconnected. The transport reconnects by itself.
  case down
  /// The broker rejected the key permanently. The transport does not reconnect.
  case turnedAway
  case received([UInt8])
}
