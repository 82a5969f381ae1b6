// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import MessageBus
import Messages

extension SessionRegistry {
  /// Registers the handlers for progress notices and the host's requests about tasks.
  func answerQuestions() {
    process.connection.onNotice(TransferCounted.self) { counts, _ in
      self.existing(counts.session)?.counted(counts)
    }
    process.connection.onRequest(BeginDelayedRequest.self) { question, received in
      guard let session = self.existing(question.session) else {
        throw BusError(.unclaimed, "session \(question.session) is not open")
      }
      return await session.ask(question, self.process.context(ofSession: question.session, cause: received.id))
    }
    process.connection.onRequest(AnswerChallenge.self) { question, received in
      try await self.answer(question, cause: received.id)
    }
  }

  /// Passes a challenge to the author's delegate. In a process that was woken for it, the handlers are called first to
  /// create the session, as for events.
  ///
  /// - Throws: `unclaimed` when no handler matches and the session does not exist.
  private func answer(_ question: AnswerChallenge, cause: UUID) async throws(BusError) -> AnswerChallenge.Reply {
    let context = process.context(ofSession: question.session, cause: cause)
    let matching = await handlers(for: question.session)
    guard !matching.isEmpty || has(question.session) else {
      throw BusError(.unclaimed, "no handler matches session \(question.session), and it is not open")
    }
    let wakesHandler = question.wakesHandler || !has(question.session)
    if wakesHandler { _ = await call(matching, question.session, context) }
    let session = await session(question.session)
    let reply = await session.ask(question, context)
    if wakesHandler { await session.finishEvents(context) }
    return reply
  }
}
