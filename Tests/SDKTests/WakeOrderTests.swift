// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// What a process receives that was woken for the events of a session, in order.
@Suite(.timeLimit(.minutes(1))) struct `A wake for events` {
  @Test(.rule("DELIVERY-15"))
  func `a woken process has its handler called, then the messages in the order of the host, then the finish`()
    async throws
  {
    let fixture = try SDKFixture()
    let (delegate, handler) = (Delegate(), await Handler())
    try await fixture.begin([await handler.handler()])
    let session = fixture.session(delegate)
    let cancelled = TaskOutcome(
      task: SDKFixture.snapshot(2), response: nil, file: nil,
      failure: TransferFailure(code: -999, message: "cancelled"))
    let events = SessionEvents(
      session: "daily", wakesHandler: true, outcomes: [cancelled, try fixture.success(1)])
    async let acknowledged: Void = fixture.host.connection.deliver(events, to: SDKFixture.widget)
    await delegate.waitFor("finish")
    await handler.complete()
    try await acknowledged
    #expect(
      await fixture.journaledCalls() == [
        "handler.called 1", "didCompleteWithError 2", "didFinishDownloadingTo 1", "didCompleteWithError 1",
        "urlSessionDidFinishEvents", "completion.called 0",
      ])
    withExtendedLifetime(session) {}
  }
}
