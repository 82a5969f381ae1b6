// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Archive
import FidelityRules
import Foundation
import Testing
import URLSessionAPI

/// What options providers and queries return.
@Suite(.timeLimit(.minutes(1))) struct `Options of an intent's parameters` {
  @Test(.rule("WIDGET-25"))
  func `options have the titles and subtitles of their items, and the titles of their sections`() async throws {
    let foundOptions = try await options()
    #expect(
      foundOptions["author"] == [
        .init(value: "dante", title: "Dante Alighieri", subtitle: "poet", section: "Italian"),
        .init(value: "Manzoni", title: "Manzoni", section: "Italian"),
        .init(value: "Chekhov 1", title: "Chekhov 1", section: "Russian, by number"),
        .init(value: "Chekhov 2", title: "Chekhov 2", section: "Russian, by number"),
        .init(value: "Homer", title: "Homer"),
      ])
    #expect(
      foundOptions["size"] == [.init(value: 1, title: "small"), .init(value: 2, title: "2")])
  }

  @Test(.rule("WIDGET-25"))
  func `options of a query have the titles of its items instead of those of the entities`() async throws {
    let foundOptions = try await options(["town": "Rom"])
    #expect(
      foundOptions["town"] == [
        .init(value: "bern", title: "The capital", section: "Near"),
        .init(value: "rome", title: "Rome", subtitle: "a town", section: "Found"),
      ])
    #expect(foundOptions["towns"]?.map(\.value) == [.list(["bern"])])
    #expect(foundOptions["other"]?.map(\.title) == ["Bern", "Rome"])
    #expect(foundOptions["all"]?.map(\.title) == ["Oslo"])
    let restored = try await ChooseBook.restored(["author": "dante", "town": "rome", "all": "oslo"])
    #expect(restored.town?.id == "rome")
    #expect(restored.all?.id == "oslo")
  }

  @Test(.rule("WIDGET-15"))
  func `the default of a provider is a value or a list, and a single parameter has the first of a list`() async throws {
    let intent = try await ChooseBook.restored([:])
    #expect(intent.author == "dante")
    #expect(intent.authors == ["dante", "Homer"])
    #expect(intent.sizes == [2])
    #expect(intent.size == 2)
    #expect(intent.other?.id == "rome")
  }

  @Test func `a collection has the values of its sections, and an empty one has none`() {
    let collection = IntentItemCollection(promptLabel: "Which?", usesIndexedCollation: true, items: ["b", "a"])
    #expect(collection.items == ["b", "a"])
    #expect(collection.sections.count == 1)
    #expect(collection.promptLabel?.resolved() == "Which?")
    #expect(collection.usesIndexedCollation)
    #expect(IntentItemCollection<String>.empty.items.isEmpty)
    #expect([Int?](arrayLiteral: 1, nil).items == [1])
    let direct = IntentItemCollection<Int> {
      IntentItem(1)
      IntentItem(2, title: "two")
    }
    #expect(direct.sections.map { $0.items.map(\.value) } == [[1, 2]])
    #expect(IntentItemSection(title: "older", items: [IntentItem(1)]).description?.title.resolved() == "older")
  }

  private func options(_ searches: [String: String] = [:]) async throws -> [String: [IntentDeclaration.Option]] {
    let declaration = await ChooseBook.declaration(asking: searches)
    return Dictionary(declaration.parameters.map { ($0.name, $0.options) }, uniquingKeysWith: { $1 })
  }
}

private struct Authors: DynamicOptionsProvider {
  func results() async throws -> ItemCollection<String> {
    ItemCollection {
      ItemSection("Italian") {
        Item("dante", title: "Dante Alighieri", subtitle: "poet")
        "Manzoni"
      }
      ItemSection("Russian", subtitle: "by number") {
        for number in 1...2 { "Chekhov \(number)" }
      }
      ItemSection { "Homer" }
    }
  }
  func defaultResult() async -> [String]? { ["dante", "Homer"] }
}

private struct Sizes: DynamicOptionsProvider {
  func results() async throws -> IntentItemCollection<Int> {
    .init(sections: [IntentItemSection(items: [IntentItem(1, title: "small"), IntentItem(2)])])
  }
  func defaultResult() async -> Int? { 2 }
}

private struct Town: AppEntity {
  static let typeDisplayRepresentation: TypeDisplayRepresentation = "Town"
  static let defaultQuery = TownQuery()
  static let all = [Town(id: "bern", name: "Bern"), Town(id: "rome", name: "Rome")]
  let id: String
  let name: String
  var displayRepresentation: DisplayRepresentation { DisplayRepresentation(title: "\(name)", subtitle: "a town") }
}

private struct TownQuery: EntityStringQuery {
  func entities(for identifiers: [String]) async throws -> [Town] { Town.all.filter { identifiers.contains($0.id) } }
  func entities(matching string: String) async throws -> IntentItemCollection<Town> {
    .init(sections: [.init("Found", items: Town.all.filter { $0.name.contains(string) })])
  }
  func suggestedEntities() async throws -> IntentItemCollection<Town> {
    IntentItemCollection(sections: [IntentItemSection("Near", items: [IntentItem(Town.all[0], title: "The capital")])])
  }
}

/// Another query of the same entities, with arrays.
private struct PlainTownQuery: EntityQuery {
  func entities(for identifiers: [Town.ID]) async throws -> [Town] { Town.all.filter { identifiers.contains($0.id) } }
  func suggestedEntities() async throws -> [Town] { Town.all }
  func defaultResult() async -> Town? { Town.all[1] }
}

private struct Port: AppEntity {
  static let typeDisplayRepresentation: TypeDisplayRepresentation = "Port"
  static let defaultQuery = PortQuery()
  let id: String
  var displayRepresentation: DisplayRepresentation { "Oslo" }
}

private struct PortQuery: EnumerableEntityQuery {
  func allEntities() async throws -> [Port] { [Port(id: "oslo")] }
}

private struct ChooseBook: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Choose a book"

  @Parameter(title: "Author", optionsProvider: Authors()) var author: String
  @Parameter(title: "Authors", optionsProvider: Authors()) var authors: [String]
  @Parameter(title: "Size", optionsProvider: Sizes()) var size: Int?
  @Parameter(title: "Sizes", optionsProvider: Sizes()) var sizes: [Int]
  @Parameter(title: "Town") var town: Town?
  @Parameter(title: "Towns") var towns: [Town]?
  @Parameter(title: "Other", query: PlainTownQuery()) var other: Town?
  @Parameter(title: "All") var all: Port?
}
