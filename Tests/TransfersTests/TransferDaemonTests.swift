import Conversations
import Foundation
import GRDB
import MessageBus
import Testing
import Timekeeping

@testable import Transfers

private let bytes = figures(300_000)

@Suite(.timeLimit(.minutes(1))) struct TransferDaemonTests {
  @Test func `a file is downloaded and handed over, and forgotten when that was acknowledged`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    let finished = await scene.recorded(.finished)
    #expect(finished?.sha256 == digest(bytes))
    await daemon.awake(widget, generation: 1, woken: false)
    let heard = await owner.next()
    #expect(heard?.files == [Data(bytes)])
    #expect(heard?.events.wakesHandler == false)
    #expect(heard?.events.outcomes.first?.response?.status == 200)
    #expect(heard?.events.outcomes.first?.task.taskDescription == "note")
    let place = "/Library/Caches/com.apple.nsurlsessiond/Downloads/"
    #expect(heard?.events.outcomes.first?.file?.contains(place) == true)
    await scene.heard(SessionAcknowledged.kind)
    #expect(try await daemon.status().map(\.undelivered) == [0])
    #expect(scene.files(below: "transfers", ending: ".part") == [])
    #expect(scene.files(below: "containers", ending: ".tmp") == [])
    let again = try await owner.open()
    #expect(again.nextTaskIdentifier == 2)
    #expect(again.tasks == [])
    await scene.end(daemon)
  }

  @Test func `a task is on disk when resume is answered, and one task however often it is said`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, pauseAfter: 1000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(7, scene.server.url)
    try await owner.create(7, scene.server.url)
    let reply = try await owner.open()
    #expect(reply.tasks.map(\.taskIdentifier) == [7])
    #expect(reply.nextTaskIdentifier == 8)
    await scene.end(daemon)
  }

  @Test func `a task of a session that was never created is refused`() async throws {
    let scene = try await TransferScene(.init())
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    await #expect { try await owner.create(1, "http://127.0.0.1:1/") } throws: {
      ($0 as? BusError)?.code == .noSuchSession
    }
    await scene.end(daemon)
  }

  @Test func `a connection that breaks is taken up where the file ends`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, cutAfter: 100_000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    let retrying = await scene.recorded(.retrying)
    await scene.clock.whenSomebodySleeps(within: 1)
    scene.clock.advance(by: 1)
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    let at = retrying?.bytes ?? 0
    #expect(at > 0)
    #expect(scene.server.seen.map(\.range) == [nil, "bytes=\(at)-"])
    #expect(scene.server.seen.last?.ifRange == "\"a\"")
    await scene.end(daemon)
  }

  @Test func `after the host's own death the download goes on where the file ends`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, cutAfter: 100_000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.retrying)
    await scene.end(daemon)
    let second = try await scene.host()
    await scene.clock.whenSomebodySleeps(within: 1)
    scene.clock.advance(by: 1)
    let resumed = await scene.recorded(.resumed)
    #expect((resumed?.bytes ?? 0) > 0)
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    await second.awake(widget, generation: 1, woken: false)
    let heard = await owner.next()
    #expect(heard?.files == [Data(bytes)])
    // The owner sees the response that the file belongs to, and not the one to the range.
    #expect(heard?.events.outcomes.first?.response?.status == 200)
    await scene.end(second)
  }

  @Test(arguments: [true, false])
  func `a file that changed or a server without ranges begins again`(honoursRanges: Bool) async throws {
    let scene = try await TransferScene(.init(bytes: bytes, honoursRanges: honoursRanges, cutAfter: 100_000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.retrying)
    let newer = Array(bytes.reversed())
    scene.server.behave {
      $0.bytes = newer
      $0.entityTag = "\"b\""
    }
    await scene.clock.whenSomebodySleeps(within: 1)
    scene.clock.advance(by: 1)
    await scene.recorded(.restarted)
    #expect(await scene.recorded(.finished)?.sha256 == digest(newer))
    await scene.end(daemon)
  }

  @Test func `a file without a validator begins again`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, entityTag: nil, cutAfter: 100_000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.retrying)
    await scene.clock.whenSomebodySleeps(within: 1)
    scene.clock.advance(by: 1)
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    #expect(scene.server.seen.map(\.range) == [nil, nil])
    await scene.end(daemon)
  }

  @Test func `a range that cannot be had is asked for again from the beginning`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, cutAfter: 100_000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.retrying)
    // The same tag on a file that is shorter now than what we have: 416.
    scene.server.behave { $0.bytes = Array(bytes.prefix(1000)) }
    await scene.clock.whenSomebodySleeps(within: 1)
    scene.clock.advance(by: 1)
    #expect(await scene.recorded(.finished)?.sha256 == digest(Array(bytes.prefix(1000))))
    #expect(scene.server.seen.count == 3)
    #expect(scene.server.seen.last?.range == nil)
    await scene.end(daemon)
  }

  @Test func `an error of the server is a success with a body`() async throws {
    let scene = try await TransferScene(.init(bytes: [1, 2, 3], status: 404))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.finished)
    await daemon.awake(widget, generation: 1, woken: false)
    let outcome = await owner.next()?.events.outcomes.first
    #expect(outcome?.response?.status == 404)
    #expect(outcome?.failure == nil)
    #expect(outcome?.task.bytesReceived == 3)
    await scene.end(daemon)
  }

  @Test func `a redirect is followed`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, redirectTo: "/elsewhere"))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    #expect(await scene.recorded(.finished)?.sha256 == digest(bytes))
    await daemon.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.events.outcomes.first?.response?.url.hasSuffix("/elsewhere") == true)
    await scene.end(daemon)
  }

  @Test func `nobody at the other end is tried again, and cancelling ends it`() async throws {
    let scene = try await TransferScene(.init())
    let nobody = UnheardPort()
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, nobody.url)
    await scene.recorded(.retrying)
    await scene.clock.whenSomebodySleeps(within: 1)
    scene.clock.advance(by: 1)
    await scene.recorded(.retrying, 2)
    withExtendedLifetime(nobody) {}
    _ = try await owner.connection.request(
      CancelTransfer(session: "figures", taskIdentifier: 1), to: .host("iphone"))
    await daemon.awake(widget, generation: 1, woken: false)
    let outcome = await owner.next()?.events.outcomes.first
    #expect(outcome?.failure?.code == -999)
    #expect(outcome?.file == nil)
    await scene.end(daemon)
    withExtendedLifetime(nobody) {}
  }

  @Test func `what cannot be had at all fails at once`() async throws {
    let scene = try await TransferScene(.init())
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, "ftp://example.com/file")
    await scene.recorded(.failed)
    await daemon.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.events.outcomes.first?.failure?.code == -1002)
    await scene.end(daemon)
  }

  @Test func `an owner that took the file and died is handed a whole one under the same id`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus, .takesAndHangs)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.finished)
    await daemon.awake(widget, generation: 1, woken: true)
    let first = await owner.next()
    #expect(first?.files == [Data(bytes)])
    await scene.bus.disconnect(widget)
    await daemon.ended(widget, generation: 1)
    let next = try await ModelOwner(scene.bus)
    await daemon.awake(widget, generation: 2, woken: true)
    let second = await next.next()
    #expect(second?.id == first?.id)
    #expect(second?.events.wakesHandler == true)
    #expect(second?.files == [Data(bytes)])
    await scene.heard(SessionAcknowledged.kind)
    await scene.end(daemon)
  }

  @Test func `events that were not acknowledged outlive the host`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.finished)
    await scene.end(daemon)
    let second = try await scene.host()
    var intents = second.intents.makeAsyncIterator()
    #expect(await intents.next() == .wantAwake(widget, because: "events figures", launches: true))
    await second.awake(widget, generation: 1, woken: true)
    #expect(await owner.next()?.files == [Data(bytes)])
    await scene.heard(SessionAcknowledged.kind)
    await scene.end(second)
  }

  @Test func `an acknowledgement that cannot be recorded removes no file`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    var intents = daemon.intents.makeAsyncIterator()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.finished)
    try await scene.database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE DELETE ON deliveries BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    await daemon.awake(widget, generation: 1, woken: false)
    while let intent = await intents.next() { if case .broken = intent { break } }
    #expect(scene.files(below: "transfers", ending: ".part").count == 1)
    await scene.end(daemon)
    try await scene.database.write { try $0.execute(sql: "DROP TRIGGER full") }
    let second = try await scene.host()
    await second.awake(widget, generation: 1, woken: false)
    await scene.heard(SessionAcknowledged.kind)
    #expect(scene.files(below: "transfers", ending: ".part") == [])
    await scene.end(second)
  }

  @Test func `events and tasks that are too many for an envelope go by a file`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes, pauseAfter: 1000))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus)
    try await owner.open()
    let long = "ftp://example.com/" + String(repeating: "a", count: 20_000)
    // A first one that does not end keeps the others in one delivery.
    try await owner.create(1, scene.server.url)
    for task in 2...21 { try await owner.create(task, long) }
    await scene.recorded(.failed, 20)
    let reply = try await owner.open()
    #expect(reply.tasks == [])
    var tasks = try reply.allTasks()
    #expect(try tasks.all().map(\.taskIdentifier) == Array(1...21))
    _ = try await owner.connection.request(
      CancelTransfer(session: "figures", taskIdentifier: 1), to: .host("iphone"))
    await daemon.awake(widget, generation: 1, woken: false)
    let heard = await owner.next()
    #expect(heard?.events.outcomes == [])
    #expect(heard?.outcomes.count == 21)
    await scene.heard(SessionAcknowledged.kind)
    await scene.end(daemon)
    // The list of tasks goes with the life that asked or the host's, the events with their acknowledgement.
    let second = try await scene.host()
    #expect(scene.files(below: "containers", ending: ".json") == [])
    await scene.end(second)
  }

  @Test func `events that the owner does not claim are on record, and come when the session is created`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    let owner = try await ModelOwner(scene.bus, .claimsNothingAtFirst)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.finished)
    await daemon.awake(widget, generation: 1, woken: true)
    await scene.heard(SessionUnclaimed.kind)
    try await owner.open()
    await daemon.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.files == [Data(bytes)])
    await scene.heard(SessionAcknowledged.kind)
    await scene.end(daemon)
  }

  @Test func `a bus that is away when the time is over evicts no owner that did its work`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    var intents = daemon.intents.makeAsyncIterator()
    let owner = try await ModelOwner(scene.bus, .holdsItsWord)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.finished)
    #expect(await intents.next() == .wantAwake(widget, because: "events figures", launches: true))
    await daemon.awake(widget, generation: 1, woken: true)
    #expect(await owner.next()?.files == [Data(bytes)])
    await scene.clock.whenSomebodySleeps(within: 30)
    await scene.bus.disconnect(.host("iphone"))
    owner.speak()
    scene.clock.advance(by: 30)
    await scene.clock.whenSomebodySleeps(within: 5)
    scene.clock.advance(by: 5)
    await scene.bus.connectAgain(.host("iphone"))
    await scene.heard(SessionAcknowledged.kind)
    #expect(await intents.next() == .wantAwake(widget, because: "events figures", launches: true))
    #expect(await intents.next() == .release(widget, because: "events figures"))
    await scene.end(daemon)
    #expect(await intents.next() == nil)
  }

  @Test func `an owner whose time runs out is told, and evicted five seconds later`() async throws {
    let scene = try await TransferScene(.init(bytes: bytes))
    let daemon = try await scene.host()
    var intents = daemon.intents.makeAsyncIterator()
    let owner = try await ModelOwner(scene.bus, .holdsItsWord)
    try await owner.open()
    try await owner.create(1, scene.server.url)
    await scene.recorded(.finished)
    await daemon.awake(widget, generation: 1, woken: true)
    let heard = await owner.next()
    await scene.clock.whenSomebodySleeps(within: 30)
    scene.clock.advance(by: 30)
    let word = await scene.bus.first { $0.header.kind == ExpireEvents.kind }
    #expect(try word.map { try BodyCoding.decode(ExpireEvents.self, from: $0.body) }?.delivery == heard?.id)
    #expect(word?.header.destination == widget)
    await scene.clock.whenSomebodySleeps(within: 5)
    scene.clock.advance(by: 5)
    let why = "did not call the completion for figures within 35 s"
    while let intent = await intents.next(), intent != .evict(widget, generation: 1, why: why) {}
    await scene.end(daemon)
  }

  @Test func `a delivery that another took over leaves its tasks`() throws {
    let store = try TransferStore(DatabaseQueue())
    let session = SessionKey(owner: widget, identifier: "figures")
    try store.open(session, SessionConfiguration())
    for task in [1, 2] {
      _ = try store.insert(
        StoredTask(
          CreateTransfer(
            session: "figures", taskIdentifier: task, request: TransferRequest(url: "http://a.example"),
            taskDescription: nil),
          resuming: nil, key: TaskKey(session: session, identifier: task), created: Date(), isInBackground: false))
    }
    var decision = DeliveryDecision(settings: TransferSettings())
    var kept = KeptDeliveries(decision)
    let (older, younger) = (UUID(), UUID())
    decision.deliveries[older] = DeliveryDecision.Delivery(id: older, session: session, tasks: [1])
    decision.deliveries[younger] = DeliveryDecision.Delivery(id: younger, session: session, tasks: [2])
    try store.save(&decision, &kept)
    decision.deliveries[older]?.tasks = [1, 2]
    decision.deliveries[younger] = nil
    try store.save(&decision, &kept)
    #expect(try store.tasks(of: session).map(\.key.identifier) == [1, 2])
    decision.deliveries[older] = nil
    try store.save(&decision, &kept)
    #expect(try store.tasks(of: session).isEmpty)
  }
}
