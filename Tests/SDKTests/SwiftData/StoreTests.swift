// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Synchronization
import Testing

@testable import SwiftData

@Suite(.timeLimit(.minutes(2))) struct `Stores of models` {
  private func container(_ file: URL, _ types: any PersistentModel.Type...) throws -> ModelContainer {
    try ModelContainer(for: Schema(types), configurations: ModelConfiguration(url: file))
  }

  @Test(.rule("MODEL-02")) func `a store without a url is in Library/Application Support`() throws {
    #expect(ModelConfiguration().url.path.hasSuffix("/Library/Application Support/default.store"))
    #expect(ModelConfiguration("Cards").url.lastPathComponent == "Cards.store")
    #expect(ModelConfiguration(isStoredInMemoryOnly: true).isStoredInMemoryOnly)
    #expect(!ModelConfiguration("x", schema: nil, groupContainer: .none, cloudKitDatabase: .none).isStoredInMemoryOnly)
  }

  @Test(.rule("MODEL-01")) func `several may create the same store at the same time`() async throws {
    try await withFolder { folder in
      for round in 0..<20 {
        let file = folder.appending(path: "\(round).store")
        let identifiers = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
          do {
            let store = try RecordStore(file)
            identifiers.withLock { $0.append(store.identifier) }
          } catch {
            Issue.record(error)
          }
        }
        #expect(identifiers.withLock { $0.count } == 8)
        #expect(identifiers.withLock { Set($0).count } == 1)
      }
    }
  }

  @Test(.rule("MODEL-07")) func `a change of the unique properties is refused with the reason`() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "notes.store")
      let context = ModelContext(try container(file, FirstNotes.Note.self))
      context.insert(FirstNotes.Note(text: "a"))
      try context.save()
      let error = #expect(throws: SwiftDataError.self) { try container(file, FourthNotes.Note.self) }
      #expect(error == .loadIssueModelContainer)
      #expect(error?.description.contains("the unique properties of Note have changed") == true)
    }
  }

  @Test func `a unique key path that is no stored property is refused`() {
    #expect(throws: SwiftDataError.unsupportedKeyPath) { try inMemory(Odd.self) }
  }

  @Test(.rule("MODEL-01")) func `two containers on one file see what the other has saved`() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "new folder/cards.store")
      let (first, second) = (try container(file, Card.self), try container(file, Card.self))
      let context = ModelContext(first)
      let card = Card(name: "a")
      context.insert(card)
      #expect(try ModelContext(second).fetchCount(FetchDescriptor<Card>()) == 0)
      try context.save()
      let reader = ModelContext(second)
      let seen = try #require(try reader.fetch(FetchDescriptor<Card>()).first)
      #expect(seen.name == "a" && seen == card)
      seen.note = "from the other"
      try reader.save()
      card.name = "b"
      try context.save()
      // Each has changed one property, and no change is lost.
      let last = try #require(try ModelContext(first).fetch(FetchDescriptor<Card>()).first)
      #expect(last.name == "b" && last.note == "from the other")
      _ = try context.fetch(FetchDescriptor<Card>())
      #expect(card.note == "from the other")
    }
  }

  @Test func `two processes add models to the same one`() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "cards.store")
      let (first, second) = (
        ModelContext(try container(file, Card.self)), ModelContext(try container(file, Card.self))
      )
      first.insert(Card(name: "a"))
      try first.save()
      for (context, title) in [(first, "p"), (second, "q")] {
        let card = try #require(try context.fetch(FetchDescriptor<Card>()).first)
        card.places.append(Place(title: title))
      }
      try first.save()
      try second.save()
      let card = try #require(try ModelContext(second.container).fetch(FetchDescriptor<Card>()).first)
      #expect(card.places.map(\.title) == ["p", "q"])
    }
  }

  @Test(.rule("MODEL-03")) func `a killed process loses nothing that was saved`() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "entries.store").path
      var saved = 0
      for _ in 0..<3 {
        let process = try StoreProcess(file, "\(saved + 1)")
        // Killed while it saves: at a moment that the test does not choose.
        let last = try #require(try process.line(after: saved + 20))
        process.kill()
        saved = try process.rest() ?? last
        let reader = try StoreProcess(file, "read")
        let numbers = try reader.text().split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        #expect(numbers.prefix(saved).elementsEqual(1...saved))
        // At most the save that was not reported yet.
        #expect(numbers.count <= saved + 1)
        saved = numbers.count
      }
    }
  }

  @Test func `the log of processes that are killed after one save does not grow without bound`() async throws {
    try await withFolder { folder in
      var longest = 0
      for process in 1...40 {
        let file = folder.appending(path: "\(process).store")
        let context = ModelContext(try container(file, FirstNotes.Note.self))
        context.insert(FirstNotes.Note(text: String(repeating: "a", count: 300_000)))
        try context.save()
        // A copy of the files is what a process leaves that is killed now.
        for suffix in ["", "-wal"] {
          try FileManager.default.copyItem(
            atPath: file.path + suffix, toPath: folder.appending(path: "\(process + 1).store").path + suffix)
        }
        longest = max(longest, try Data(contentsOf: URL(filePath: file.path + "-wal")).count)
      }
      #expect(longest < 9_000_000)
      let notes = try ModelContext(try container(folder.appending(path: "41.store"), FirstNotes.Note.self))
        .fetchCount(FetchDescriptor<FirstNotes.Note>())
      #expect(notes == 40)
    }
  }

  @Test(.rule("MODEL-07")) func `properties may be added, renamed and removed`() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "notes.store")
      let context = ModelContext(try container(file, FirstNotes.Note.self))
      context.insert(FirstNotes.Note(text: "a"))
      try context.save()
      let next = ModelContext(try container(file, SecondNotes.Note.self))
      let note = try #require(try next.fetch(FetchDescriptor<SecondNotes.Note>()).first)
      #expect(note.body == "a" && !note.isDone && note.tag == nil)
    }
  }

  @Test(.rule("MODEL-07")) func `a new property without a value for stored models is an error`() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "notes.store")
      _ = try container(file, FirstNotes.Note.self)
      let error = #expect(throws: SwiftDataError.self) { try container(file, ThirdNotes.Note.self) }
      #expect(error == .loadIssueModelContainer && "\(error!)".contains("Note.number"))
    }
  }

  @Test(.rule("MODEL-07")) func `a migration with the author's code is an error`() async throws {
    enum V1: VersionedSchema {
      static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
      static var models: [any PersistentModel.Type] { [FirstNotes.Note.self] }
    }
    enum V2: VersionedSchema {
      static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
      static var models: [any PersistentModel.Type] { [SecondNotes.Note.self] }
    }
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
      static var stages: [MigrationStage] {
        [.custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: { _ in }, didMigrate: nil)]
      }
    }
    try await withFolder { folder in
      let configuration = ModelConfiguration(url: folder.appending(path: "notes.store"))
      _ = try ModelContainer(for: Schema(versionedSchema: V1.self), configurations: configuration)
      let next = Schema(versionedSchema: V2.self)
      let error = #expect(throws: SwiftDataError.self) {
        try ModelContainer(for: next, migrationPlan: Plan.self, configurations: configuration)
      }
      #expect("\(error!)".contains("1.0.0 to 2.0.0 is custom"))
    }
  }

  @Test func `a database of another program is an error, and remains as it is`() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "other.store")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let other = try StoreConnection(file.path)
      try other.execute("CREATE TABLE ZCARD (Z_PK INTEGER PRIMARY KEY)")
      let error = #expect(throws: SwiftDataError.self) { try container(file, Card.self) }
      #expect("\(error!)".contains("database of another program"))
      try other.execute("INSERT INTO ZCARD VALUES (1)")
    }
  }

  @Test func `a configuration that does not allow to save refuses`() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "cards.store")
      let container = try ModelContainer(
        for: Card.self, configurations: ModelConfiguration(url: file, allowsSave: false))
      let context = ModelContext(container)
      context.insert(Card(name: "a"))
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }

  @Test func `each configuration has the types of its schema`() async throws {
    try await withFolder { folder in
      let (cards, people) = (folder.appending(path: "c.store"), folder.appending(path: "p.store"))
      let container = try ModelContainer(
        for: Schema([Card.self, Person.self]),
        configurations: [
          ModelConfiguration("c", schema: Schema([Card.self]), url: cards),
          ModelConfiguration("p", schema: Schema([Person.self]), url: people),
        ])
      let context = ModelContext(container)
      context.insert(Card(name: "a"))
      context.insert(Person(login: "b"))
      try context.save()
      let only = ModelContext(try self.container(people, Person.self))
      #expect(try only.fetch(FetchDescriptor<Person>()).map(\.login) == ["b"])
      try container.erase()
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<Card>()) == 0)
    }
  }
}

/// A run of `FixtureStore`.
private final class StoreProcess {
  private let process = Process()
  private let output = Pipe()
  private var buffer = Data()

  init(_ arguments: String...) throws {
    var folder = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    if let bundle = CommandLine.arguments.first(where: { $0.hasSuffix(".xctest") }) { folder = bundle }
    process.executableURL = URL(filePath: folder).deletingLastPathComponent().appending(path: "FixtureModules")
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["TRIAL_FIXTURE": "store"]) { $1 }
    process.standardOutput = output
    try process.run()
  }

  /// The first number that is at least `minimum`, when the process has printed it.
  func line(after minimum: Int) throws -> Int? {
    while let data = try output.fileHandleForReading.read(upToCount: 1) {
      if data != Data("\n".utf8) {
        buffer += data
        continue
      }
      let number = Int(String(decoding: buffer, as: UTF8.self))
      buffer = Data()
      if let number, number >= minimum { return number }
    }
    return nil
  }

  func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

  /// The last complete line until the end.
  func rest() throws -> Int? {
    let text = String(decoding: buffer, as: UTF8.self) + (try text())
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { Int($0) }.last
  }

  func text() throws -> String {
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
