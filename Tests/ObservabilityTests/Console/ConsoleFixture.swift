// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import Messages
import Synchronization
import Timekeeping
import WidgetLabTesting

@testable import Console

/// A console over a journal that the test writes, with a cluster that the test determines.
final class ConsoleFixture: Sendable {
  let folder = FileManager.default.temporaryDirectory.appending(path: "console-\(UUID().uuidString)")
  let cluster = FakeCluster()
  let journal: ConsoleJournal
  private let writer: Mutex<JournalWriter>
  private let tasks = TaskOwner()

  init(segmentLimit: Int = JournalWriter.defaultSegmentLimit, limit: Int = JournalWriter.defaultLimit) throws {
    // The writer is used by one thread at a time, under the lock.
    nonisolated(unsafe) let new = try Self.writer(folder, segmentLimit: segmentLimit, limit: limit)
    writer = Mutex(new)
    journal = try ConsoleJournal(folder: folder)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  static func frame<T: Message>(
    _ message: T, _ sequence: UInt64, from source: Address = .host("iphone"), cause: UUID? = nil
  ) throws -> [UInt8] {
    let header = EnvelopeHeader(kind: T.kind, cause: cause, source: source, destination: .journal)
    var frame = try Envelope(header: header, body: try BodyCoding.encode(message)).encoded()
    EnvelopeHeader.stamp(&frame, sequence: sequence, sourceGeneration: 1, destinationGeneration: 0)
    return frame
  }

  private static func writer(_ folder: URL, segmentLimit: Int, limit: Int) throws -> JournalWriter {
    let new = try JournalWriter(folder: folder, segmentLimit: segmentLimit, limit: limit)
    try new.startSegment(with: try frame(BusStarted(pid: 1, generation: 1, registrations: []), 1))
    return new
  }

  /// Removes the folder, and makes it again with a new journal.
  func makeAgain() throws {
    try writer.withLock { writer in
      try FileManager.default.removeItem(at: folder)
      // As in `init`.
      nonisolated(unsafe) let new = try Self.writer(
        folder, segmentLimit: JournalWriter.defaultSegmentLimit, limit: JournalWriter.defaultLimit)
      writer = new
    }
  }

  /// Appends messages, in one write.
  func write<T: Message>(_ messages: [T]) throws {
    try writer.withLock { writer in
      if writer.isFull {
        let started = BusStarted(pid: 1, generation: 1, registrations: [])
        try writer.startSegment(with: try Self.frame(started, writer.lastSequence + 1))
      }
      let first = writer.lastSequence + 1
      try writer.append(messages.enumerated().map { try Self.frame($1, first + UInt64($0)) })
    }
  }

  /// Writes outputs of a process.
  func fill(_ count: Int, text: String = "line") throws {
    try write((0..<count).map { Self.output("\(text) \($0)") })
  }

  static func output(_ line: String) -> ProcessOutput {
    ProcessOutput(
      address: .widgetExtension("iphone", "com.example.W"), generation: 1, pid: 7, stream: "stdout", line: line)
  }

  /// Returns when a condition holds.
  func until(_ isSo: (ConsoleJournal) -> Bool) async throws {
    // The number of clients has no event; a loop without a pause would occupy a thread of the other tests.
    while !isSo(journal) { try await Task.sleep(for: .milliseconds(5)) }
  }

  /// Runs a console while the test runs.
  ///
  /// - Parameter change: changes the settings.
  static func with(
    isReadOnly: Bool = false, _ change: (inout ConsoleServer.Settings) -> Void = { _ in },
    _ work: (ConsoleFixture, ConsoleClient) async throws -> Void
  ) async throws {
    let fixture = try ConsoleFixture()
    var settings = ConsoleServer.Settings(token: .random())
    change(&settings)
    let client = try await fixture.serve(settings, isReadOnly: isReadOnly)
    do {
      try await work(fixture, client)
    } catch {
      await fixture.tasks.end()
      throw error
    }
    await fixture.tasks.end()
  }

  private func serve(_ settings: ConsoleServer.Settings, isReadOnly: Bool) async throws -> ConsoleClient {
    let facts = ConsoleFacts(
      version: "0", instance: folder.path, configuration: nil, readOnlyReason: isReadOnly ? "a test" : nil,
      commandSuffix: "", device: nil)
    let server = ConsoleServer(settings, facts: facts, journal: journal, cluster: cluster)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    tasks.start {
      try? await server.run { continuation.yield($0) }
      continuation.finish()
    }
    for await port in ports {
      var client = ConsoleClient(port: port, token: settings.token.text)
      try await client.signIn()
      return client
    }
    throw LabError("the console did not listen")
  }
}

/// A cluster whose answers a test sets.
final class FakeCluster: ConsoleOperator {
  let pictures = Mutex<[String: [UInt8]]>([:])
  let performed = Mutex<[[String]]>([])
  let isConnected = Mutex(true)
  let changes: AsyncStream<Set<ConsoleTopic>>
  let announce: AsyncStream<Set<ConsoleTopic>>.Continuation

  init() { (changes, announce) = AsyncStream.makeStream(of: Set<ConsoleTopic>.self) }

  func isBusConnected() async -> Bool { isConnected.withLock { $0 } }
  func processes(_ journal: ConsoleJournal) async throws -> [ConsoleProcess] { [] }
  func screen(_ location: String?, _ journal: ConsoleJournal) async throws -> ConsoleScreen {
    throw ConsoleError(503, "the host is down")
  }
  func picture(_ hash: String) async -> [UInt8]? { pictures.withLock { $0[hash] } }
  func gallery() async throws -> [ConsoleGalleryItem] { [] }
  func budget() async throws -> ConsoleBudget { throw ConsoleError(503, "the host is down") }
  func pushes(limit: Int) async throws -> ConsolePushes { throw ConsoleError(503, "the push server is down") }
  func perform(_ arguments: [String]) async throws -> ConsoleActionResult {
    performed.withLock { $0.append(arguments) }
    return ConsoleActionResult(command: "widgetlab", exit: 0, output: [], errors: [], milliseconds: 0)
  }
}
