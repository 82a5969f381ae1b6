// SPDX-License-Identifier: Apache-2.0

import Foundation

extension ModelContext {
  /// The models that the descriptor selects. All models of the type are read, and the predicate and the order are those
  /// of Foundation in this process.
  public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    guard let entity = container.schema.entity(for: T.self) else {
      throw SwiftDataError.unknownSchema.because("\(T.self) is not in the schema of the container")
    }
    let coder = RecordCoder(entity)
    let isPlain = descriptor.includePendingChanges
    var models: [T] = []
    for record in try container.store(of: entity.name).records(of: entity.name) {
      let identifier = PersistentIdentifier(entityName: entity.name, primaryKey: record.id)
      if isPlain, deleted.contains(identifier) { continue }
      if let model = materialize(entity, identifier, try coder.decode(record.content)) as? T { models.append(model) }
    }
    if isPlain { models += inserted.models.compactMap { $0 as? T } }
    if let predicate = descriptor.predicate { models = try models.filter { try predicate.evaluate($0) } }
    if !descriptor.sortBy.isEmpty { models.sort(using: descriptor.sortBy) }
    let rest = models.dropFirst(descriptor.fetchOffset ?? 0)
    return Array(descriptor.fetchLimit.flatMap { $0 > 0 ? rest.prefix($0) : nil } ?? rest)
  }

  public func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<T> {
    FetchResultsCollection(try fetch(descriptor))
  }

  public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try fetch(descriptor).count
  }

  public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier] {
    try fetch(descriptor).map(\.persistentModelID)
  }

  public func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<PersistentIdentifier> {
    FetchResultsCollection(try fetchIdentifiers(descriptor))
  }

  /// Passes each model to the closure.
  public func enumerate<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (T) throws -> Void
  ) throws {
    for model in try fetch(descriptor) { try block(model) }
  }
}
