// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
import Messages
import Stores

/// The bus of a device: what is sent or replied waits for the transaction of all changes before it.
struct CommittedBus: BusConnection {
  let bus: any BusConnection
  let transactions: DeviceTransactions

  var address: Address { bus.address }
  var requestDeadline: Duration { bus.requestDeadline }
  var executor: any TaskExecutor { bus.executor }

  func request<R: Request>(
    _ request: R, to destination: Address, id: UUID, context: MessageContext, within limit: Duration,
    whenUnreachable: WhenUnreachable
  ) async throws(BusError) -> R.Reply {
    do throws(BusError) {
      try await transactions.committed()
      return try await bus.request(
        request, to: destination, id: id, context: context, within: limit, whenUnreachable: whenUnreachable)
    } catch {
      throw error  // back on the caller's executor, see BusConnection
    }
  }

  func submit<R: Request>(
    _ request: R, to destination: Address, id: UUID, context: MessageContext, within limit: Duration,
    whenUnreachable: WhenUnreachable, completion: @escaping @Sendable (Result<R.Reply, BusError>) -> Void
  ) {
    transactions.afterCommit {
      bus.submit(
        request, to: destination, id: id, context: context, within: limit, whenUnreachable: whenUnreachable,
        completion: completion)
    }
  }

  func deliver<E: Event>(_ event: E, to destination: Address, id: UUID, context: MessageContext) async throws(BusError)
  {
    do throws(BusError) {
      try await transactions.committed()
      try await bus.deliver(event, to: destination, id: id, context: context)
    } catch {
      throw error
    }
  }

  func submit<E: Event>(
    _ event: E, to destination: Address, id: UUID, context: MessageContext,
    completion: @escaping @Sendable (Result<Void, BusError>) -> Void
  ) {
    transactions.afterCommit {
      bus.submit(event, to: destination, id: id, context: context, completion: completion)
    }
  }

  func notify<N: Notice>(_ notice: N, to destination: Address, context: MessageContext) {
    transactions.afterCommit { bus.notify(notice, to: destination, context: context) }
  }

  func caughtUp() async { await bus.caughtUp() }

  func onRequest<R: Request>(_ type: R.Type, _ handler: @escaping @Sendable (R, Received) async throws -> R.Reply) {
    bus.onRequest(type) { [transactions] request, from in
      let reply = try await handler(request, from)
      try await transactions.committed()
      return reply
    }
  }

  func onEvent<E: Event>(_ type: E.Type, _ handler: @escaping @Sendable (E, Received) async throws -> Void) {
    bus.onEvent(type) { [transactions] event, from in
      try await handler(event, from)
      try await transactions.committed()
    }
  }

  func onNotice<N: Notice>(_ type: N.Type, _ handler: @escaping @Sendable (N, Received) async -> Void) {
    bus.onNotice(type, handler)
  }

  func onPresence(_ handler: @escaping @Sendable (Presence) -> Void) { bus.onPresence(handler) }

  func onReconnection(_ handler: @escaping @Sendable () -> Void) { bus.onReconnection(handler) }

  func onTurnedAway(_ handler: @escaping @Sendable (BusError) -> Void) { bus.onTurnedAway(handler) }

  func connect() { bus.connect() }

  func start() async throws(BusError) -> UInt32 {
    do throws(BusError) { return try await bus.start() } catch { throw error }
  }

  func leave() async { await bus.leave() }
}
