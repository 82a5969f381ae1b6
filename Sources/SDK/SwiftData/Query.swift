// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SwiftUI

/// The models of the environment's context, fetched each time that they are read. Source: `SwiftData.Query`.
/// Apple's type has the result as a second generic parameter.
@propertyWrapper public struct Query<Element: PersistentModel>: DynamicProperty {
  private let descriptor: FetchDescriptor<Element>

  /// In the type itself and not in an extension: only so the compiler gives a property without an initial value one.
  public init() { descriptor = FetchDescriptor() }

  /// Empty when the fetch fails; the reason is written to standard error.
  public var wrappedValue: [Element] {
    do {
      return try fetched()
    } catch {
      FileHandle.standardError.write(Data("@Query of \(Element.self) shows nothing: \(error)\n".utf8))
      return []
    }
  }

  /// The error of the fetch.
  public var fetchError: (any Error)? {
    do {
      _ = try fetched()
      return nil
    } catch {
      return error
    }
  }

  public var modelContext: ModelContext { EnvironmentValues.current.modelContext }

  private func fetched() throws -> [Element] { try modelContext.fetch(descriptor) }
}

extension Query {
  public init(_ descriptor: FetchDescriptor<Element>, animation: Animation) {
    self.descriptor = descriptor
  }

  public init(_ descriptor: FetchDescriptor<Element>, transaction: Transaction? = nil) {
    self.descriptor = descriptor
  }

  public init(
    filter: Predicate<Element>? = nil, sort descriptors: [SortDescriptor<Element>] = [], animation: Animation
  ) {
    self.init(filter: filter, sort: descriptors)
  }

  public init(
    filter: Predicate<Element>? = nil, sort descriptors: [SortDescriptor<Element>] = [],
    transaction: Transaction? = nil
  ) {
    self.init(FetchDescriptor(predicate: filter, sortBy: descriptors), transaction: transaction)
  }

  public init<Value: Comparable>(
    filter: Predicate<Element>? = nil, sort keyPath: any KeyPath<Element, Value> & Sendable,
    order: SortOrder = .forward, animation: Animation
  ) {
    self.init(filter: filter, sort: keyPath, order: order)
  }

  public init<Value: Comparable>(
    filter: Predicate<Element>? = nil, sort keyPath: any KeyPath<Element, Value> & Sendable,
    order: SortOrder = .forward, transaction: Transaction? = nil
  ) {
    self.init(filter: filter, sort: [SortDescriptor(keyPath, order: order)], transaction: transaction)
  }

  public init<Value: Comparable>(
    filter: Predicate<Element>? = nil, sort keyPath: any KeyPath<Element, Value?> & Sendable,
    order: SortOrder = .forward, animation: Animation
  ) {
    self.init(filter: filter, sort: keyPath, order: order)
  }

  public init<Value: Comparable>(
    filter: Predicate<Element>? = nil, sort keyPath: any KeyPath<Element, Value?> & Sendable,
    order: SortOrder = .forward, transaction: Transaction? = nil
  ) {
    self.init(filter: filter, sort: [SortDescriptor(keyPath, order: order)], transaction: transaction)
  }
}

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

// What `#Predicate` needs for comparisons of texts, and Foundation on Linux lacks.

extension PredicateExpressions {
  /// Source: `PredicateExpressions.StringLocalizedStandardContains`.
  public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    public let root: Root
    public let other: Other

    public init(root: Root, other: Other) { (self.root, self.other) = (root, other) }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      let (text, part) = (try root.evaluate(bindings), try other.evaluate(bindings))
      return text.range(
        of: part, options: [.caseInsensitive, .diacriticInsensitive], locale: .current) != nil
    }
  }

  /// Source: `PredicateExpressions.StringCaseInsensitiveCompare`.
  public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    public let root: Root
    public let other: Other

    public init(root: Root, other: Other) { (self.root, self.other) = (root, other) }

    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      try root.evaluate(bindings).caseInsensitiveCompare(other.evaluate(bindings))
    }
  }

  /// Source: `PredicateExpressions.StringLocalizedCompare`.
  public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    public let root: Root
    public let other: Other

    public init(root: Root, other: Other) { (self.root, self.other) = (root, other) }

    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      try root.evaluate(bindings).localizedCompare(other.evaluate(bindings))
    }
  }

  public static func build_localizedStandardContains<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringLocalizedStandardContains<Root, Other> { StringLocalizedStandardContains(root: root, other: other) }

  public static func build_caseInsensitiveCompare<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringCaseInsensitiveCompare<Root, Other> { StringCaseInsensitiveCompare(root: root, other: other) }

  public static func build_localizedCompare<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringLocalizedCompare<Root, Other> { StringLocalizedCompare(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
