import Conversations
import Foundation
import MessageBus
import Synchronization
import Testing

@testable import AuthoredProcess
@testable import BackgroundURLSession

/// Data tasks of background sessions, which the process performs itself.
@Suite(.timeLimit(.minutes(1))) struct `A data task of a background session` {
  private func begun(
    _ stage: Stage, _ delegate: FullDelegate, _ performer: PerformerModel
  ) async throws -> (URLSessionDataTask, PerformerModel.Exchange) {
    try await stage.begin()
    let session = stage.session(delegate)
    let url = try #require(URL(string: "http://a.example/figures"))
    let task = await stage.blocking {
      let task = session.dataTask(with: url)
      task.resume()
      return task
    }
    return (task, try await performer.next())
  }

  @Test func `is performed in the process`() async throws {
    let stage = try Stage()
    let delegate = FullDelegate()
    let (task, exchange) = try await begun(stage, delegate, stage.perform())
    await exchange.succeed("figures")
    await delegate.hears("end")
    #expect(delegate.told == ["create 1", "response 200", "data figures", "metrics 1 2.0", "end 1 0"])
    #expect(await stage.host.created.isEmpty)
    #expect(task.error == nil)
  }

  @Test func `ends with -997 when the process was suspended`() async throws {
    let stage = try Stage()
    let delegate = FullDelegate()
    let (task, exchange) = try await begun(stage, delegate, stage.perform())
    #expect(await exchange.answer(length: 7))
    stage.registry.wasSuspended()
    await delegate.hears("end 1 -997")
    #expect((task.error as? URLError)?.code == .backgroundSessionWasDisconnected)
    #expect(exchange.calls.withLock { $0 } == ["resume", "cancel"])
  }

  @Test func `learns from the kernel's signal that the process goes on`() async throws {
    let result = await #expect(processExitsWith: .exitCode(7)) {
      try await `A data task of a background session`.endsOnSignal()
    }
    _ = result
  }

  @inline(never) private static func endsOnSignal() async throws {
    let stage = try Stage()
    let delegate = FullDelegate()
    _ = try await `A data task of a background session`().begun(stage, delegate, stage.perform())
    kill(getpid(), SIGCONT)
    await delegate.hears("end 1 -997")
    try FileManager.default.removeItem(at: stage.folder)
    exit(7)
  }

  @Test func `becomes a download of the host's`() async throws {
    let stage = try Stage()
    let delegate = FullDelegate(.init(response: .becomeDownload))
    let (task, exchange) = try await begun(stage, delegate, stage.perform())
    #expect(await exchange.answer(length: 7) == false)
    _ = await stage.bus.first { $0.header.kind == CreateTransfer.kind.answered(.ok) }
    #expect(await stage.host.created.map(\.type) == [.download])
    #expect(await stage.host.created.map(\.taskIdentifier) == [1])
    try await stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: [try stage.success(1)]), to: Stage.widget)
    #expect(delegate.told == ["create 1", "response 200", "become 1", "file figures", "end 1 0"])
    #expect(task.state == .completed)
  }
}
