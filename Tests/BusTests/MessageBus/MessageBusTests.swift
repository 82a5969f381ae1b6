// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing
import ZeroMQ

@testable import MessageBus

private let host = Address.host("phone")
private let agent = Address.agent("phone", 1)
private let app = Address.app("phone", "com.example.App")
private let widget = Address.widgetExtension("phone", "com.example.App.Widget")

/// A notice with the message type of a signal and another body.
private struct MalformedSignal: Notice {
  static let kind = RaiseSignal.kind
  let signal: String
}

private struct MalformedRequest: Request {
  static let kind = SignalProcess.kind
  typealias Reply = Done
  let signal: String
}

private struct MalformedReload: Event {
  static let kind = ReloadTimelines.kind
  var widgetKind = 7
}

/// The guarantees of a connection, with both ends on the in-memory bus.
@Suite(.timeLimit(.minutes(1))) struct `A connection to the bus` {
  let bus = InMemoryBus()

  func connected(_ address: Address) async throws -> Connection {
    let connection = bus.connection(address)
    _ = try await connection.start()
    return connection
  }

  @Test func `a request returns the reply of its destination`() async throws {
    let answering = try await connected(agent)
    answering.onRequest(ListProcesses.self) { _, _ in
      ListProcesses.Reply(incarnation: UUID(), children: [])
    }
    let asking = try await connected(host)
    let reply = try await asking.request(ListProcesses(), to: agent)
    #expect(reply.children.isEmpty)
  }

  @Test func `a connection gets replies before it is started, and a message without a handler waits for the start`()
    async throws
  {
    let answering = bus.connection(host)
    answering.onRequest(CloseSession.self) { _, _ in Done() }
    _ = try await answering.start()
    let early = bus.connection(app)
    early.connect()
    _ = try await early.request(CloseSession(identifier: "daily"), to: host)
    async let acknowledged: Void = answering.deliver(AppActivation(isActive: true), to: app)
    _ = await bus.first { $0.header.kind == AppActivation.kind }
    // The event arrives before this reply.
    _ = try await early.request(CloseSession(identifier: "daily"), to: host)
    let (events, arrived) = AsyncStream.makeStream(of: Bool.self)
    early.onEvent(AppActivation.self) { event, _ in arrived.yield(event.isActive) }
    _ = try await early.start()
    try await acknowledged
    arrived.finish()
    #expect(await events.reduce(into: [Bool]()) { $0.append($1) } == [true])
  }

  @Test func `a message without a handler is refused once the connection is started`() async throws {
    let sending = try await connected(host)
    let receiving = try await connected(app)
    let error = await #expect(throws: BusError.self) {
      try await sending.deliver(AppActivation(isActive: true), to: app)
    }
    #expect(error?.code == .unhandled)
    withExtendedLifetime(receiving) {}
  }

  @Test func `a request to an absent destination fails at once as unreachable`() async throws {
    let asking = try await connected(host)
    let error = await #expect(throws: BusError.self) { _ = try await asking.request(ListProcesses(), to: agent) }
    #expect(error?.code == .unreachable)
    #expect(error?.isDefinite == true)
  }

  @Test func `a request waits for an absent destination when it is sent with the wait option`() async throws {
    let asking = try await connected(host)
    async let reply = asking.request(ListProcesses(), to: agent, whenUnreachable: .wait)
    _ = await bus.first { $0.header.kind == Undelivered.kind }
    let answering = bus.connection(agent)
    answering.onRequest(ListProcesses.self) { _, _ in ListProcesses.Reply(incarnation: UUID(), children: []) }
    _ = try await answering.start()
    #expect(try await reply.children.isEmpty)
  }

  @Test func `a request that passes its deadline fails with an indefinite error`() async throws {
    let answering = try await connected(agent)
    let (never, hold) = AsyncStream.makeStream(of: Void.self)
    answering.onRequest(ListProcesses.self) { _, _ in
      for await _ in never {}
      return ListProcesses.Reply(incarnation: UUID(), children: [])
    }
    let asking = try await connected(host)
    let error = await #expect(throws: BusError.self) {
      _ = try await asking.request(ListProcesses(), to: agent, within: .milliseconds(20))
    }
    #expect(error?.code == .deadline)
    #expect(error?.isDefinite == false)
    hold.finish()
  }

  @Test func `a request that the message table does not allow fails as refused`() async throws {
    let speaking = try await connected(app)
    let error = await #expect(throws: BusError.self) { _ = try await speaking.request(ListProcesses(), to: agent) }
    #expect(error?.code == .refused)
  }

  @Test func `an unacknowledged event is delivered again to the next instance`() async throws {
    let sending = try await connected(host)
    let id = UUID()
    let first = bus.connection(widget)
    let (held, hold) = AsyncStream.makeStream(of: Void.self)
    first.onEvent(SessionEvents.self) { _, _ in for await _ in held {} }
    _ = try await first.start()
    let event = SessionEvents(session: "daily", wakesHandler: true, outcomes: [])
    async let delivered: Void = sending.deliver(event, to: widget, id: id, context: .none)
    _ = await bus.first { $0.header.id == id && $0.header.destinationGeneration == 1 }
    await bus.disconnect(widget)

    let second = bus.connection(widget)
    let (seen, see) = AsyncStream.makeStream(of: Received.self)
    second.onEvent(SessionEvents.self) { _, received in see.yield(received) }
    _ = try await second.start()
    var iterator = seen.makeAsyncIterator()
    let received = await iterator.next()
    #expect(received?.id == id)
    #expect((received?.attempt ?? 0) > 0)
    try await delivered
    hold.finish()
  }

  @Test func `a repeated event is acknowledged and not handled again`() async throws {
    let handling = bus.connection(host)
    let (seen, see) = AsyncStream.makeStream(of: UUID.self)
    handling.onEvent(ReloadTimelines.self) { _, received in see.yield(received.id) }
    _ = try await handling.start()
    let sending = try await connected(widget)
    let id = UUID()
    try await sending.deliver(ReloadTimelines(widgetKind: "K"), to: host, id: id, context: .none)
    try await sending.deliver(ReloadTimelines(widgetKind: "K"), to: host, id: id, context: .none)
    let last = UUID()
    try await sending.deliver(ReloadTimelines(widgetKind: "K"), to: host, id: last, context: .none)
    see.finish()
    var ids: [UUID] = []
    for await id in seen { ids.append(id) }
    #expect(ids == [id, last])
  }

  @Test func `event handlers start in the order of the envelopes`() async throws {
    actor Log {
      var kinds: [String] = []
      func note(_ kind: String) { kinds.append(kind) }
    }
    let log = Log()
    let handling = bus.connection(host)
    handling.onEvent(ReloadTimelines.self) { event, _ in await log.note(event.widgetKind ?? "") }
    _ = try await handling.start()
    let sending = try await connected(widget)
    let names = (1...200).map(String.init)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in names {
        let sent = bus.loop.task { _ = try? await sending.deliver(ReloadTimelines(widgetKind: name), to: host) }
        group.addTask { await sent.value }
      }
      try await group.waitForAll()
    }
    #expect(await log.kinds == names)
  }

  @Test func `the sender of a request receives the error that the receiver throws`() async throws {
    let answering = try await connected(agent)
    answering.onRequest(ListProcesses.self) { _, _ in throw BusError(BusError.Code("no-such-instance"), "gone") }
    let asking = try await connected(host)
    let error = await #expect(throws: BusError.self) { _ = try await asking.request(ListProcesses(), to: agent) }
    #expect(error?.code.rawValue == "no-such-instance")
  }

  @Test func `an actor catches bus errors on its own executor`() async throws {
    actor Asking {
      func codes(_ connection: any BusConnection) async -> [BusError.Code] {
        var codes: [BusError.Code] = []
        do throws(BusError) {
          _ = try await connection.request(ListProcesses(), to: agent)
        } catch {
          preconditionIsolated()
          codes.append(error.code)
        }
        do throws(BusError) {
          try await connection.deliver(AgentStarted(incarnation: UUID(), pid: 1, children: []), to: agent)
        } catch {
          preconditionIsolated()
          codes.append(error.code)
        }
        return codes
      }
    }
    let speaking = try await connected(host)
    #expect(await Asking().codes(speaking) == [.unreachable, .refused])
  }

  @Test func `oversize requests and events fail, oversize notices are recorded as refused, and none is sent`()
    async throws
  {
    let answering = try await connected(agent)
    let asking = try await connected(host)
    let long = String(repeating: "x", count: Wire.bodyLimit)
    let request = await #expect(throws: BusError.self) {
      _ = try await answering.request(RegisterInstance(address: widget, publicKey: long), to: .messageBus)
    }
    #expect(request?.code == .tooLarge && request?.isDefinite == true)
    let sending = try await connected(widget)
    let event = await #expect(throws: BusError.self) {
      try await sending.deliver(ReloadTimelines(widgetKind: long), to: host)
    }
    #expect(event?.code == .tooLarge && event?.isDefinite == true)
    asking.record(ProcessState(address: widget, generation: 1, state: long, why: "a test"))
    let recorded = try #require(await bus.first { $0.header.kind == BodyRefused.kind })
    let refused = try BodyCoding.decode(BodyRefused.self, from: recorded.body)
    #expect(refused.error.code == .tooLarge)
    #expect(refused.kindName == ProcessState.kind.name && refused.source == host && refused.destination == .journal)
    let sent = await bus.sentEnvelopes.filter {
      [RegisterInstance.kind, ReloadTimelines.kind, ProcessState.kind].contains($0.header.kind)
    }
    #expect(sent.isEmpty)
  }

  @Test func `a request whose reply is too large fails as too large`() async throws {
    let answering = try await connected(agent)
    answering.onRequest(Ping.self) { _, _ in
      Ping.Reply(pid: 1, isReady: false, waitingFor: [String(repeating: "x", count: Wire.bodyLimit)])
    }
    let asking = try await connected(host)
    let error = await #expect(throws: BusError.self) { _ = try await asking.request(Ping(), to: agent) }
    #expect(error?.code == .tooLarge)
  }

  @Test func `a notice with a malformed body is recorded as refused and not handled`() async throws {
    let hearing = bus.connection(host)
    let (received, hear) = AsyncStream.makeStream(of: Int32.self)
    hearing.onNotice(RaiseSignal.self) { notice, _ in hear.yield(notice.signal) }
    _ = try await hearing.start()
    let speaking = try await connected(.operator("7"))
    speaking.notify(MalformedSignal(signal: "nine"), to: host, context: .none)
    speaking.notify(RaiseSignal(signal: 9), to: host, context: .none)
    let recorded = try #require(await bus.first { $0.header.kind == BodyRefused.kind })
    #expect(recorded.header.source == host)
    let sentEnvelope = await bus.sentEnvelopes.first { $0.header.kind == RaiseSignal.kind }
    #expect(recorded.header.cause == sentEnvelope?.header.id)
    let refused = try BodyCoding.decode(BodyRefused.self, from: recorded.body)
    #expect(refused.error.code == .malformed)
    #expect(refused.kindName == "peer.raise-signal" && refused.source == .operator("7") && refused.destination == host)
    for await signal in received {
      #expect(signal == 9)
      break
    }
  }

  @Test func `the sender of a request or an event with a malformed body receives an error`() async throws {
    let answering = bus.connection(agent)
    answering.onRequest(SignalProcess.self) { _, _ in throw BusError(.failed, "never called") }
    _ = try await answering.start()
    let handling = bus.connection(host)
    handling.onEvent(ReloadTimelines.self) { _, _ in }
    _ = try await handling.start()
    let request = await #expect(throws: BusError.self) {
      _ = try await handling.request(MalformedRequest(signal: "nine"), to: agent)
    }
    #expect(request?.code == .malformed && request?.isDefinite == true)
    let sending = try await connected(widget)
    let event = await #expect(throws: BusError.self) { try await sending.deliver(MalformedReload(), to: host) }
    #expect(event?.code == .malformed && event?.isDefinite == true)
  }

  @Test func `an event and a request that an ending instance turns away are sent to the next instance`() async throws {
    let ending = bus.connection(host)
    let closed = BusError(.closed, "the service has ended", isDefinite: false)
    ending.onEvent(ReloadTimelines.self) { _, _ in throw closed }
    ending.onRequest(AskPushInfo.self) { _, _ in throw closed }
    _ = try await ending.start()
    let asking = try await connected(widget)
    async let delivered: Void = asking.deliver(ReloadTimelines(widgetKind: "K"), to: host)
    async let reply = asking.request(AskPushInfo(), to: host, whenUnreachable: .wait)
    _ = await bus.first { $0.header.kind == ReloadTimelines.kind && $0.header.destinationGeneration == 1 }
    _ = await bus.first { $0.header.kind == AskPushInfo.kind && $0.header.destinationGeneration == 1 }
    await ending.leave()
    let next = bus.connection(host)
    next.onEvent(ReloadTimelines.self) { _, _ in }
    next.onRequest(AskPushInfo.self) { _, _ in AskPushInfo.Reply(token: "aa") }
    _ = try await next.start()
    try await delivered
    #expect(try await reply.token == "aa")
  }

  @Test func `a pending delivery fails when its connection leaves`() async throws {
    let leaving = try await connected(host)
    let delivered = Task { try await leaving.deliver(AppActivation(isActive: true), to: app) }
    _ = await bus.first { $0.header.kind == Undelivered.kind }
    await leaving.leave()
    await #expect(throws: BusError.self) { try await delivered.value }
    #expect(await bus.sentEnvelopes.contains { $0.header.kind == Goodbye.kind })
  }
}
