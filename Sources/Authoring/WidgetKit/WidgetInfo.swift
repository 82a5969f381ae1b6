public import AppIntents
import Archive
import Synchronization

/// One widget that a person placed. Source: `WidgetKit.WidgetInfo`; its `configuration` is an `INIntent` on a device, and
/// lacks here.
@preconcurrency public struct WidgetInfo: Sendable, Identifiable, Hashable, CustomDebugStringConvertible {
  /// The widget's family.
  public let family: WidgetFamily
  /// The author's name of the widget.
  public let kind: String
  private let placement: Placement

  init(_ placement: Placement) {
    family = WidgetFamily(placement.family)
    kind = placement.kind
    self.placement = placement
  }

  /// Itself.
  public var id: WidgetInfo { self }
  /// Kind and family.
  public var debugDescription: String { "WidgetInfo(kind: \(kind), family: \(family))" }

  /// What the person chose; `nil` when it does not fit this type of intent. Blocks until the author's query has found
  /// the entities that were chosen.
  public func widgetConfigurationIntent<Intent: WidgetConfigurationIntent>(
    of intentType: Intent.Type = Intent.self
  ) -> Intent? {
    intentType.restoredBlocking(placement.configuration)
  }
}
