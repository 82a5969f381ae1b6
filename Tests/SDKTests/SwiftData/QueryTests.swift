// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import SwiftData
import Testing

// Not a plain import: with Testing, the compiler would look for an overlay of UIKit that exists only on Apple's systems.
@testable import SwiftUI

private struct CardList: View {
  @Environment(\.modelContext) private var context
  @Query private var all: [Card]
  @Query(sort: \Card.name, order: .reverse) private var sorted: [Card]
  @Query(filter: #Predicate<Card> { $0.note != nil }, sort: [SortDescriptor(\Card.name)]) private var noted: [Card]
  @Query(FetchDescriptor<Card>(predicate: #Predicate { $0.name == "a" })) private var described: [Card]

  var lists: [[String]] { [all, sorted, noted, described].map { $0.map(\.name) } }
  var body: some View { ForEach(all) { Text($0.name) } }
}

private struct NamedCards: View {
  @Query private var cards: [Card]

  init(_ name: String) { _cards = Query(filter: #Predicate<Card> { $0.name == name }, sort: \.name) }

  var names: [String] { cards.map(\.name) }
  var body: some View { Text("\(cards.count)").modelContainer(for: Card.self, inMemory: true) }
}

@Suite @MainActor struct `Queries of a view` {
  @Test(.rule("MODEL-08")) func `a query fetches from the context of the environment each time`() throws {
    let context = try inMemory(Card.self)
    for (name, note) in [("b", "x"), ("c", nil), ("a", "y")] { context.insert(Card(name: name, note: note)) }
    var environment = EnvironmentValues()
    environment.modelContext = context
    let list = CardList()
    #expect(
      environment.during { list.lists } == [["b", "c", "a"], ["c", "b", "a"], ["a", "b"], ["a"]])
    context.insert(Card(name: "d"))
    #expect(environment.during { list.lists }[0].count == 4)
    #expect(environment.during { NamedCards("c").names } == ["c"])
  }

  @Test func `a query without a container is empty, with an error`() {
    let query = Query<Card>()
    #expect(query.wrappedValue == [])
    #expect(query.fetchError as? SwiftDataError == .unknownSchema)
  }

  @Test func `a modifier sets up its container`() throws {
    var found: ModelContext?
    _ = Text("a").modelContainer(for: [Card.self], inMemory: true, isAutosaveEnabled: false) { result in
      found = try? result.get().mainContext
    }
    #expect(found?.autosaveEnabled == false)
    #expect(found?.container.schema.entitiesByName.keys.sorted() == ["Card", "Place"])
  }
}
