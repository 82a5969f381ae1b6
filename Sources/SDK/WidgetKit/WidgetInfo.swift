// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
import Synchronization

/// A widget that the user placed. Source: `WidgetKit.WidgetInfo`; its `configuration`, an `INIntent`, does not exist
/// here.
@preconcurrency public struct WidgetInfo: Sendable, Identifiable, Hashable, CustomDebugStringConvertible {
  public let family: WidgetFamily
  /// The author's name of the widget.
  public let kind: String
  private let placement: Placement

  init(_ placement: Placement) {
    family = WidgetFamily(placement.family)
    kind = placement.kind
    self.placement = placement
  }

  public var id: WidgetInfo { self }
  public var debugDescription: String { "WidgetInfo(kind: \(kind), family: \(family))" }

  /// The widget's configuration; `nil` for a widget without one, or with another type of intent. Blocks until the author's query has
  /// returned the chosen entities.
  public func widgetConfigurationIntent<Intent: WidgetConfigurationIntent>(
    of intentType: Intent.Type = Intent.self
  ) -> Intent? {
    intentType.restoredBlocking(placement.configuration, of: placement.intent)
  }
}
