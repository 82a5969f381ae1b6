import Conversations
public import Foundation

/// What a widget shows at a date. Source: `WidgetKit.TimelineEntry`.
public protocol TimelineEntry {
  /// When it is shown, at the earliest.
  var date: Date { get }
  /// How much it matters then.
  var relevance: TimelineEntryRelevance? { get }
}

extension TimelineEntry {
  /// Unknown.
  public var relevance: TimelineEntryRelevance? { nil }
}

/// How much an entry matters beside the others of the same provider. Source: `WidgetKit.TimelineEntryRelevance`.
public struct TimelineEntryRelevance: Codable, Hashable {
  /// Compared with the provider's other scores alone; 0 or less: not at all.
  public var score: Float
  /// Seconds; 0: until the next entry with a relevance.
  public var duration: TimeInterval

  /// A relevance.
  public init(score: Float, duration: TimeInterval = 0.0) {
    self.score = score
    self.duration = duration
  }
}

/// When the provider is to be asked again, at the earliest. Source: `WidgetKit.TimelineReloadPolicy`.
public struct TimelineReloadPolicy: Equatable, Sendable {
  let policy: ReloadPolicy

  /// After the last entry's date.
  public static let atEnd = TimelineReloadPolicy(policy: .atEnd)
  /// Not until `WidgetCenter` asks for it.
  public static let never = TimelineReloadPolicy(policy: .never)
  /// After a date.
  public static func after(_ date: Date) -> TimelineReloadPolicy { TimelineReloadPolicy(policy: .after(date)) }
}

/// Entries and when to ask for more. Source: `WidgetKit.Timeline`.
public struct Timeline<EntryType: TimelineEntry> {
  /// What is shown when.
  public let entries: [EntryType]
  /// When to ask for more.
  public let policy: TimelineReloadPolicy

  /// A timeline.
  public init(entries: [EntryType], policy: TimelineReloadPolicy) {
    self.entries = entries
    self.policy = policy
  }
}
