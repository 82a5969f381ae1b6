// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation
public import SwiftUI

/// The objects of a fetch request in a view. Source: `SwiftUI.FetchRequest`. There are none, and the diagnosis
/// `not-simulated` names it.
@MainActor @propertyWrapper public struct FetchRequest<Result: NSFetchRequestResult>: DynamicProperty {
  public init(sortDescriptors: [NSSortDescriptor], predicate: NSPredicate? = nil, animation: Animation? = nil) {}
  public init(
    entity: NSEntityDescription, sortDescriptors: [NSSortDescriptor], predicate: NSPredicate? = nil,
    animation: Animation? = nil
  ) {}
  public init(fetchRequest: NSFetchRequest<Result>, animation: Animation? = nil) {}

  public var wrappedValue: FetchedResults<Result> {
    HostedProcess.current?.noticeUnsimulated("FetchRequest", "Core Data has no stores here: there are no results")
    return FetchedResults()
  }
}

/// Source: `SwiftUI.FetchedResults`. It is empty.
public struct FetchedResults<Result: NSFetchRequestResult>: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { 0 }
  public subscript(position: Int) -> Result {
    fatalError("FetchedResults: the index \(position) is out of range")
  }
}

extension EnvironmentValues {
  /// A context without objects.
  public var managedObjectContext: NSManagedObjectContext {
    get { self[ContextKey.self] }
    set { self[ContextKey.self] = newValue }
  }

  private struct ContextKey: EnvironmentKey {
    // A context without objects has no state.
    nonisolated(unsafe) static let defaultValue = NSManagedObjectContext(concurrencyType: .mainQueue)
  }
}
