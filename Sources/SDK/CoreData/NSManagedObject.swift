// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
@_exported public import Foundation
public import SwiftUI

// The declarations of Core Data that code around models needs. There are no models and no stores here: `@NSManaged` needs
// the Objective-C runtime, and a `.xcdatamodeld` is not read. What would read or write a store throws an error or ends the
// process, with its name.

/// The error of everything that needs a store.
struct CoreDataIsAbsent: CustomNSError, LocalizedError {
  let declaration: String

  static var errorDomain: String { NSCocoaErrorDomain }
  // Source: `CoreData.NSPersistentStoreOperationError`.
  var errorCode: Int { 134_070 }
  var errorDescription: String? {
    "\(declaration): Core Data has no stores on WidgetLab: SwiftData has, and files of the app group"
  }
  var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: errorDescription ?? ""] }
}

/// Source: `CoreData.NSEntityDescription`.
open class NSEntityDescription: NSObject {
  open var name: String?
  open var managedObjectClassName: String!

  public override init() { super.init() }

  /// Ends the process: there are no models.
  open class func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    fatalError(CoreDataIsAbsent(declaration: "NSEntityDescription.insertNewObject").localizedDescription)
  }
}

/// Source: `CoreData.NSManagedObjectID`.
open class NSManagedObjectID: NSObject {
  override init() { super.init() }
}

/// Source: `CoreData.NSFetchRequestResult`.
public protocol NSFetchRequestResult: NSObjectProtocol {}

/// Source: `CoreData.NSManagedObject`. It has no properties of a model.
open class NSManagedObject: NSObject, NSFetchRequestResult, ObservableObject {
  public let entity: NSEntityDescription
  public private(set) weak var managedObjectContext: NSManagedObjectContext?

  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    self.entity = entity
    managedObjectContext = context
  }
  /// Ends the process: there are no models.
  public convenience init(context moc: NSManagedObjectContext) {
    fatalError(CoreDataIsAbsent(declaration: "NSManagedObject.init(context:)").localizedDescription)
  }

  open class func entity() -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = String(describing: self)
    entity.managedObjectClassName = entity.name
    return entity
  }
}

/// Source: `CoreData.NSFetchRequest`.
open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSObject {
  open var entityName: String?
  open var predicate: NSPredicate?
  open var sortDescriptors: [NSSortDescriptor]?
  open var fetchLimit = 0
  open var fetchOffset = 0
  open var fetchBatchSize = 0
  open var includesSubentities = true
  open var includesPropertyValues = true
  open var includesPendingChanges = true
  open var returnsObjectsAsFaults = true

  public override init() { super.init() }
  public convenience init(entityName: String) {
    self.init()
    self.entityName = entityName
  }
}

/// Source: `CoreData.NSManagedObjectContext`. It contains nothing.
open class NSManagedObjectContext: NSObject {
  /// Source: `NSManagedObjectContext.ConcurrencyType`.
  public enum ConcurrencyType: UInt, Sendable {
    case privateQueue = 1
    case mainQueue = 2

    public static var privateQueueConcurrencyType: ConcurrencyType { .privateQueue }
    public static var mainQueueConcurrencyType: ConcurrencyType { .mainQueue }
  }

  public let concurrencyType: ConcurrencyType
  open var name: String?
  open var automaticallyMergesChangesFromParent = false

  public init(concurrencyType ct: ConcurrencyType) { concurrencyType = ct }
  public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type) }

  open var hasChanges: Bool { false }
  /// - Throws: always.
  open func fetch<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> [T] {
    throw CoreDataIsAbsent(declaration: "NSManagedObjectContext.fetch")
  }
  /// - Throws: always.
  open func count<T: NSFetchRequestResult>(for request: NSFetchRequest<T>) throws -> Int {
    throw CoreDataIsAbsent(declaration: "NSManagedObjectContext.count")
  }
  /// - Throws: always.
  open func save() throws { throw CoreDataIsAbsent(declaration: "NSManagedObjectContext.save") }
  open func delete(_ object: NSManagedObject) {
    fatalError(CoreDataIsAbsent(declaration: "NSManagedObjectContext.delete").localizedDescription)
  }
  open func rollback() {}
  open func reset() {}
  /// Calls the block before it returns.
  open func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try block() }
}

/// Source: `CoreData.NSPersistentStoreDescription`.
open class NSPersistentStoreDescription: NSObject {
  open var url: URL?
  open var type = "SQLite"
  open var shouldMigrateStoreAutomatically = true
  open var shouldInferMappingModelAutomatically = true

  public override init() { super.init() }
  public init(url: URL) { self.url = url }
}

/// Source: `CoreData.NSPersistentContainer`. Loading its stores fails.
open class NSPersistentContainer: NSObject {
  public let name: String
  public let viewContext = NSManagedObjectContext(concurrencyType: .mainQueue)
  open var persistentStoreDescriptions = [NSPersistentStoreDescription()]

  public init(name: String) { self.name = name }

  open class func defaultDirectoryURL() -> URL {
    FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
  }

  /// Calls the block with an error for each description.
  open func loadPersistentStores(completionHandler block: (NSPersistentStoreDescription, (any Error)?) -> Void) {
    for description in persistentStoreDescriptions {
      block(description, CoreDataIsAbsent(declaration: "NSPersistentContainer.loadPersistentStores"))
    }
  }
  open func newBackgroundContext() -> NSManagedObjectContext { NSManagedObjectContext(concurrencyType: .privateQueue) }
}

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
