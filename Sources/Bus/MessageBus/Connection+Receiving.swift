// SPDX-License-Identifier: Apache-2.0

import FaultPoints
package import Messages
import ZeroMQ

// The handlers of a connection.

extension Connection {
  package nonisolated func onRequest<R: Request>(
    _ type: R.Type, _ handler: @escaping @Sendable (R, Received) async throws -> R.Reply
  ) {
    setHandler(R.kind) { envelope in
      await Connection.answering(.ok) {
        let request = try R.decoded(from: envelope.body)
        return try R.encoded(try await handler(request, Received(envelope.header)))
      }
    }
  }

  package nonisolated func onEvent<E: Event>(
    _ type: E.Type, _ handler: @escaping @Sendable (E, Received) async throws -> Void
  ) {
    setHandler(E.kind) { envelope in
      await Connection.answering(.acknowledged) {
        let event = try E.decoded(from: envelope.body)
        try await handler(event, Received(envelope.header))
        return []
      }
    }
  }

  package nonisolated func onNotice<N: Notice>(
    _ type: N.Type, _ handler: @escaping @Sendable (N, Received) async -> Void
  ) {
    setHandler(N.kind) { [weak self] envelope in
      let header = envelope.header
      do throws(BusError) {
        await handler(try N.decoded(from: envelope.body), Received(header))
      } catch {
        self?.recordRefusal(
          N.kind, from: header.source, to: header.destination, error, context: Received(header).context)
      }
      return nil
    }
  }

  package nonisolated func onPresence(_ handler: @escaping @Sendable (Presence) -> Void) {
    perform { $0.presenceHandlers.append(handler) }
  }

  package nonisolated func onTurnedAway(_ handler: @escaping @Sendable (BusError) -> Void) {
    perform { $0.turnedAwayHandlers.append(handler) }
  }

  private nonisolated func setHandler(_ kind: Kind, _ handler: @escaping Handler) {
    perform { $0.handlers[kind.name] = handler }
  }

  private static func answering(
    _ answer: Kind.Answer, _ work: () async throws -> [UInt8]
  ) async -> (answer: Kind.Answer, body: [UInt8])? {
    do {
      return (answer, try await work())
    } catch {
      let reason =
        error as? BusError ?? BusError(.failed, String(describing: error), isDefinite: false)
      if reason.code == .closed, !reason.isDefinite { return nil }
      return (.failed, (try? BodyCoding.encode(reason)) ?? [])
    }
  }

  /// Calls the handler of the envelope's message type.
  func handle(_ envelope: Envelope) {
    guard let handler = handlers[envelope.header.kind.name] else {
      guard isStarted else { return heldForHandler.append(envelope) }
      guard MessageTable[envelope.header.kind]?.style != .notice else { return }
      let error = BusError(.unhandled, "\(address) has no handler for \(envelope.header.kind)")
      perform(session.answer(envelope, .failed, body: (try? BodyCoding.encode(error)) ?? []))
      return
    }
    _ = loop.task { [weak self] in
      guard let (answer, body) = await handler(envelope) else { return }
      await self?.give(answer, body, to: envelope)
    }
  }

  /// All handlers are set: handles the messages that waited for theirs.
  func handleHeld() {
    isStarted = true
    let held = heldForHandler
    heldForHandler = []
    for envelope in held { handle(envelope) }
  }

  private func give(_ answer: Kind.Answer, _ body: [UInt8], to envelope: Envelope) {
    guard end == nil else { return }
    FaultPoint.peerBeforeAnswer.reached()
    perform(session.answer(envelope, answer, body: body))
    FaultPoint.peerAfterAnswer.reached()
  }
}
