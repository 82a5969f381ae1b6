// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation

/// The key-value store of iCloud. Source: `Foundation.NSUbiquitousKeyValueStore`. The values are kept on the device, in
/// the user defaults of the process: there is no iCloud, which the diagnosis `not-simulated` names.
open class NSUbiquitousKeyValueStore: NSObject {
  // Its values are in the user defaults, which are safe on any thread.
  nonisolated(unsafe) public static let `default` = NSUbiquitousKeyValueStore()
  public static let didChangeExternallyNotification = Notification.Name(
    "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")

  private static let prefix = "NSUbiquitousKeyValueStore."
  private var store: UserDefaults {
    HostedProcess.current?.noticeUnsimulated(
      "NSUbiquitousKeyValueStore", "there is no iCloud; the values stay in the user defaults of this process")
    return .standard
  }

  public override init() { super.init() }

  open func object(forKey aKey: String) -> Any? { store.object(forKey: Self.prefix + aKey) }
  open func set(_ anObject: Any?, forKey aKey: String) { store.set(anObject, forKey: Self.prefix + aKey) }
  open func removeObject(forKey aKey: String) { store.removeObject(forKey: Self.prefix + aKey) }
  open func string(forKey aKey: String) -> String? { store.string(forKey: Self.prefix + aKey) }
  open func array(forKey aKey: String) -> [Any]? { store.array(forKey: Self.prefix + aKey) }
  open func dictionary(forKey aKey: String) -> [String: Any]? { store.dictionary(forKey: Self.prefix + aKey) }
  open func data(forKey aKey: String) -> Data? { store.data(forKey: Self.prefix + aKey) }
  open func longLong(forKey aKey: String) -> Int64 { Int64(store.integer(forKey: Self.prefix + aKey)) }
  open func double(forKey aKey: String) -> Double { store.double(forKey: Self.prefix + aKey) }
  open func bool(forKey aKey: String) -> Bool { store.bool(forKey: Self.prefix + aKey) }
  open func set(_ aString: String?, forKey aKey: String) { store.set(aString, forKey: Self.prefix + aKey) }
  open func set(_ aData: Data?, forKey aKey: String) { store.set(aData, forKey: Self.prefix + aKey) }
  open func set(_ anArray: [Any]?, forKey aKey: String) { store.set(anArray, forKey: Self.prefix + aKey) }
  open func set(_ aDictionary: [String: Any]?, forKey aKey: String) {
    store.set(aDictionary, forKey: Self.prefix + aKey)
  }
  open func set(_ value: Int64, forKey aKey: String) { store.set(Int(value), forKey: Self.prefix + aKey) }
  open func set(_ value: Double, forKey aKey: String) { store.set(value, forKey: Self.prefix + aKey) }
  open func set(_ value: Bool, forKey aKey: String) { store.set(value, forKey: Self.prefix + aKey) }
  open var dictionaryRepresentation: [String: Any] {
    let own = store.dictionaryRepresentation().filter { $0.key.hasPrefix(Self.prefix) }
    return Dictionary(uniqueKeysWithValues: own.map { (String($0.key.dropFirst(Self.prefix.count)), $0.value) })
  }
  /// Returns whether the values are stored.
  @discardableResult open func synchronize() -> Bool { store.synchronize() }
}

/// Accesses files at a time when no other code does. Source: `Foundation.NSFileCoordinator`. Only the code of the same
/// process waits for each other: there is no coordination between processes.
open class NSFileCoordinator: NSObject {
  /// Source: `NSFileCoordinator.ReadingOptions`.
  public struct ReadingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let withoutChanges = ReadingOptions(rawValue: 1)
    public static let resolvesSymbolicLink = ReadingOptions(rawValue: 2)
    public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 4)
    public static let forUploading = ReadingOptions(rawValue: 8)
  }

  /// Source: `NSFileCoordinator.WritingOptions`.
  public struct WritingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let forDeleting = WritingOptions(rawValue: 1)
    public static let forMoving = WritingOptions(rawValue: 2)
    public static let forMerging = WritingOptions(rawValue: 4)
    public static let forReplacing = WritingOptions(rawValue: 8)
  }

  private static let lock = NSRecursiveLock()

  public init(filePresenter filePresenterOrNil: AnyObject? = nil) { super.init() }

  open func coordinate(
    readingItemAt url: URL, options: ReadingOptions = [], error outError: UnsafeMutablePointer<NSError?>?,
    byAccessor reader: (URL) -> Void
  ) {
    Self.lock.withLock { reader(url) }
  }
  open func coordinate(
    writingItemAt url: URL, options: WritingOptions = [], error outError: UnsafeMutablePointer<NSError?>?,
    byAccessor writer: (URL) -> Void
  ) {
    Self.lock.withLock { writer(url) }
  }
}
