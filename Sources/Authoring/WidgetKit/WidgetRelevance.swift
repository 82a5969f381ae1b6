public import AppIntents
import Foundation

/// When a widget matters. Source: `WidgetKit.WidgetRelevance`; accepted: a watch's Smart Stack alone reads it.
public struct WidgetRelevance<Configuration> {
  private let attributes: [WidgetRelevanceAttribute<Configuration>]

  /// A relevance.
  public init(_ attributes: [WidgetRelevanceAttribute<Configuration>]) { self.attributes = attributes }
}

/// One time or place at which a widget matters. Source: `WidgetKit.WidgetRelevanceAttribute`.
public struct WidgetRelevanceAttribute<Configuration> {
  private let configuration: Configuration?
  private let context: RelevantContext?
  private let group: WidgetRelevanceGroup
}

extension WidgetRelevanceAttribute where Configuration == Void {
  /// A time or place.
  public init(context: RelevantContext) { self.init(configuration: nil, context: context, group: .automatic) }
  /// Beside others.
  public init(group: WidgetRelevanceGroup) { self.init(configuration: nil, context: nil, group: group) }
}

extension WidgetRelevanceAttribute where Configuration: WidgetConfigurationIntent {
  /// A time or place, of one configuration.
  public init(configuration: Configuration, context: RelevantContext) {
    self.init(configuration: configuration, context: context, group: .automatic)
  }
  /// Beside others, of one configuration.
  public init(configuration: Configuration, group: WidgetRelevanceGroup) {
    self.init(configuration: configuration, context: nil, group: group)
  }
}

/// Widgets of which one is suggested. Source: `WidgetKit.WidgetRelevanceGroup`.
public struct WidgetRelevanceGroup: Hashable, Sendable {
  private let name: String

  /// A group of the author's.
  public static func named(_ name: String) -> WidgetRelevanceGroup { WidgetRelevanceGroup(name: name) }
  /// No group.
  public static let ungrouped = WidgetRelevanceGroup(name: "ungrouped")
  /// The system's choice.
  public static let automatic = WidgetRelevanceGroup(name: "automatic")
}

/// A time at which something matters. Source: `RelevanceKit.RelevantContext`, which AppIntents exports.
public struct RelevantContext: Sendable {
  private let interval: DateInterval?

  /// From one date to another.
  public static func date(from start: Date, to end: Date) -> RelevantContext {
    RelevantContext(interval: DateInterval(start: start, end: max(start, end)))
  }
  /// Around a date.
  public static func date(_ date: Date) -> RelevantContext {
    RelevantContext(interval: DateInterval(start: date, duration: 0))
  }
}
