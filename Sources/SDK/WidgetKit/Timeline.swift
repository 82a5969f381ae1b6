// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Messages

/// The content of a widget from a date on. Source: `WidgetKit.TimelineEntry`.
public protocol TimelineEntry {
  /// The earliest date at which it is shown.
  var date: Date { get }
  /// The entry's relevance, for Smart Stacks.
  var relevance: TimelineEntryRelevance? { get }
}

extension TimelineEntry {
  public var relevance: TimelineEntryRelevance? { nil }
}

/// An entry's relevance compared with other entries of the same provider. Source: `WidgetKit.TimelineEntryRelevance`.
public struct TimelineEntryRelevance: Codable, Hashable {
  /// Only compared with other scores of the same provider. Not relevant if 0 or less.
  public var score: Float
  /// In seconds. 0: until the next entry with a relevance.
  public var duration: TimeInterval

  public init(score: Float, duration: TimeInterval = 0.0) {
    self.score = score
    self.duration = duration
  }
}

/// The earliest date of the next timeline request. Source: `WidgetKit.TimelineReloadPolicy`.
public struct TimelineReloadPolicy: Equatable, Sendable {
  let policy: ReloadPolicy

  /// After the last entry's date.
  public static let atEnd = TimelineReloadPolicy(policy: .atEnd)
  /// Only when `WidgetCenter` requests it.
  public static let never = TimelineReloadPolicy(policy: .never)
  /// After a date.
  public static func after(_ date: Date) -> TimelineReloadPolicy { TimelineReloadPolicy(policy: .after(date)) }
}

/// Entries and a reload policy. Source: `WidgetKit.Timeline`.
public struct Timeline<EntryType: TimelineEntry> {
  public let entries: [EntryType]
  public let policy: TimelineReloadPolicy

  public init(entries: [EntryType], policy: TimelineReloadPolicy) {
    self.entries = entries
    self.policy = policy
  }
}
