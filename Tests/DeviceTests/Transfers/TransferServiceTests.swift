// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget
private let bytes = figures(300_000)

@Suite(.timeLimit(.minutes(1))) struct TransferServiceTests {
  @Test(.rule("DELIVERY-03"))
  func `a downloaded file is delivered to its owner and deleted after the acknowledgement`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    let finished = await fixture.recorded(.finished)
    #expect(finished?.sha256 == digest(bytes))
    #expect(try await service.status().map(\.bytesReceived) == [Int64(bytes.count)])
    await service.awake(widget, generation: 1, woken: false)
    let received = await owner.next()
    #expect(received?.files == [Data(bytes)])
    #expect(received?.events.wakesHandler == false)
    #expect(received?.events.outcomes.first?.response?.status == 200)
    #expect(received?.events.outcomes.first?.task.taskDescription == "note")
    let place = "/Library/Caches/com.apple.nsurlsessiond/Downloads/"
    #expect(received?.events.outcomes.first?.file?.contains(place) == true)
    await fixture.received(SessionAcknowledged.kind)
    #expect(try await service.status().map(\.undelivered) == [0])
    #expect(fixture.files(below: "transfers", ending: ".part") == [])
    #expect(fixture.files(below: "containers", ending: ".tmp") == [])
    let again = try await owner.open()
    #expect(again.nextTaskIdentifier == 2)
    #expect(again.tasks == [])
    await fixture.end(service)
  }

  @Test(.rule("DELIVERY-03"), arguments: [TransferSamples.group, "group.com.example.other"])
  func `a downloaded file is delivered in the app group of its session, or in the owner's container without one`(
    group: String
  ) async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open(SessionConfiguration(sharedContainerIdentifier: group))
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await service.awake(widget, generation: 1, woken: false)
    let received = await owner.next()
    #expect(received?.files == [Data(bytes)])
    let container = group == TransferSamples.group ? "groups/\(group)" : "containers/com.example.Widget"
    let folder = "\(fixture.folder)/\(container)/Library/Caches/com.apple.nsurlsessiond/Downloads/com.example.Widget/"
    #expect(received?.events.outcomes.first?.file?.hasPrefix(folder) == true)
    await fixture.received(SessionAcknowledged.kind)
    _ = try await service.status()
    #expect(fixture.files(below: "groups", ending: ".tmp") + fixture.files(below: "containers", ending: ".tmp") == [])
    // A file that an earlier host made and did not record is removed by the next one, and no other file.
    await fixture.end(service)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["CFNetworkDownload_abcdef.tmp", "note.tmp"] { try Data().write(to: URL(filePath: folder + name)) }
    let next = try await fixture.host()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["note.tmp"])
    await fixture.end(next)
  }

  @Test(.rule("TASK-18")) func `a repeated message to create a task creates no second task`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 1000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(7, fixture.server.url)
    try await owner.create(7, fixture.server.url)
    let reply = try await owner.open()
    #expect(reply.tasks.map(\.taskIdentifier) == [7])
    #expect(reply.nextTaskIdentifier == 8)
    await fixture.end(service)
  }

  @Test func `a task of a session that was never created is refused`() async throws {
    let fixture = try await TransferFixture(.init())
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    await #expect { try await owner.create(1, "http://127.0.0.1:1/") } throws: {
      ($0 as? BusError)?.code == .noSuchSession
    }
    await fixture.end(service)
  }

  @Test(.rule("TRANSFER-33"))
  func `a download continues at the end of its file after the connection breaks`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, cutAfter: 100_000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    let retrying = await fixture.recorded(.retrying)
    await fixture.clock.whenSleeping(within: 1)
    fixture.clock.advance(by: 1)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    let at = retrying?.bytes ?? 0
    #expect(at > 0)
    #expect(fixture.server.seen.map(\.range) == [nil, "bytes=\(at)-"])
    #expect(fixture.server.seen.last?.ifRange == "\"a\"")
    await fixture.end(service)
  }

  @Test(.rule("TRANSFER-01"))
  func `a download continues at the end of its file after a host restart`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, cutAfter: 100_000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.retrying)
    await fixture.end(service)
    let second = try await fixture.host()
    await fixture.clock.whenSleeping(within: 1)
    fixture.clock.advance(by: 1)
    let resumed = await fixture.recorded(.resumed)
    #expect((resumed?.bytes ?? 0) > 0)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    await second.awake(widget, generation: 1, woken: false)
    let received = await owner.next()
    #expect(received?.files == [Data(bytes)])
    // The owner receives the response to the first request, not the response to the range request.
    #expect(received?.events.outcomes.first?.response?.status == 200)
    await fixture.end(second)
  }

  @Test(.rule("TRANSFER-33"), arguments: [true, false])
  func `a download restarts from byte 0 when the file changed or the server ignores ranges`(honoursRanges: Bool)
    async throws
  {
    let fixture = try await TransferFixture(.init(bytes: bytes, honoursRanges: honoursRanges, cutAfter: 100_000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.retrying)
    let newer = Array(bytes.reversed())
    fixture.server.behave {
      $0.bytes = newer
      $0.entityTag = "\"b\""
    }
    await fixture.clock.whenSleeping(within: 1)
    fixture.clock.advance(by: 1)
    await fixture.recorded(.restarted)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(newer))
    await fixture.end(service)
  }

  @Test func `a download without a validator restarts from byte 0`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, entityTag: nil, cutAfter: 100_000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.retrying)
    await fixture.clock.whenSleeping(within: 1)
    fixture.clock.advance(by: 1)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    #expect(fixture.server.seen.map(\.range) == [nil, nil])
    await fixture.end(service)
  }

  @Test(.rule("TRANSFER-51")) func `a download whose range is not satisfiable restarts from byte 0`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, cutAfter: 100_000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.retrying)
    // The tag is the same, but the file is now shorter than the partial file: 416.
    fixture.server.behave { $0.bytes = Array(bytes.prefix(1000)) }
    await fixture.clock.whenSleeping(within: 1)
    fixture.clock.advance(by: 1)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(Array(bytes.prefix(1000))))
    #expect(fixture.server.seen.count == 3)
    #expect(fixture.server.seen.last?.range == nil)
    await fixture.end(service)
  }

  @Test(.rule("DELIVERY-05")) func `an HTTP error status is delivered as a success with a body`() async throws {
    let fixture = try await TransferFixture(.init(bytes: [1, 2, 3], status: 404))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await service.awake(widget, generation: 1, woken: false)
    let outcome = await owner.next()?.events.outcomes.first
    #expect(outcome?.response?.status == 404)
    #expect(outcome?.failure == nil)
    #expect(outcome?.task.bytesReceived == 3)
    await fixture.end(service)
  }

  @Test func `a redirect is followed, and the response has the new URL`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, redirectTo: "/elsewhere"))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    await service.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.events.outcomes.first?.response?.url.hasSuffix("/elsewhere") == true)
    await fixture.end(service)
  }

  @Test func `a refused connection is retried until the task is cancelled with error -999`() async throws {
    let fixture = try await TransferFixture(.init())
    let absent = UnheardPort()
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, absent.url)
    await fixture.recorded(.retrying)
    await fixture.clock.whenSleeping(within: 1)
    fixture.clock.advance(by: 1)
    await fixture.recorded(.retrying, 2)
    withExtendedLifetime(absent) {}
    _ = try await owner.connection.request(
      CancelTransfer(session: "figures", taskIdentifier: 1), to: .host("iphone"))
    await service.awake(widget, generation: 1, woken: false)
    let outcome = await owner.next()?.events.outcomes.first
    #expect(outcome?.failure?.code == -999)
    #expect(outcome?.file == nil)
    await fixture.end(service)
    withExtendedLifetime(absent) {}
  }

  @Test(.rule("TRANSFER-25")) func `a task with an unsupported URL scheme fails at once with -1002`() async throws {
    let fixture = try await TransferFixture(.init())
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, "ftp://example.com/file")
    await fixture.recorded(.failed)
    await service.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.events.outcomes.first?.failure?.code == -1002)
    await fixture.end(service)
  }

  @Test(.rule("DELIVERY-04"))
  func `an owner that moves the file and exits receives a complete file again under the same delivery id`() async throws
  {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus, .removesFilesAndNeverReplies)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await service.awake(widget, generation: 1, woken: true)
    let first = await owner.next()
    #expect(first?.files == [Data(bytes)])
    await fixture.bus.disconnect(widget)
    await service.ended(widget, generation: 1)
    let next = try await ModelOwner(fixture.bus)
    await service.awake(widget, generation: 2, woken: true)
    let second = await next.next()
    #expect(second?.id == first?.id)
    #expect(second?.events.wakesHandler == true)
    #expect(second?.files == [Data(bytes)])
    await fixture.received(SessionAcknowledged.kind)
    await fixture.end(service)
  }

  @Test func `unacknowledged events are delivered after a host restart`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await fixture.end(service)
    let second = try await fixture.host()
    var actions = second.device.processes.makeAsyncIterator()
    #expect(await actions.next() == .want(widget, because: "events figures", mayWake: true))
    await second.awake(widget, generation: 1, woken: true)
    #expect(await owner.next()?.files == [Data(bytes)])
    await fixture.received(SessionAcknowledged.kind)
    await fixture.end(second)
  }

  @Test func `an acknowledgement that cannot be stored removes no file`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    var outputs = service.device.failures.makeAsyncIterator()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    try await fixture.database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE DELETE ON deliveries BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    await service.awake(widget, generation: 1, woken: false)
    _ = await outputs.next()
    #expect(fixture.files(below: "transfers", ending: ".part").count == 1)
    await fixture.end(service)
    try await fixture.database.write { try $0.execute(sql: "DROP TRIGGER full") }
    let second = try await fixture.host()
    await second.awake(widget, generation: 1, woken: false)
    await fixture.received(SessionAcknowledged.kind)
    #expect(fixture.files(below: "transfers", ending: ".part") == [])
    await fixture.end(second)
  }

  @Test func `events and task lists that are too large for an envelope are passed in a file`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 1000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    let long = "ftp://example.com/" + String(repeating: "a", count: 20_000)
    // The first task does not end, so that the others form one delivery.
    try await owner.create(1, fixture.server.url)
    for task in 2...21 { try await owner.create(task, long) }
    await fixture.recorded(.failed, 20)
    let reply = try await owner.open()
    #expect(reply.tasks == [])
    var tasks = try reply.allTasks()
    #expect(try tasks.all().map(\.taskIdentifier) == Array(1...21))
    _ = try await owner.connection.request(
      CancelTransfer(session: "figures", taskIdentifier: 1), to: .host("iphone"))
    await service.awake(widget, generation: 1, woken: false)
    let received = await owner.next()
    #expect(received?.events.outcomes == [])
    #expect(received?.outcomes.count == 21)
    await fixture.received(SessionAcknowledged.kind)
    await fixture.end(service)
    // The file of the task list is removed when the requesting process or the host exits, that of the events when
    // they are acknowledged.
    let second = try await fixture.host()
    #expect(fixture.files(below: "containers", ending: ".json") == [])
    await fixture.end(second)
  }

  @Test func `unclaimed events are recorded and delivered when the session is created`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus, .refusesFirst)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await service.awake(widget, generation: 1, woken: true)
    await fixture.received(SessionUnclaimed.kind)
    try await owner.open()
    await service.awake(widget, generation: 1, woken: false)
    #expect(await owner.next()?.files == [Data(bytes)])
    await fixture.received(SessionAcknowledged.kind)
    await fixture.end(service)
  }

  @Test func `an owner that acknowledges while the host is disconnected from the bus is not evicted`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    var actions = service.device.processes.makeAsyncIterator()
    let owner = try await ModelOwner(fixture.bus, .acknowledgesOnRequest)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    #expect(await actions.next() == .want(widget, because: "events figures", mayWake: false))
    #expect(await actions.next() == .want(widget, because: "events figures", mayWake: true))
    await service.awake(widget, generation: 1, woken: true)
    #expect(await owner.next()?.files == [Data(bytes)])
    await fixture.clock.whenSleeping(within: 30)
    await fixture.bus.disconnect(.host("iphone"))
    owner.acknowledge()
    fixture.clock.advance(by: 30)
    await fixture.clock.whenSleeping(within: 5)
    fixture.clock.advance(by: 5)
    await fixture.bus.connectAgain(.host("iphone"))
    await fixture.received(SessionAcknowledged.kind)
    #expect(await actions.next() == .want(widget, because: "events figures", mayWake: true))
    #expect(await actions.next() == .release(widget, because: "events figures"))
    await fixture.end(service)
  }

  @Test(.rule("DELIVERY-31"))
  func `an owner that misses the deadline receives an expiration and is evicted five seconds later`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    var actions = service.device.processes.makeAsyncIterator()
    let owner = try await ModelOwner(fixture.bus, .acknowledgesOnRequest)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await service.awake(widget, generation: 1, woken: true)
    let received = await owner.next()
    await fixture.clock.whenSleeping(within: 30)
    fixture.clock.advance(by: 30)
    let expiration = await fixture.bus.first { $0.header.kind == ExpireEvents.kind }
    #expect(try expiration.map { try BodyCoding.decode(ExpireEvents.self, from: $0.body) }?.delivery == received?.id)
    #expect(expiration?.header.destination == widget)
    await fixture.clock.whenSleeping(within: 5)
    fixture.clock.advance(by: 5)
    let why = "did not call the completion for figures within 35 s"
    var last: ProcessAction?
    while let action = await actions.next() {
      last = action
      if case .evict = action { break }
    }
    #expect(last == .evict(widget, generation: 1, why: why))
    await fixture.end(service)
  }
}
