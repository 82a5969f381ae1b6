// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Which models a context fetches, and in which order. Source: `SwiftData.FetchDescriptor`.
public struct FetchDescriptor<T: PersistentModel> {
  public var predicate: Predicate<T>?
  public var sortBy: [SortDescriptor<T>]
  public var fetchLimit: Int?
  public var fetchOffset: Int?
  /// Whether changes that are not saved count.
  public var includePendingChanges = true
  /// Has no effect: all properties are fetched.
  public var propertiesToFetch: [PartialKeyPath<T>] = []
  /// Has no effect: related models are fetched when they are read.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

  public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
    (self.predicate, self.sortBy) = (predicate, sortBy)
  }
}

/// A part of the fetched models, or all. Source: `SwiftData.FetchResultsCollection`.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  private let models: [Element]

  init(_ models: [Element]) { self.models = models }

  public var startIndex: Int { models.startIndex }
  public var endIndex: Int { models.endIndex }
  public subscript(position: Int) -> Element { models[position] }
}
