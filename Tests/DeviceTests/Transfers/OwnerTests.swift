// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let app = TransferSamples.app
private let widget = TransferSamples.widget
private let bytes = figures(300_000)

/// Requests of owners and of the user to the transfer service.
@Suite(.timeLimit(.minutes(1))) struct OwnerTests {
  // MARK: Resume data

  @Test(.rule("TASK-15")) func `a cancelled download continues in another task with its resume data`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 100_000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.received(TransferCounted.kind)
    let data = try await owner.connection.request(
      CancelTransfer(session: "figures", taskIdentifier: 1, producesResumeData: true), to: .host("iphone")
    ).resumeData
    #expect(data != nil)
    fixture.server.release()
    try await owner.create(2, "http://127.0.0.1:1/", resumeData: data)
    #expect((await fixture.recorded(.resumed)?.bytes ?? 0) > 0)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    await service.awake(widget, generation: 1, woken: false)
    let outcomes = await owner.next()?.outcomes
    #expect(outcomes?.map(\.failure?.code) == [-999, nil], "in the order in which they ended")
    #expect(outcomes?.last?.task.request.url == fixture.server.url)
    await fixture.end(service)
  }

  @Test(.rule("TASK-17"))
  func `a task with invalid resume data fails with error -1 through the delegate`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url, resumeData: Data([1, 2, 3]))
    await fixture.recorded(.failed)
    #expect(fixture.server.seen == [])
    await service.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.outcomes.first?.failure?.code == -1)
    await fixture.end(service)
  }

  @Test(.rule("TASK-16"), arguments: [604_800.0, 60])
  func `the partial file behind resume data is kept for the configured time, and afterwards byte 0 is the first`(
    time: Double
  ) async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 100_000))
    let service = try await fixture.host { $0.keepsResumeData = time }
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.received(TransferCounted.kind)
    let data = try await owner.connection.request(
      CancelTransfer(session: "figures", taskIdentifier: 1, producesResumeData: true), to: .host("iphone")
    ).resumeData
    #expect(data != nil && TransferSettings().keepsResumeData == 7 * 86_400)
    await fixture.end(service)
    fixture.clock.advance(by: 3600)
    let second = try await fixture.host { $0.keepsResumeData = time }
    #expect(fixture.files(below: "transfers/kept", ending: "").count == (time > 3600 ? 1 : 0))
    fixture.server.release()
    try await owner.open()
    for task in [2, 3] {
      try await owner.create(task, fixture.server.url, resumeData: data)
      await fixture.recorded(.finished, task - 1)
    }
    #expect(fixture.server.seen.map { $0.range != nil } == [false, time > 3600, false], "it is used once")
    await fixture.end(second)
  }

  // MARK: Listing

  @Test(.rule("TASK-04"), arguments: [true, false])
  func `a setting determines whether an ended task is listed until its end is delivered`(isListed: Bool) async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host { $0.listsEndedTasks = isListed }
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    let reply = try await owner.open()
    #expect(reply.tasks.map(\.taskIdentifier) == (isListed ? [1] : []))
    #expect(reply.nextTaskIdentifier == 2)
    await service.awake(widget, generation: 1, woken: false)
    _ = await owner.next()
    await fixture.end(service)
  }

  // MARK: Force quit

  @Test(.rule("DELIVERY-17", "PROCESS-16", "PROCESS-17"), arguments: [false, true])
  func `a force quit cancels the tasks of the app with reason 0 and does not launch the app for them`(
    cancelsExtensions: Bool
  ) async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 100_000))
    let service = try await fixture.host { $0.forceQuitCancelsExtensions = cancelsExtensions }
    var actions = service.device.processes.makeAsyncIterator()
    let owner = try await ModelOwner(fixture.bus)
    let appOwner = try await ModelOwner(fixture.bus, at: app)
    try await owner.open(named: "widget's")
    try await owner.create(1, fixture.server.url, in: "widget's")
    try await appOwner.open()
    try await appOwner.create(1, fixture.server.url)
    _ = await fixture.bus.first { $0.header.kind == TransferCounted.kind && $0.header.destination == app }
    try await service.forceQuit(app)
    let tasks = try await service.list(ListSessions(), clock: fixture.clockState).tasks
    #expect(tasks.map { $0.owner == app ? $0.failure?.code : nil } == [-999, nil])
    #expect(tasks.last?.state == (cancelsExtensions ? .ended : .loading))
    await fixture.bus.disconnect(app)
    await service.ended(app, generation: 1)
    while let action = await actions.next() {
      guard case .want(app, _, let launches) = action else { continue }
      #expect(!launches)
      break
    }
    // The cancellation survives a host restart.
    await fixture.end(service)
    let second = try await fixture.host()
    var later = second.device.processes.makeAsyncIterator()
    while let action = await later.next() {
      guard case .want(app, _, let launches) = action else { continue }
      #expect(!launches)
      break
    }
    // The user launches the app again, and it creates the session.
    let next = try await ModelOwner(fixture.bus, at: app)
    try await next.open()
    await second.awake(app, generation: 2, woken: true)
    let failure = await next.next()?.outcomes.first?.failure
    #expect(failure?.code == -999 && failure?.cancelledReason == 0)
    #expect(failure?.resumeData != nil)
    await fixture.end(second)
  }

  // MARK: One process for each session

  @Test(.rule("SESSION-05"))
  func `a session that is open in another running process of the same app is refused`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    let appOwner = try await ModelOwner(fixture.bus, at: app)
    let stranger = try await ModelOwner(fixture.bus, at: .app("iphone", "com.examples"))
    try await owner.open()
    try await stranger.open()
    await #expect { try await appOwner.open() } throws: { ($0 as? BusError)?.code == .sessionInUse }
    try await owner.open()
    _ = try await owner.connection.request(CloseSession(identifier: "figures"), to: .host("iphone"))
    try await appOwner.open()
    await #expect { try await owner.open() } throws: { ($0 as? BusError)?.code == .sessionInUse }
    await service.ended(app, generation: 1)
    try await owner.open()
    await fixture.end(service)
  }

  // MARK: Earliest begin dates

  @Test(
    .rule("DELIVERY-11", "TRANSFER-13"),
    arguments: [.continueLoading, .useNewRequest, .cancel] as [BeginDelayedRequest.Disposition])
  func `the owner of a delayed task can continue, replace or cancel its request before it begins`(
    disposition: BeginDelayedRequest.Disposition
  )
    async throws
  {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    var actions = service.device.processes.makeAsyncIterator()
    let owner = try await ModelOwner(fixture.bus)
    let elsewhere = fixture.server.url + "/elsewhere"
    owner.connection.onRequest(BeginDelayedRequest.self) { question, _ in
      BeginDelayedRequest.Reply(
        disposition: disposition,
        request: disposition == .useNewRequest ? TransferRequest(url: elsewhere) : nil)
    }
    try await owner.open()
    try await owner.create(1, fixture.server.url, after: fixture.clock.now + 60)
    await fixture.clock.whenSleeping(within: 60)
    #expect(fixture.server.seen == [])
    fixture.clock.advance(by: 60)
    #expect(await actions.next() == .want(widget, because: "begin figures", mayWake: true))
    await service.awake(widget, generation: 1, woken: true)
    // A task that is cancelled ends before it begins.
    if disposition == .cancel {
      #expect(await actions.next() == .want(widget, because: "events figures", mayWake: false))
    }
    #expect(await actions.next() == .release(widget, because: "begin figures"))
    await fixture.recorded(disposition == .cancel ? .cancelled : .finished)
    await service.awake(widget, generation: 1, woken: false)
    let outcome = await owner.next()?.outcomes.first
    #expect(outcome?.failure?.code == (disposition == .cancel ? -999 : nil))
    let answered = disposition == .useNewRequest ? elsewhere : fixture.server.url
    #expect(outcome?.response?.url == (disposition == .cancel ? nil : answered))
    #expect(outcome?.task.request.url == fixture.server.url)
    #expect(try await fixture.limiterChanges(1).map(\.reason) == ["woken"])
    await fixture.end(service)
  }

  @Test(.rule("DELIVERY-11"))
  func `the network access flags of a request that replaces a delayed task's request are ignored`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    // A cellular network in Low Data Mode: each of the three flags alone holds a transfer back.
    let service = try await fixture.host(network: NetworkState(path: .cellular, isConstrained: true))
    let owner = try await ModelOwner(fixture.bus)
    let other = TransferRequest(
      url: fixture.server.url + "/elsewhere", allowsCellularAccess: false, allowsExpensiveNetworkAccess: false,
      allowsConstrainedNetworkAccess: false)
    owner.connection.onRequest(BeginDelayedRequest.self) { _, _ in
      BeginDelayedRequest.Reply(disposition: .useNewRequest, request: other)
    }
    try await owner.open()
    try await owner.create(1, fixture.server.url, after: fixture.clock.now)
    await service.awake(widget, generation: 1, woken: false)
    await fixture.recorded(.finished)
    await fixture.end(service)
  }

  @Test(.rule("DELIVERY-11"), arguments: [0, 1, 2])
  func `a request that replaces another keeps its own values except the network access flags`(flag: Int) {
    let original = TransferRequest(
      url: "http://a", allowsCellularAccess: flag != 0, allowsExpensiveNetworkAccess: flag != 1,
      allowsConstrainedNetworkAccess: flag != 2)
    let other = TransferRequest(
      url: "http://b", method: "POST", headers: [["X-A", "1"]], body: Data("b".utf8), timeoutInterval: 5,
      allowsCellularAccess: flag == 0, allowsExpensiveNetworkAccess: flag == 1,
      allowsConstrainedNetworkAccess: flag == 2)
    var expected = other
    expected.allowsCellularAccess = flag != 0
    expected.allowsExpensiveNetworkAccess = flag != 1
    expected.allowsConstrainedNetworkAccess = flag != 2
    #expect(original.replaced(by: other) == expected)
  }

  @Test(.rule("TRANSFER-13"))
  func `a delayed task begins without a launch of its owner when the setting disables such launches`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    fixture.awake.withLock { $0 = false }
    let service = try await fixture.host { $0.delayedRequestLaunches = false }
    var actions = service.device.processes.makeAsyncIterator()
    let owner = try await ModelOwner(fixture.bus)
    owner.connection.onRequest(BeginDelayedRequest.self) { _, _ in
      Issue.record("the owner does not run")
      return BeginDelayedRequest.Reply(disposition: .cancel)
    }
    try await owner.open()
    try await owner.create(1, fixture.server.url, after: fixture.clock.now)
    #expect(await actions.next() == .want(widget, because: "begin figures", mayWake: false))
    #expect(await actions.next() == .release(widget, because: "begin figures"))
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    await fixture.end(service)
  }

  @Test(.rule("TRANSFER-12"))
  func `a delayed task sends its original request when its owner does not answer`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    owner.connection.onRequest(BeginDelayedRequest.self) { _, _ in throw BusError(.unclaimed, "no such session") }
    try await owner.open()
    try await owner.create(1, fixture.server.url, after: fixture.clock.now)
    await service.awake(widget, generation: 1, woken: false)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    await fixture.end(service)
  }

  // MARK: Challenges

  @Test(.rule("TRANSFER-14"))
  func `a challenge wakes its owner through the handler and counts as a wake for the rate limiter`() async throws {
    let server = try await RawServer.start { request in
      request.header("Authorization") == nil
        ? [response("who?", status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"a\"")] : [response("secret")]
    }
    let fixture = try await TransferFixture(.init())
    let service = try await fixture.host()
    var actions = service.device.processes.makeAsyncIterator()
    let owner = try await ModelOwner(fixture.bus)
    let questions = Mutex<[AnswerChallenge]>([])
    owner.connection.onRequest(AnswerChallenge.self) { question, _ in
      questions.withLock { $0.append(question) }
      return AnswerChallenge.Reply(disposition: .useCredential, user: "ada", password: "lovelace")
    }
    try await owner.open()
    try await owner.create(1, server.url)
    #expect(await actions.next() == .want(widget, because: "challenge figures 1", mayWake: true))
    await service.awake(widget, generation: 1, woken: true)
    #expect(await actions.next() == .release(widget, because: "challenge figures 1"))
    await fixture.recorded(.finished)
    #expect(questions.withLock { $0.map(\.wakesHandler) } == [true])
    #expect(questions.withLock { $0.first?.realm } == "a")
    #expect(try await fixture.limiterChanges(1).map(\.reason) == ["woken"])
    await service.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.outcomes.first?.response?.status == 200)
    await fixture.end(service)
    await server.stop()
  }

  @Test(.rule("TRANSFER-15"), arguments: [0.0, 0.2])
  func `an owner has the configured time to answer a challenge, after which the 401 is the response`(
    deadline: Double
  ) async throws {
    let server = try await RawServer.start { request in
      request.header("Authorization") == nil
        ? [response("who?", status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"a\"")] : [response("secret")]
    }
    let fixture = try await TransferFixture(.init())
    let service = try await fixture.host { $0.challengeDeadline = deadline }
    var actions = service.device.processes.makeAsyncIterator()
    let owner = try await ModelOwner(fixture.bus)
    let (permissions, permission) = AsyncStream.makeStream(of: Void.self)
    owner.connection.onRequest(AnswerChallenge.self) { _, _ in
      for await _ in permissions { break }
      return AnswerChallenge.Reply(disposition: .useCredential, user: "ada", password: "lovelace")
    }
    try await owner.open()
    try await owner.create(1, server.url)
    #expect(await actions.next() == .want(widget, because: "challenge figures 1", mayWake: true))
    await service.awake(widget, generation: 1, woken: false)
    await fixture.received(AnswerChallenge.kind)
    if deadline == 0 { permission.yield() }
    #expect(await fixture.recorded(.finished)?.detail == (deadline == 0 ? "HTTP 200" : "HTTP 401"))
    permission.finish()
    await fixture.end(service)
    await server.stop()
  }

  @Test @DeviceActor func `a cancellation is answered when the end because of which it has no effect is stored`()
    async throws
  {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host(network: NetworkState(path: .off))
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    let key = TaskKey(session: SessionKey(owner: widget, identifier: "figures"), identifier: 1)
    let failure = TransferFailure(code: -1, message: "no")
    service.scheduler.addEnd(of: key, nil, failure: failure)
    #expect(try service.context.store.task(key)?.hasEnded == false)
    _ = try await service.scheduler.stopAndEnd(key, with: failure, keepsPart: false)
    #expect(try service.context.store.task(key)?.hasEnded == true)
    await fixture.end(service)
  }

  /// A host that ends after it stored a task has not replied, and the process repeats its request as long as it runs.
  @Test(.rule("TASK-18"))
  func `a repeated request creates no task that was acknowledged, but the next instance creates one`()
    async throws
  {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await service.awake(widget, generation: 1, woken: false)
    _ = await owner.next()
    await fixture.received(SessionAcknowledged.kind)
    await fixture.end(service)
    let second = try await fixture.host()
    await second.awake(widget, generation: 1, woken: false)
    try await owner.create(1, fixture.server.url)
    #expect(try await second.list(ListSessions(), clock: fixture.clockState).tasks.isEmpty)
    #expect(fixture.server.seen.count == 1)
    await fixture.bus.disconnect(widget)
    let next = try await ModelOwner(fixture.bus)
    #expect(try await next.open().nextTaskIdentifier == 2)
    try await next.create(1, fixture.server.url)
    await fixture.recorded(.finished, 2)
    await second.awake(widget, generation: 2, woken: false)
    #expect(await next.next()?.files == [Data(bytes)])
    await fixture.end(second)
  }
}
