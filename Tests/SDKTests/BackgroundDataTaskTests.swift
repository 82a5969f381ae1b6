// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// Data tasks of background sessions, which the process performs itself.
@Suite(.timeLimit(.minutes(1))) struct `Data tasks of a background session` {
  private func begun(
    _ fixture: SDKFixture, delegate: FullDelegate, performer: PerformerModel
  ) async throws -> (URLSessionDataTask, PerformerModel.Exchange) {
    try await fixture.begin()
    let session = fixture.session(delegate)
    let url = try #require(URL(string: "http://a.example/figures"))
    let task = await fixture.blocking {
      let task = session.dataTask(with: url)
      task.resume()
      return task
    }
    return (task, try await performer.next())
  }

  @Test(.rule("TASK-11"))
  func `a data task of a background session runs in the process and not at the host`() async throws {
    let fixture = try SDKFixture()
    let delegate = FullDelegate()
    let (task, exchange) = try await begun(fixture, delegate: delegate, performer: fixture.perform())
    await exchange.succeed("figures")
    await delegate.waitFor("end")
    #expect(delegate.calls == ["create 1", "response 200", "data figures", "metrics 1 2.0", "end 1 0"])
    #expect(await fixture.host.created.isEmpty)
    #expect(task.error == nil)
  }

  @Test(.rule("TASK-11"))
  func `a data task of a background session ends with -997 when its process was suspended`() async throws {
    let fixture = try SDKFixture()
    let delegate = FullDelegate()
    let (task, exchange) = try await begun(fixture, delegate: delegate, performer: fixture.perform())
    #expect(await exchange.answer(length: 7))
    fixture.registry.wasSuspended()
    await delegate.waitFor("end 1 -997")
    #expect((task.error as? URLError)?.code == .backgroundSessionWasDisconnected)
    #expect(exchange.calls.withLock { $0 } == ["resume", "cancel"])
  }

  @Test func `SIGCONT ends the data tasks of a background session with -997`() async throws {
    let result = await #expect(processExitsWith: .exitCode(7)) {
      try await `Data tasks of a background session`.endsOnSignal()
    }
    _ = result
  }

  @inline(never) private static func endsOnSignal() async throws {
    let fixture = try SDKFixture()
    let delegate = FullDelegate()
    _ = try await `Data tasks of a background session`().begun(
      fixture, delegate: delegate, performer: fixture.perform())
    kill(getpid(), SIGCONT)
    await delegate.waitFor("end 1 -997")
    try FileManager.default.removeItem(at: fixture.folder)
    exit(7)
  }

  @Test(.rule("TASK-11"))
  func `a data task of a background session can become a download that the host performs`() async throws {
    let fixture = try SDKFixture()
    let delegate = FullDelegate(.init(response: .becomeDownload))
    let (task, exchange) = try await begun(fixture, delegate: delegate, performer: fixture.perform())
    #expect(await exchange.answer(length: 7) == false)
    _ = await fixture.bus.first { $0.header.kind == CreateTransfer.kind.answered(.ok) }
    #expect(await fixture.host.created.map(\.type) == [.download])
    #expect(await fixture.host.created.map(\.taskIdentifier) == [1])
    try await fixture.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: [try fixture.success(1)]), to: SDKFixture.widget)
    #expect(delegate.calls == ["create 1", "response 200", "become 1", "file figures", "end 1 0"])
    #expect(task.state == .completed)
  }
}
