// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Source: `SwiftData.SwiftDataError`. The description has the reason in addition.
public struct SwiftDataError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
  private let name: String
  private let reason: String?

  private init(_ name: String, _ reason: String? = nil) { (self.name, self.reason) = (name, reason) }

  /// The same error with a reason.
  func because(_ reason: String) -> SwiftDataError { SwiftDataError(name, reason) }

  public static let backwardMigration = SwiftDataError("backwardMigration")
  public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
    "configurationFileNameContainsInvalidCharacters")
  public static let configurationFileNameTooLong = SwiftDataError("configurationFileNameTooLong")
  public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
    "configurationSchemaNotFoundInContainerSchema")
  public static let duplicateConfiguration = SwiftDataError("duplicateConfiguration")
  public static let includePendingChangesWithBatchSize = SwiftDataError("includePendingChangesWithBatchSize")
  public static let loadIssueModelContainer = SwiftDataError("loadIssueModelContainer")
  public static let missingModelContext = SwiftDataError("missingModelContext")
  public static let modelValidationFailure = SwiftDataError("modelValidationFailure")
  public static let sortingPendingChangesWithIdentifiers = SwiftDataError("sortingPendingChangesWithIdentifiers")
  public static let unknownSchema = SwiftDataError("unknownSchema")
  public static let unsupportedKeyPath = SwiftDataError("unsupportedKeyPath")
  public static let unsupportedPredicate = SwiftDataError("unsupportedPredicate")
  public static let unsupportedSortDescriptor = SwiftDataError("unsupportedSortDescriptor")

  public static func == (a: SwiftDataError, b: SwiftDataError) -> Bool { a.name == b.name }
  public static func ~= (pattern: SwiftDataError, error: any Error) -> Bool { error as? SwiftDataError == pattern }
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  public var description: String { "SwiftDataError.\(name)" + (reason.map { ": \($0)" } ?? "") }
  public var errorDescription: String? { description }
}
