// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import SwiftData
import Testing

@Suite struct `Relationships of models` {
  /// The models of a fresh context on the same container.
  private func stored<T: PersistentModel>(_ context: ModelContext) throws -> [T] {
    try ModelContext(context.container).fetch(FetchDescriptor<T>())
  }

  @Test(.rule("MODEL-05")) func `both sides of a relationship change together`() throws {
    let context = try inMemory(Card.self)
    let (first, second) = (Card(name: "1"), Card(name: "2"))
    let place = Place(title: "p", card: first)
    context.insert(place)
    context.insert(second)
    #expect(first.modelContext === context)
    #expect(first.places == [place])
    place.card = second
    #expect(first.places == [] && second.places == [place])
    second.places = []
    #expect(place.card == nil)
    first.places.append(place)
    #expect(place.card === first)
    try context.save()
    let cards: [Card] = try stored(context)
    #expect(cards.first { $0.name == "1" }?.places.map(\.title) == ["p"])
    #expect(cards.first { $0.name == "2" }?.places == [])
    #expect(cards.first { $0.name == "1" }?.places.first?.card?.name == "1")
  }

  @Test func `several models on both sides are linked once, with an inferred inverse`() throws {
    let context = try inMemory(Person.self)
    let (a, b) = (Person(login: "a"), Person(login: "b"))
    let circle = Club(title: "c")
    context.insert(circle)
    circle.members = [a, b]
    a.follows = [b]
    #expect(a.groups == [circle] && b.groups == [circle] && b.followers == [a])
    b.groups = []
    #expect(circle.members == [a])
    try context.save()
    let people: [Person] = try stored(context)
    #expect(people.first { $0.login == "a" }?.groups.map(\.title) == ["c"])
    #expect(people.first { $0.login == "b" }?.groups == [])
    #expect(people.first { $0.login == "b" }?.followers.map(\.login) == ["a"])
  }

  @Test(.rule("MODEL-06")) func `models that are not saved and delete each other are deleted once`() throws {
    let context = try inMemory(Node.self)
    let (root, leaf) = (Node(), Node())
    context.insert(root)
    root.children = [leaf]
    context.delete(root)
    #expect(!context.hasChanges)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Node>()) == 0)
  }

  @Test(.rule("MODEL-06")) func `cascade deletes related models, and nullify removes the link`() throws {
    let context = try inMemory(Card.self, Person.self)
    let card = Card(name: "c")
    card.places = [Place(title: "p"), Place(title: "q")]
    let (a, b) = (Person(login: "a"), Person(login: "b"))
    a.follows = [b]
    context.insert(card)
    context.insert(a)
    try context.save()
    context.delete(card)
    context.delete(b)
    #expect(a.follows == [])
    try context.save()
    let (cards, places, people): ([Card], [Place], [Person]) = (
      try stored(context), try stored(context), try stored(context)
    )
    #expect(cards == [] && places == [] && people.map(\.login) == ["a"] && people.first?.follows == [])
  }

  @Test(.rule("MODEL-06")) func `deny keeps a model with related models`() throws {
    let context = try inMemory(Township.self)
    let town = Township("CH", "Bern")
    let street = Street(name: "s")
    town.streets = [street]
    context.insert(town)
    try context.save()
    context.delete(town)
    let error = #expect(throws: CocoaError.self) { try context.save() }
    #expect(error?.code.rawValue == 1600)
    context.delete(street)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Township>()) == 0)
  }

  @Test func `a model that was deleted elsewhere is no longer related`() throws {
    let context = try inMemory(Card.self)
    let card = Card(name: "c")
    card.places = [Place(title: "p")]
    context.insert(card)
    try context.save()
    let other = ModelContext(context.container)
    for place in try other.fetch(FetchDescriptor<Place>()) { other.delete(place) }
    try other.save()
    _ = try context.fetch(FetchDescriptor<Card>())
    #expect(card.places == [])
  }
}

@Suite struct `Unique values of models` {
  @Test(.rule("MODEL-04")) func `a new model with a stored unique value replaces that model's values`() throws {
    let context = try inMemory(Person.self)
    let first = Person(login: "a", age: 1)
    context.insert(first)
    context.insert(Person(login: "b"))
    try context.save()
    let identifier = first.persistentModelID
    let second = Person(login: "a", age: 2)
    let circle = Club(title: "c")
    circle.members = [second]
    context.insert(circle)
    try context.save()
    #expect(second.persistentModelID == identifier && first.age == 2)
    let people = try ModelContext(context.container).fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.login)]))
    #expect(people.map(\.login) == ["a", "b"] && people.map(\.age) == [2, 0])
    #expect(people.first?.persistentModelID == identifier && people.first?.groups.map(\.title) == ["c"])
  }

  @Test(.rule("MODEL-04")) func `the last of several new models with one unique value remains`() throws {
    let context = try inMemory(Person.self)
    for age in 1...3 { context.insert(Person(login: "a", age: age)) }
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Person>()).map(\.age) == [3])
  }

  @Test func `two models may exchange their unique values, and a changed one replaces another`() throws {
    let context = try inMemory(Person.self)
    let (a, b, c) = (Person(login: "a"), Person(login: "b"), Person(login: "c"))
    for person in [a, b, c] { context.insert(person) }
    try context.save()
    (a.login, b.login) = ("b", "a")
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.login)])) == [b, a, c])
    a.login = "c"
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.login)])) == [b, a])
  }

  @Test(.rule("MODEL-04")) func `several properties are unique together`() throws {
    let context = try inMemory(Township.self)
    context.insert(Township("CH", "Bern", size: 1))
    context.insert(Township("DE", "Bern", size: 2))
    try context.save()
    context.insert(Township("CH", "Bern", size: 3))
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Township>(sortBy: [SortDescriptor(\.country)])).map(\.size) == [3, 2])
  }
}
