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
