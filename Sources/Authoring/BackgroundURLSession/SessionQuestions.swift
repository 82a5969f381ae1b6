import AuthoredProcess
import Conversations
import Foundation
import MessageBus

extension SessionRegistry {
  /// Hears how far tasks are, and answers what the host asks about them.
  func answerQuestions() {
    process.connection.onNotice(TransferCounted.self) { counts, _ in
      self.existing(counts.session)?.counted(counts)
    }
    process.connection.onRequest(BeginDelayedRequest.self) { question, received in
      guard let session = self.existing(question.session) else {
        throw BusError(.unclaimed, "session \(question.session) is not open")
      }
      return await session.ask(question, self.process.story(ofSession: question.session, cause: received.id))
    }
    process.connection.onRequest(AnswerChallenge.self) { question, received in
      try await self.answer(question, cause: received.id)
    }
  }

  /// Has the author answer a challenge. A process that was woken for it is asked to make the session first, as for events.
  ///
  /// - Throws: `unclaimed` when no handler matches and there is no such session.
  private func answer(_ question: AnswerChallenge, cause: UUID) async throws(BusError) -> AnswerChallenge.Reply {
    let story = process.story(ofSession: question.session, cause: cause)
    let matching = await handlers(for: question.session)
    guard !matching.isEmpty || has(question.session) else {
      throw BusError(.unclaimed, "no handler matches session \(question.session), and it is not open")
    }
    let wakesHandler = question.wakesHandler || !has(question.session)
    if wakesHandler { _ = await call(matching, question.session, story) }
    let session = await session(question.session)
    let reply = await session.ask(question, story)
    if wakesHandler { await session.finishEvents(story) }
    return reply
  }
}
