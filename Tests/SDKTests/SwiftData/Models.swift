// SPDX-License-Identifier: Apache-2.0

// The models of these tests, written as authors write them.

import Foundation
import SwiftData

enum Kind: String, Codable, CaseIterable {
  case qr
  case ean
}

struct Extra: Codable, Hashable {
  var number = 1
  var texts: [String] = []
}

@Model
final class Card {
  // Its own identifier, instead of that of SwiftData: {
  var id: UUID = UUID()
  var name: String
  var note: String?
  var kind: Kind = Kind.qr
  var extra: Extra = Extra(number: 2, texts: ["{", "}"])
  @Attribute(.externalStorage)
  var image: Data?
  var date: Date = Date(timeIntervalSinceReferenceDate: 0.1)
  var ratio: Double = 0

  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  @Relationship(deleteRule: .cascade, inverse: \Place.card)
  var places: [Place]! = []
  var observed: Int = 3 { didSet { fatalError("SwiftData ignores observers") } }

  @Transient var cached = 4
  @Attribute(.ephemeral) var shown: Int = 0
  static let shared = 5
  let fixed = 6
  lazy var slow: Int = { 1 }()

  init(name: String, note: String? = nil) {
    self.name = name
    self.note = note
  }

  var isLong: Bool { name.count > 3 }
}

@Model final class Place {
  var title: String
  var card: Card?

  init(title: String, card: Card? = nil) {
    self.title = title
    self.card = card
  }
}

@Model class Person {
  @Attribute(.unique) var login: String
  var age: Int = 0
  /// Both sides have several models, and the inverse is inferred.
  var groups: [Club] = []
  @Relationship(deleteRule: .nullify, inverse: \Person.followers) var follows: [Person] = []
  var followers: [Person] = []

  init(login: String, age: Int = 0) {
    self.login = login
    self.age = age
  }
}

@Model class Club {
  var title: String
  var members: [Person] = []

  init(title: String) { self.title = title }
}

@Model final class Township {
  #Unique<Township>([\.country, \.name])
  #Index<Township>([\.name])
  var country: String
  var name: String
  var size: Int = 0
  /// A township with streets stays.
  @Relationship(deleteRule: .deny) var streets: [Street] = []

  init(_ country: String, _ name: String, size: Int = 0) {
    self.country = country
    self.name = name
    self.size = size
  }
}

@Model final class Street {
  var name: String
  /// Without an inverse in `Township`, its own link.
  @Relationship var town: Township?
  var isOpen = true

  init(name: String) { self.name = name }
}

@ModelActor actor Registry {
  func add(_ name: String) throws -> PersistentIdentifier {
    let card = Card(name: name)
    modelContext.insert(card)
    try modelContext.save()
    return card.persistentModelID
  }

  func names() throws -> [String] {
    try modelContext.fetch(FetchDescriptor<Card>(sortBy: [SortDescriptor(\.name)])).map(\.name)
  }

  func name(of identifier: PersistentIdentifier) -> String? { self[identifier, as: Card.self]?.name }
}

/// Both sides delete the other.
@Model final class Node {
  @Relationship(deleteRule: .cascade) var parent: Node?
  @Relationship(deleteRule: .cascade, inverse: \Node.parent) var children: [Node] = []
  init() {}
}

@Model final class Odd {
  #Unique<Odd>([\.name, \.name.count])
  var name: String
  init(name: String) { self.name = name }
}

// MARK: Versions of one type

enum FirstNotes {
  @Model final class Note {
    var text: String
    var old: Int = 0
    init(text: String) { self.text = text }
  }
}

enum SecondNotes {
  @Model final class Note {
    @Attribute(originalName: "text") var body: String
    var isDone: Bool = false
    var tag: String?
    init(body: String) { self.body = body }
  }
}

enum ThirdNotes {
  @Model final class Note {
    var text: String
    var number: Int
    init(text: String, number: Int) { (self.text, self.number) = (text, number) }
  }
}

enum FourthNotes {
  @Model final class Note {
    @Attribute(.unique) var text: String
    init(text: String) { self.text = text }
  }
}

/// A folder for a test's stores.
func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder)
}

func inMemory(_ types: any PersistentModel.Type...) throws -> ModelContext {
  ModelContext(
    try ModelContainer(for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
}
