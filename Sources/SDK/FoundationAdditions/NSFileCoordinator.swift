// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
