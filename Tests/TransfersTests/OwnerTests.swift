import Conversations
import Foundation
import MessageBus
import Synchronization
import Testing
import Timekeeping

@testable import Transfers

private let bytes = figures(300_000)

/// What owners and persons say to the keeper of Transfers.
@Suite(.timeLimit(.minutes(1))) struct OwnerTests {
  // MARK: Resume data

  @Test func `a cancelled download goes on in another task, with its resume data`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, pauseAfter: 100_000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.heard(TransferCounted.kind)
    let data = try await owner.connection.request(
      CancelTransfer(session: "figures", taskIdentifier: 1, producesResumeData: true), to: .host("iphone")
    ).resumeData
    #expect(data != nil)
    scene.server.release()
    try await owner.create(2, "http://127.0.0.1:1/", resumeData: data)
    #expect((await scene.recorded(.resumed)?.bytes ?? 0) > 0)
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    await daemon.awake(widget, generation: 1, woken: false)
    let outcomes = await owner.next()?.outcomes
    #expect(outcomes?.map(\.failure?.code) == [-999, nil], "in the order in which they ended")
    #expect(outcomes?.last?.task.request.url == scene.server.url)
    await scene.end(daemon)
  }

  @Test func `what is no resume data fails by the delegate`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url, resumeData: Data([1, 2, 3]))
    await scene.recorded(.failed)
    #expect(scene.server.seen == [])
    await daemon.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.outcomes.first?.failure?.code == -1)
    await scene.end(daemon)
  }

  @Test(arguments: [604_800.0, 60])
  func `a part that nobody goes on with is kept for so long as the setting says`(time: Double) async throws {
    let scene = try await TransferScene(.init(bytes: bytes, pauseAfter: 100_000))
    let daemon = try await scene.host { $0.keepsParts = time }
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.heard(TransferCounted.kind)
    _ = try await owner.connection.request(
      CancelTransfer(session: "figures", taskIdentifier: 1, producesResumeData: true), to: .host("iphone"))
    await scene.end(daemon)
    scene.clock.advance(by: 3600)
    let second = try await scene.host { $0.keepsParts = time }
    #expect(scene.files(below: "transfers/kept", ending: "").count == (time > 3600 ? 1 : 0))
    await scene.end(second)
  }

  // MARK: Listing

  @Test(arguments: [true, false])
  func `whether a task that has ended is listed until its end was told is a setting`(isListed: Bool) async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host { $0.listsEndedTasks = isListed }
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.finished)
    let reply = try await owner.open()
    #expect(reply.tasks.map(\.taskIdentifier) == (isListed ? [1] : []))
    #expect(reply.nextTaskIdentifier == 2)
    await daemon.awake(widget, generation: 1, woken: false)
    _ = await owner.next()
    await scene.end(daemon)
  }

  // MARK: Force quit

  @Test(arguments: [false, true])
  func `an app that a person ends has its tasks cancelled with reason 0, and is not launched for it`(
    cancelsExtensions: Bool
  ) async throws {
    let scene = try await TransferScene(.init(bytes: bytes, pauseAfter: 100_000))
    let daemon = try await scene.host { $0.forceQuitCancelsExtensions = cancelsExtensions }
    var intents = daemon.intents.makeAsyncIterator()
    let owner = try await ModelOwner(scene.bus)
    let appOwner = try await ModelOwner(scene.bus, at: app)
    try await owner.open(named: "widget's")
    try await owner.create(1, scene.server.url, in: "widget's")
    try await appOwner.open()
    try await appOwner.create(1, scene.server.url)
    _ = await scene.bus.first { $0.header.kind == TransferCounted.kind && $0.header.destination == app }
    try await daemon.forceQuit(app)
    let tasks = try await daemon.list(ListSessions(), clock: scene.clockState).tasks
    #expect(tasks.map { $0.owner == app ? $0.failure?.code : nil } == [-999, nil])
    #expect(tasks.last?.state == (cancelsExtensions ? .ended : .loading))
    await scene.bus.disconnect(app)
    await daemon.ended(app, generation: 1)
    while let intent = await intents.next() {
      guard case .wantAwake(app, _, let launches) = intent else { continue }
      #expect(!launches)
      break
    }
    // The host's own death does not make it forget.
    await scene.end(daemon)
    let second = try await scene.host()
    var later = second.intents.makeAsyncIterator()
    while let intent = await later.next() {
      guard case .wantAwake(app, _, let launches) = intent else { continue }
      #expect(!launches)
      break
    }
    // The next launch is a person's, and creates the session.
    let next = try await ModelOwner(scene.bus, at: app)
    try await next.open()
    await second.awake(app, generation: 2, woken: true)
    let failure = await next.next()?.outcomes.first?.failure
    #expect(failure?.cancelledReason == 0)
    #expect(failure?.resumeData != nil)
    await scene.end(second)
  }

  // MARK: One process for each session

  @Test func `a session that another living process of the app has open is refused to a second`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    let appOwner = try await ModelOwner(scene.bus, at: app)
    let stranger = try await ModelOwner(scene.bus, at: .app("iphone", "com.examples"))
    try await owner.open()
    try await stranger.open()
    await #expect { try await appOwner.open() } throws: { ($0 as? BusError)?.code == .sessionInUse }
    try await owner.open()
    _ = try await owner.connection.request(CloseSession(identifier: "figures"), to: .host("iphone"))
    try await appOwner.open()
    await #expect { try await owner.open() } throws: { ($0 as? BusError)?.code == .sessionInUse }
    await daemon.ended(app, generation: 1)
    try await owner.open()
    await scene.end(daemon)
  }

  // MARK: Earliest dates

  @Test(arguments: [.continueLoading, .useNewRequest, .cancel] as [BeginDelayedRequest.Disposition])
  func `an owner that is asked before a task begins has its will`(disposition: BeginDelayedRequest.Disposition)
    async throws
  {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    var intents = daemon.intents.makeAsyncIterator()
    let owner = try await ModelOwner(scene.bus)
    let elsewhere = scene.server.url + "/elsewhere"
    owner.connection.onRequest(BeginDelayedRequest.self) { question, _ in
      BeginDelayedRequest.Reply(
        disposition: disposition,
        request: disposition == .useNewRequest ? TransferRequest(url: elsewhere) : nil)
    }
    try await owner.open()
    try await owner.create(1, scene.server.url, after: scene.clock.now + 60)
    await scene.clock.whenSomebodySleeps(within: 60)
    #expect(scene.server.seen == [])
    scene.clock.advance(by: 60)
    #expect(await intents.next() == .wantAwake(widget, because: "begin figures", launches: true))
    await daemon.awake(widget, generation: 1, woken: true)
    #expect(await intents.next() == .release(widget, because: "begin figures"))
    await scene.recorded(disposition == .cancel ? .cancelled : .finished)
    await daemon.awake(widget, generation: 1, woken: false)
    let outcome = await owner.next()?.outcomes.first
    #expect(outcome?.failure?.code == (disposition == .cancel ? -999 : nil))
    let answered = disposition == .useNewRequest ? elsewhere : scene.server.url
    #expect(outcome?.response?.url == (disposition == .cancel ? nil : answered))
    #expect(outcome?.task.request.url == scene.server.url)
    #expect(try await scene.limiterChanges(1).map(\.reason) == ["woken"])
    await scene.end(daemon)
  }

  @Test func `an owner that does not run is not woken for its word where the setting says so`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    scene.awake.withLock { $0 = false }
    let daemon = try await scene.host { $0.delayedRequestLaunches = false }
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url, after: scene.clock.now)
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    await scene.end(daemon)
  }

  @Test func `an owner without an answer has its original request go out`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    owner.connection.onRequest(BeginDelayedRequest.self) { _, _ in throw BusError(.unclaimed, "no such session") }
    try await owner.open()
    try await owner.create(1, scene.server.url, after: scene.clock.now)
    await daemon.awake(widget, generation: 1, woken: false)
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    await scene.end(daemon)
  }

  // MARK: Challenges

  @Test func `a challenge wakes its owner, whose handler is called first, and counts as a wake`() async throws {
    let server = try await RawServer.start { request in
      request.header("Authorization") == nil
        ? [response("who?", status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"a\"")] : [response("secret")]
    }
    let scene = try await TransferScene(.init())
    let daemon = try await scene.host()
    var intents = daemon.intents.makeAsyncIterator()
    let owner = try await ModelOwner(scene.bus)
    let questions = Mutex<[AnswerChallenge]>([])
    owner.connection.onRequest(AnswerChallenge.self) { question, _ in
      questions.withLock { $0.append(question) }
      return AnswerChallenge.Reply(disposition: .useCredential, user: "ada", password: "lovelace")
    }
    try await owner.open()
    try await owner.create(1, server.url)
    #expect(await intents.next() == .wantAwake(widget, because: "challenge figures 1", launches: true))
    await daemon.awake(widget, generation: 1, woken: true)
    #expect(await intents.next() == .release(widget, because: "challenge figures 1"))
    await scene.recorded(.finished)
    #expect(questions.withLock { $0.map(\.wakesHandler) } == [true])
    #expect(questions.withLock { $0.first?.realm } == "a")
    #expect(try await scene.limiterChanges(1).map(\.reason) == ["woken"])
    await daemon.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.outcomes.first?.response?.status == 200)
    await scene.end(daemon)
    await server.stop()
  }

  @Test(arguments: [0.0, 0.2])
  func `an owner has so long to answer a challenge as the setting says, and the 401 is the answer then`(
    deadline: Double
  ) async throws {
    let server = try await RawServer.start { request in
      request.header("Authorization") == nil
        ? [response("who?", status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"a\"")] : [response("secret")]
    }
    let scene = try await TransferScene(.init())
    let daemon = try await scene.host { $0.challengeDeadline = deadline }
    var intents = daemon.intents.makeAsyncIterator()
    let owner = try await ModelOwner(scene.bus)
    let (words, word) = AsyncStream.makeStream(of: Void.self)
    owner.connection.onRequest(AnswerChallenge.self) { _, _ in
      for await _ in words { break }
      return AnswerChallenge.Reply(disposition: .useCredential, user: "ada", password: "lovelace")
    }
    try await owner.open()
    try await owner.create(1, server.url)
    #expect(await intents.next() == .wantAwake(widget, because: "challenge figures 1", launches: true))
    await daemon.awake(widget, generation: 1, woken: false)
    await scene.heard(AnswerChallenge.kind)
    if deadline == 0 { word.yield() }
    #expect(await scene.recorded(.finished)?.detail == (deadline == 0 ? "HTTP 200" : "HTTP 401"))
    word.finish()
    await scene.end(daemon)
    await server.stop()
  }
}
