// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import Journal
@testable import MessageBusBroker

/// A simulated disk that a test fills and empties.
private final class Disk: Sendable {
  private let isFull = Mutex(false)
  /// Yields once for each write that fails on the full disk.
  let refusals: AsyncStream<Void>
  private let refused: AsyncStream<Void>.Continuation

  init() { (refusals, refused) = AsyncStream.makeStream() }

  func setFull(_ full: Bool) { isFull.withLock { $0 = full } }

  /// Intercepts the writer's writes; passes them to the real disk while this disk is not full.
  func lie(below writer: JournalWriter) {
    let disk = writer.write
    writer.write = { [self] file, bytes, offset throws(JournalError) in
      guard isFull.withLock({ $0 }) else { return try disk(file, bytes, offset) }
      try disk(file, Array(bytes.prefix(50)), offset)
      refused.yield()
      throw JournalError(.notWritable, path: file.path, message: "No space left on device")
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct `A full disk` {
  private let fixture: BrokerFixture
  private let disk = Disk()

  init() throws { fixture = try BrokerFixture() }

  private func withBroker(
    segmentLimit: Int = JournalWriter.defaultSegmentLimit, _ body: (Connection, Connection) async throws -> Void
  ) async throws {
    var settings = BrokerSettings(instance: fixture.instance)
    settings.segmentLimit = segmentLimit
    let disk = disk
    let broker = try Broker(settings, prepare: { disk.lie(below: $0) })
    let bus = try await broker.start()
    let one = fixture.connection(bus, address: host, pair: fixture.hostPair)
    let other = fixture.connection(bus, address: agent, pair: fixture.agentPair)
    other.onRequest(ListProcesses.self) { _, _ in ListProcesses.Reply(incarnation: UUID(), children: []) }
    _ = try await one.start()
    _ = try await other.start()
    try await body(one, other)
    await one.leave()
    await other.leave()
    await broker.stop()
  }

  private func waitUntilFull() async { for await _ in disk.refusals { return } }

  @Test func `with a full disk the broker answers busy and forwards nothing, and it resumes when there is room`()
    async throws
  {
    try await withBroker { one, other in
      _ = try await one.request(ListProcesses(), to: agent)
      disk.setFull(true)
      one.record(ProcessState(address: widget, generation: 1, state: "recorded on a full disk", why: "a test"))
      await waitUntilFull()
      let before = try fixture.reader.read()
      for _ in 0..<3 {
        let error = await #expect(throws: BusError.self) { try await one.request(ListProcesses(), to: agent) }
        #expect(error?.code == .busy)
        #expect(error?.isDefinite == true)
      }
      await waitUntilFull()
      #expect(try fixture.reader.read() == before)
      disk.setFull(false)
      let (_, resumed) = try await fixture.recorded(JournalResumed.self)
      #expect(resumed.reason == "No space left on device")
      #expect(resumed.turnedDown == 3)
      #expect(resumed.held >= 1)
      _ = try await fixture.recorded(ProcessState.self) { $0.state == "recorded on a full disk" }
      _ = try await one.request(ListProcesses(), to: agent)
    }
    let all = try fixture.reader.read()
    #expect(all.map(\.header.sequence) == Array(1...UInt64(all.count)))
    #expect(
      all.filter { $0.header.kind == ListProcesses.kind }.count == 2,
      "a request that was answered with busy is not in the journal")
    #expect(try JournalVerifier(folder: URL(filePath: fixture.instance.journal)).verify().findings.isEmpty)
  }

  @Test func `peers and events that arrive while the disk is full are admitted and delivered afterwards`() async throws
  {
    try await withBroker { one, other in
      let (seen, see) = AsyncStream.makeStream(of: Void.self)
      one.onEvent(AgentStarted.self) { _, _ in see.yield() }
      disk.setFull(true)
      one.record(ProcessState(address: widget, generation: 1, state: "running", why: "a test"))
      await waitUntilFull()
      let late = fixture.connection(
        try #require(try BusAnnouncement.read(in: fixture.instance)), address: tool, pair: fixture.operatorPair)
      async let welcome = late.start()
      async let delivered: Void = other.deliver(AgentStarted(incarnation: UUID(), pid: 1, children: []), to: host)
      for _ in 0..<3 { await waitUntilFull() }
      #expect(await late.generation == 0)
      disk.setFull(false)
      #expect(try await welcome == 1)
      try await delivered
      for await _ in seen { break }
      _ = try await late.request(Ping(), to: .messageBus)
      await late.leave()
    }
    let all = try fixture.reader.read()
    #expect(all.map(\.header.sequence) == Array(1...UInt64(all.count)))
  }

  @Test func `sequence numbers have no gap when the disk is full at the start of a segment`() async throws {
    try await withBroker(segmentLimit: 2000) { one, other in
      for round in 0..<10 {
        disk.setFull(true)
        one.record(ProcessState(address: widget, generation: 1, state: "round \(round)", why: "a test"))
        await waitUntilFull()
        disk.setFull(false)
        _ = try await fixture.recorded(ProcessState.self) { $0.state == "round \(round)" }
        _ = try await one.request(ListProcesses(), to: agent, whenUnreachable: .wait)
      }
    }
    let all = try fixture.reader.read()
    #expect(all.map(\.header.sequence) == Array(1...UInt64(all.count)))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.instance.journal).count > 3)
  }

  @Test func `records beyond the broker's buffer limit are not lost while the disk is full`() async throws {
    let total = Stall.keptLimit.count + 2000
    try await withBroker { one, other in
      disk.setFull(true)
      one.record(ProcessState(address: widget, generation: 1, state: "0", why: "a test"))
      await waitUntilFull()
      for number in 1...total {
        one.record(ProcessState(address: widget, generation: 1, state: "\(number)", why: "a test"))
      }
      for _ in 0..<3 { await waitUntilFull() }
      disk.setFull(false)
      _ = try await fixture.recorded(ProcessState.self) { $0.state == "\(total)" }
    }
    let states = try fixture.reader.read().filter { $0.header.kind == ProcessState.kind }
    #expect(states.count == total + 1)
  }
}
