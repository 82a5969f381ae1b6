// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import SwiftData
import Testing

@Suite struct `Models in a context` {
  @Test func `a model has its values before and after it is inserted`() throws {
    let card = Card(name: "a")
    #expect(card.name == "a" && card.note == nil && card.kind == .qr && card.places == [])
    card.name += "b"
    card.observed += 1
    card.cached = 7
    #expect(card.name == "ab" && card.observed == 4 && card.cached == 7 && card.fixed == 6 && card.slow == 1)
    #expect(card.modelContext == nil && !card.hasChanges)
    let context = try inMemory(Card.self)
    context.insert(card)
    #expect(card.modelContext === context && card.hasChanges && context.hasChanges)
    #expect(card.name == "ab" && card.extra.texts == ["{", "}"])
    try context.save()
    #expect(!card.hasChanges && !context.hasChanges && card.cached == 7)
  }

  @Test(.rule("MODEL-01")) func `every value is the same after a save`() throws {
    let context = try inMemory(Card.self)
    let card = Card(name: "Zürich \"{\"", note: "n")
    card.kind = .ean
    card.extra = Extra(number: .max, texts: ["\u{0}", ""])
    card.image = Data([0, 255])
    card.date = Date(timeIntervalSinceReferenceDate: 123_456.789_012_3)
    card.ratio = .infinity
    card.shown = 9
    context.insert(card)
    try context.save()
    let other = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Card>()).first)
    #expect(other !== card && other == card && other.persistentModelID == card.persistentModelID)
    #expect(other.id == card.id && other.name == card.name && other.note == "n" && other.kind == .ean)
    #expect(other.extra == card.extra && other.image == card.image && other.date == card.date)
    #expect(other.ratio == .infinity && other.shown == 0 && other.cached == 4)
  }

  @Test func `a fetch has the predicate, the order, the limit and the offset of its descriptor`() throws {
    let context = try inMemory(Card.self)
    for (name, note) in [("c", nil), ("a", "x"), ("b", "y"), ("d", "x")] {
      context.insert(Card(name: name, note: note))
    }
    try context.save()
    func names(_ descriptor: FetchDescriptor<Card>) throws -> [String] { try context.fetch(descriptor).map(\.name) }
    #expect(try names(FetchDescriptor()) == ["c", "a", "b", "d"])
    let wanted = "x"
    let noted = #Predicate<Card> { $0.note == wanted }
    #expect(
      try names(FetchDescriptor(predicate: noted, sortBy: [SortDescriptor(\.name, order: .reverse)])) == ["d", "a"])
    var descriptor = FetchDescriptor<Card>(sortBy: [SortDescriptor(\.name)])
    descriptor.fetchLimit = 2
    descriptor.fetchOffset = 1
    #expect(try names(descriptor) == ["b", "c"])
    #expect(try context.fetchCount(descriptor) == 2)
    #expect(try context.fetchIdentifiers(descriptor).count == 2)
    var seen: [String] = []
    try context.enumerate(descriptor) { seen.append($0.name) }
    #expect(seen == ["b", "c"])
    let kind = Kind.qr
    let identifier = try #require(try context.fetch(descriptor).first?.persistentModelID)
    let predicate = #Predicate<Card> { $0.kind == kind && $0.persistentModelID == identifier }
    #expect(try names(FetchDescriptor(predicate: predicate)) == ["b"])
  }

  @Test func `a predicate may use related models, optional values and parts of texts`() throws {
    let context = try inMemory(Card.self, Person.self)
    let card = Card(name: "Zürich", note: "a note")
    card.places = [Place(title: "p"), Place(title: "q")]
    context.insert(card)
    context.insert(Card(name: "Bern"))
    context.insert(Place(title: "r"))
    try context.save()
    func names(_ predicate: Predicate<Card>) throws -> [String] {
      try ModelContext(context.container).fetch(FetchDescriptor(predicate: predicate)).map(\.name)
    }
    let (same, before) = (ComparisonResult.orderedSame, ComparisonResult.orderedAscending)
    let (person, circle) = (Person(login: "a"), Club(title: "c"))
    person.groups = [circle]
    context.insert(person)
    let members = #Predicate<Person> { $0.groups.contains { $0.title == "c" } }
    #expect(try context.fetch(FetchDescriptor(predicate: members)) == [person])
    #expect(try names(#Predicate { $0.name.contains("ü") && $0.note != nil }) == ["Zürich"])
    #expect(try names(#Predicate { ($0.note ?? "").isEmpty || $0.name.starts(with: "Z") }) == ["Zürich", "Bern"])
    #expect(try names(#Predicate { $0.name.localizedStandardContains("zur") }) == ["Zürich"])
    #expect(try names(#Predicate { $0.name.caseInsensitiveCompare("BERN") == same }) == ["Bern"])
    #expect(try names(#Predicate { $0.name.localizedCompare("C") == before }) == ["Bern"])
    let places = FetchDescriptor<Place>(
      predicate: #Predicate { $0.card?.name == "Zürich" }, sortBy: [SortDescriptor(\.title)])
    #expect(try context.fetch(places).map(\.title) == ["p", "q"])
  }

  @Test func `a fetch has changes that are not saved, unless the descriptor excludes them`() throws {
    let context = try inMemory(Card.self)
    let (keptCard, removed) = (Card(name: "kept"), Card(name: "removed"))
    context.insert(keptCard)
    context.insert(removed)
    try context.save()
    context.delete(removed)
    context.insert(Card(name: "new"))
    #expect(removed.isDeleted)
    #expect(try context.fetch(FetchDescriptor<Card>()).map(\.name) == ["kept", "new"])
    var descriptor = FetchDescriptor<Card>()
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor).map(\.name) == ["kept", "removed"])
    #expect(context.insertedModelsArray.count == 1 && context.deletedModelsArray.count == 1)
  }

  @Test func `a model is one object in a context`() throws {
    let context = try inMemory(Card.self)
    let card = Card(name: "a")
    context.insert(card)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Card>()).first === card)
    #expect(context.model(for: card.persistentModelID) === card)
    let registered: Card? = context.registeredModel(for: card.persistentModelID)
    #expect(registered === card)
  }

  @Test func `rollback returns to the last save`() throws {
    let context = try inMemory(Card.self, Place.self)
    let card = Card(name: "a")
    card.places = [Place(title: "p")]
    context.insert(card)
    try context.save()
    let new = Card(name: "new")
    context.insert(new)
    card.name = "changed"
    card.places.append(Place(title: "q"))
    context.rollback()
    #expect(card.name == "a" && card.places.map(\.title) == ["p"] && new.modelContext == nil && !context.hasChanges)
    context.delete(card)
    context.rollback()
    #expect(try context.fetchCount(FetchDescriptor<Card>()) == 1)
  }

  @Test func `a transaction saves its changes`() throws {
    let context = try inMemory(Card.self)
    try context.transaction { context.insert(Card(name: "a")) }
    #expect(!context.hasChanges)
    try context.delete(model: Card.self, where: #Predicate { $0.name == "a" })
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Card>()) == 0)
  }

  @Test func `a type that is not in the schema is an error with its name`() throws {
    let context = try inMemory(Card.self)
    #expect(throws: SwiftDataError.unknownSchema) { try context.fetch(FetchDescriptor<Township>()) }
  }

  @Test func `a change of a property is observed`() throws {
    let context = try inMemory(Card.self)
    let card = Card(name: "a")
    context.insert(card)
    nonisolated(unsafe) var count = 0  // Set by this thread only.
    withObservationTracking {
      _ = card.name
    } onChange: {
      count += 1
    }
    card.note = "not observed"
    #expect(count == 0)
    card.name = "b"
    #expect(count == 1)
    withObservationTracking {
      _ = card.places
    } onChange: {
      count += 1
    }
    _ = Place(title: "p", card: nil)
    let place = Place(title: "q")
    context.insert(place)
    place.card = card
    #expect(count == 2)
  }

  @Test(.timeLimit(.minutes(1))) @MainActor func `the main context saves by itself`() async throws {
    let container = try ModelContainer(for: Card.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = container.mainContext
    #expect(context === container.mainContext && context.autosaveEnabled && !ModelContext(container).autosaveEnabled)
    let saved = NotificationCenter.default.notifications(named: ModelContext.didSave, object: context)
    context.insert(Card(name: "a"))
    for await _ in saved.map({ _ in true }) { break }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Card>()) == 1)
  }

  @Test(.timeLimit(.minutes(1))) func `a model actor has its own context`() async throws {
    let container = try ModelContainer(for: Card.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let registry = Registry(modelContainer: container)
    let identifier = try await registry.add("b")
    _ = try await registry.add("a")
    #expect(try await registry.names() == ["a", "b"])
    #expect(await registry.name(of: identifier) == "b")
    let context = ModelContext(container)
    #expect((context.model(for: identifier) as? Card)?.name == "b")
    let text = try JSONEncoder().encode(identifier)
    #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: text) == identifier)
  }
}
