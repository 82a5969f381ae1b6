// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Foundation

/// The relevance of a widget. Source: `WidgetKit.WidgetRelevance`; accepted, but only the Smart Stack of watchOS reads
/// it.
public struct WidgetRelevance<Configuration> {
  private let attributes: [WidgetRelevanceAttribute<Configuration>]

  public init(_ attributes: [WidgetRelevanceAttribute<Configuration>]) { self.attributes = attributes }
}

/// A time or place at which a widget is relevant. Source: `WidgetKit.WidgetRelevanceAttribute`.
public struct WidgetRelevanceAttribute<Configuration> {
  private let configuration: Configuration?
  private let context: RelevantContext?
  private let group: WidgetRelevanceGroup
}

extension WidgetRelevanceAttribute where Configuration == Void {
  public init(context: RelevantContext) { self.init(configuration: nil, context: context, group: .automatic) }
  /// Relevant as part of a group.
  public init(group: WidgetRelevanceGroup) { self.init(configuration: nil, context: nil, group: group) }
}

extension WidgetRelevanceAttribute where Configuration: WidgetConfigurationIntent {
  public init(configuration: Configuration, context: RelevantContext) {
    self.init(configuration: configuration, context: context, group: .automatic)
  }
  /// One configuration, relevant as part of a group.
  public init(configuration: Configuration, group: WidgetRelevanceGroup) {
    self.init(configuration: configuration, context: nil, group: group)
  }
}

/// Widgets of which the system suggests one. Source: `WidgetKit.WidgetRelevanceGroup`.
public struct WidgetRelevanceGroup: Hashable, Sendable {
  private let name: String

  /// A group of the author's.
  public static func named(_ name: String) -> WidgetRelevanceGroup { WidgetRelevanceGroup(name: name) }
  public static let ungrouped = WidgetRelevanceGroup(name: "ungrouped")
  /// A group that the system chooses.
  public static let automatic = WidgetRelevanceGroup(name: "automatic")
}

/// A time of relevance. Source: `RelevanceKit.RelevantContext`, which AppIntents exports.
public struct RelevantContext: Sendable {
  private let interval: DateInterval?

  public static func date(from start: Date, to end: Date) -> RelevantContext {
    RelevantContext(interval: DateInterval(start: start, end: max(start, end)))
  }
  public static func date(_ date: Date) -> RelevantContext {
    RelevantContext(interval: DateInterval(start: date, duration: 0))
  }
}
