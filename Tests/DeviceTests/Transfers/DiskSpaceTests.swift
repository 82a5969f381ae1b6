// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget

/// What downloads do when the disk has little space.
@Suite(.timeLimit(.minutes(1))) struct `A disk with little space` {
  private let body = String(repeating: "a", count: 140_000)

  private func space(_ free: Int64, reserve: Int64 = 1_000_000) -> TransferSpace {
    TransferSpace(folder: "/instance", free: reserve + free, reserve: reserve)
  }

  @Test(.rule("TRANSFER-62"))
  func `a body that does not fit twice beside the reserve fails with -3003 before any of it is written`() async throws {
    try await withServer({ _ in [response(body)] }) { fixture, server in
      let fault = await fixture.fault(TransferRequest(url: server.url)) { space(279_999) }
      #expect(fault?.code == -3003)
      #expect(fault?.next == .later)
      #expect(
        fault?.failure.message
          == "no space left on the disk: /instance has 1249 KiB free, of which 976 KiB are reserved; 273 KiB are needed"
      )
      #expect(fixture.part.isEmpty)
      #expect(!fixture.events.contains { if case .received = $0 { true } else { false } })
      #expect(await fixture.fault(TransferRequest(url: server.url)) { space(280_000) } == nil)
      #expect(fixture.bytes.count == 140_000)
    }
  }

  @Test(.rule("TRANSFER-62"))
  func `a body of unknown length fails with -3003 at the reserve, and what was received is removed`() async throws {
    let chunk = "4000\r\n" + String(repeating: "a", count: 0x4000) + "\r\n"
    try await withServer({ _ in
      [.send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nTransfer-Encoding: chunked\r\n\r\n"), .endless(chunk)]
    }) { fixture, server in
      let largest = Mutex(0)
      let fault = await fixture.fault(TransferRequest(url: server.url)) {
        let size = fixture.part.count
        largest.withLock { $0 = max($0, size) }
        return space(300_000 - Int64(size))
      }
      #expect(fault?.code == -3003)
      #expect(fault?.next == .later)
      #expect((50_000...150_000).contains(largest.withLock { $0 }))
      #expect(fixture.part.isEmpty)
    }
  }

  @Test(.rule("TRANSFER-62")) func `a part that cannot be completed is removed`() async throws {
    let rest = String(body.dropFirst(100_000))
    try await withServer({ request in
      guard request.header("Range") != nil else { return [response(body)] }
      return [
        response(rest, status: "206 Partial Content", "ETag: \"a\"", "Content-Range: bytes 100000-139999/140000")
      ]
    }) { fixture, server in
      try fixture.leave(String(body.prefix(100_000)), of: 140_000, tag: "\"a\"")
      let fault = await fixture.fault(TransferRequest(url: server.url)) { space(100_000) }
      #expect(fault?.code == -3003)
      #expect(server.seen.last?.header("Range") == "bytes=100000-")
      #expect(fixture.part.isEmpty)
      #expect(await fixture.fault(TransferRequest(url: server.url)) { space(280_000) } == nil)
      #expect(server.seen.last?.header("Range") == nil)
      #expect(fixture.bytes.count == 140_000)
    }
  }

  @Test(.rule("TRANSFER-62"))
  func `a task without space is retried with growing pauses, can be cancelled, and others go on`() async throws {
    let fixture = try await TransferFixture(.init(bytes: figures(100_000)))
    fixture.space.withLock { $0 = space(150_000) }
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    let first = await fixture.recorded(.retrying)
    #expect(first?.bytes == 0)
    #expect(first?.detail?.hasPrefix("no space left on the disk: /instance has 1123 KiB free") == true)
    #expect(first?.detail?.hasSuffix("(-3003); again in 1 s") == true)
    let report = try await service.list(ListSessions(), clock: fixture.clockState).tasks.first
    #expect(report?.waitsFor?.contains("the next attempt, ") == true)
    #expect(report?.waitsFor?.hasSuffix("195 KiB are needed (-3003)") == true)
    fixture.clock.advance(by: 1)
    #expect(await fixture.recorded(.retrying, 2)?.detail?.hasSuffix("again in 2 s") == true)
    fixture.server.behave { $0.bytes = figures(60_000) }
    try await owner.create(2, fixture.server.url)
    #expect(await fixture.recorded(.finished)?.taskIdentifier == 2)
    _ = try await owner.connection.request(
      CancelTransfer(session: "figures", taskIdentifier: 1, producesResumeData: false), to: .host("iphone"))
    #expect(await fixture.recorded(.cancelled)?.taskIdentifier == 1)
    await service.awake(widget, generation: 1, woken: false)
    var delivered: Set<Int> = []
    while delivered.count < 2, let receipt = await owner.next() {
      delivered.formUnion(receipt.outcomes.map(\.task.taskIdentifier))
      for outcome in receipt.outcomes {
        #expect(outcome.failure?.code == (outcome.task.taskIdentifier == 1 ? -999 : nil))
      }
    }
    await fixture.end(service)
  }

  @Test(.rule("TRANSFER-62")) func `a file is delivered when there is space for its copy`() async throws {
    let fixture = try await TransferFixture(.init(bytes: figures(100_000)))
    let first = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await fixture.end(first)
    fixture.space.withLock { $0 = space(99_999) }
    let second = try await fixture.host()
    await second.awake(widget, generation: 1, woken: false)
    let detail = await fixture.recorded(.retrying)?.detail
    #expect(detail?.hasPrefix("the file cannot be delivered: no space left on the disk: /instance") == true)
    fixture.space.withLock { $0 = space(100_000) }
    fixture.clock.advance(by: 1)
    #expect(await owner.next()?.files.first == Data(figures(100_000)))
    await fixture.end(second)
  }

  /// 100,000 zeros as 133 bytes, a member of gzip.
  private let zeros =
    Data(
      base64Encoded:
        "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"
    ) ?? Data()

  @Test(.rule("TRANSFER-66"), arguments: [(200, -1016), (2000, nil), (0, nil)] as [(Int, Int?)])
  func `an encoded body that grows by more than the limit fails permanently with -1016`(
    limit: Int, code: Int?
  ) async throws {
    let packed = Array(repeating: Array(zeros), count: 20).flatMap(\.self)
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
    let server = try await RawServer.start { _ in [.bytes(Array(head.utf8) + packed)] }
    let fixture = try AttemptFixture(expansionLimit: limit)
    let fault = await fixture.fault(TransferRequest(url: server.url))
    #expect(fault?.code == code)
    if code != nil { #expect(fault?.next == .never) } else { #expect(fixture.bytes.count == 2_000_000) }
    await fixture.end()
    await server.stop()
  }
}
