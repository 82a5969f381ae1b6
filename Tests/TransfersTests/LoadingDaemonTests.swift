import Conversations
import Foundation
import GRDB
import MessageBus
import Synchronization
import Testing
import Timekeeping

@testable import Transfers

private let bytes = figures(300_000)
private let off = NetworkState(path: .off)

/// What the keeper does with what the decision of what loads answers.
@Suite(.timeLimit(.minutes(1))) struct LoadingDaemonTests {
  private func waits(_ scene: TransferScene, for words: String) async {
    _ = await scene.bus.first {
      guard $0.header.kind == TransferProgress.kind,
        let notice = try? BodyCoding.decode(TransferProgress.self, from: $0.body)
      else { return false }
      return notice.step == .waiting && notice.detail?.contains(words) == true
    }
  }

  @Test func `a network that goes stops a download where it is, and one that comes goes on with Range`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, pauseAfter: 100_000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.heard(TransferCounted.kind)
    await daemon.setNetwork(off)
    await waits(scene, for: "connectivity")
    scene.server.release()
    await daemon.setNetwork(NetworkState())
    #expect((await scene.recorded(.resumed)?.bytes ?? 0) > 0)
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    #expect(try await daemon.list(ListSessions(), clock: scene.clockState).network == NetworkState())
    await scene.end(daemon)
  }

  @Test func `a network that is away when the host begins lets nothing go out`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host(network: off)
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await waits(scene, for: "connectivity")
    #expect(scene.server.seen == [])
    await daemon.setNetwork(NetworkState())
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    await scene.end(daemon)
  }

  @Test func `a task whose resource time is over fails with -1001 and says which network it was denied`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host(network: NetworkState(path: .cellular))
    let owner = try await ModelOwner(scene.bus)
    try await owner.open(SessionConfiguration(timeoutIntervalForResource: 30, allowsCellularAccess: false))
    try await owner.create(1, scene.server.url)
    await waits(scene, for: "a network that session and request permit")
    await scene.clock.whenSomebodySleeps(within: 30)
    scene.clock.advance(by: 30)
    await scene.recorded(.failed)
    await daemon.awake(widget, generation: 1, woken: false)
    let failure = await owner.next()?.outcomes.first?.failure
    #expect(failure?.code == -1001)
    #expect(failure?.networkUnavailableReason == 0)
    await scene.end(daemon)
  }

  @Test func `a download under way when its resource time is over keeps what has come for another task`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, pauseAfter: 100_000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open(SessionConfiguration(timeoutIntervalForResource: 30))
    try await owner.create(1, scene.server.url)
    await scene.heard(TransferCounted.kind)
    await scene.clock.whenSomebodySleeps(within: 30)
    scene.clock.advance(by: 30)
    await scene.recorded(.failed)
    await daemon.awake(widget, generation: 1, woken: false)
    let failure = await owner.next()?.outcomes.first?.failure
    #expect(failure?.code == -1001)
    scene.server.release()
    try await owner.create(2, "", resumeData: failure?.resumeData)
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    #expect(scene.server.seen.count == 2)
    #expect(scene.server.seen.last?.range != nil)
    await scene.end(daemon)
  }

  @Test func `a suspended task stays so over the host's death, and goes on where its file ends`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, pauseAfter: 100_000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.heard(TransferCounted.kind)
    try await owner.change(ChangeTransfer(session: "figures", taskIdentifier: 1, isSuspended: true))
    await waits(scene, for: "resume()")
    await scene.end(daemon)
    scene.server.release()
    let second = try await scene.host()
    #expect(try await owner.open().tasks.map(\.isSuspended) == [true])
    let report = try await second.list(ListSessions(), clock: scene.clockState).tasks.first
    #expect(report?.state == .suspended)
    try await owner.change(
      ChangeTransfer(session: "figures", taskIdentifier: 1, isSuspended: false, description: .init(nil), priority: 1))
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    let task = try await owner.open().tasks.first
    #expect(task?.isSuspended == false)
    #expect(task?.taskDescription == nil)
    #expect(task?.priority == 1)
    await scene.end(second)
  }

  @Test func `failures in a row are counted over the host's death`() async throws {
    let scene = try await TransferScene(.init())
    let port = UnheardPort()
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, port.url)
    for (failure, pause) in [1.0, 2, 4].enumerated() {
      await scene.recorded(.retrying, failure + 1)
      await scene.clock.whenSomebodySleeps(within: pause)
      if pause < 4 { scene.clock.advance(by: pause) }
    }
    await scene.end(daemon)
    let second = try await scene.host()
    let report = try await second.list(ListSessions(), clock: scene.clockState).tasks.first
    #expect(report?.state == .waiting)
    #expect(report?.attempts == 3)
    #expect(report?.nextTry == scene.clock.now + 4)
    await scene.end(second)
  }

  @Test func `a wake raises the limiter, which holds what is created in the background over the host's death`()
    async throws
  {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.finished)
    await daemon.awake(widget, generation: 1, woken: true)
    await scene.heard(SessionAcknowledged.kind)
    let raised = try await scene.limiterChanges(1)
    #expect(raised.map(\.delay) == [60])
    try await owner.create(2, scene.server.url)
    await waits(scene, for: "limiter")
    await scene.end(daemon)
    let second = try await scene.host()
    let until = try await second.list(ListSessions(), clock: scene.clockState).sessions.first?.limitedUntil
    #expect(until == scene.clock.now + 60)
    await scene.clock.whenSomebodySleeps(within: 60)
    scene.clock.advance(by: 60)
    await scene.recorded(.finished, 2)
    #expect(try await scene.limiterChanges(2).last?.delay == 0)
    await scene.end(second)
  }

  @Test func `what ends while its owner runs raises no limiter`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    for task in 1...2 {
      try await owner.create(task, scene.server.url)
      await scene.recorded(.finished, task)
      await daemon.awake(widget, generation: 1, woken: false)
      #expect(await owner.next() != nil)
    }
    #expect(await scene.bus.said.contains { $0.header.kind == LimiterChanged.kind } == false)
    await scene.end(daemon)
  }

  // Once in a thousand seconds: then the first and the last count, however slow the machine is.
  @Test(arguments: [0.001, 0]) func `a running owner is told of bytes, and one that does not run is not`(
    perSecond: Double
  )
    async throws
  {
    let scene = try await TransferScene(.init(bytes: bytes, pauseAfter: 100_000))
    let daemon = try await scene.host { $0.countsPerSecond = perSecond }
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    if perSecond == 0 { scene.server.release() }
    try await owner.create(1, scene.server.url)
    if perSecond > 0 {
      await scene.heard(TransferCounted.kind)
      scene.awake.withLock { $0 = false }
      scene.server.release()
    }
    await scene.recorded(.finished)
    let counts = await scene.bus.said.filter { $0.header.kind == TransferCounted.kind }
    #expect(counts.count == (perSecond > 0 ? 1 : 0))
    await scene.end(daemon)
  }
}
