package import Archive
public import Foundation
public import SwiftUI

// Source of all: `WidgetKit` of the iOS 18 SDK.
extension View {
  /// What the app is opened with when a person touches the widget. Of several in one view the outermost counts (ours:
  /// Apple leaves it undefined).
  @MainActor @preconcurrency public func widgetURL(_ url: URL?) -> some View {
    modified("widgetURL", ["url": url.map { .string($0.absoluteString) }])
  }

  /// Puts the view into the accented group of an accented widget. A `false` inside a `true` does not undo it.
  @MainActor @preconcurrency public func widgetAccentable(_ accentable: Bool = true) -> some View {
    modified("widgetAccentable", ["accentable": .bool(accentable)])
  }

  /// What stands beside the view on a watch face; nowhere else.
  @MainActor @preconcurrency public func widgetLabel<Label: View>(@ViewBuilder label: () -> Label) -> some View {
    modified("widgetLabel", views: [label()])
  }

  /// What stands beside the view on a watch face; nowhere else.
  @MainActor @preconcurrency public func widgetLabel(_ labelKey: LocalizedStringKey) -> some View {
    widgetLabel { Text(labelKey) }
  }

  /// What stands beside the view on a watch face; nowhere else.
  @_disfavoredOverload @MainActor @preconcurrency public func widgetLabel<S: StringProtocol>(
    _ label: S
  ) -> some View {
    widgetLabel { Text(label) }
  }

  /// Bends the view along the edge of a watch face; nowhere else.
  @MainActor @preconcurrency public func widgetCurvesContent(_ curvesContent: Bool = true) -> some View {
    modified("widgetCurvesContent", ["curvesContent": .bool(curvesContent)])
  }
}

extension Image {
  /// What becomes of the image in an accented widget.
  @MainActor @preconcurrency public func widgetAccentedRenderingMode(
    _ renderingMode: WidgetAccentedRenderingMode?
  ) -> some View {
    modified("widgetAccentedRenderingMode", ["mode": renderingMode.map { .string($0.name) }])
  }
}

extension ContainerBackgroundPlacement {
  /// Behind a whole widget.
  public static let widget = ContainerBackgroundPlacement(name: "widget")
}

/// The system's background of an accessory widget; empty in other families. Source:
/// `WidgetKit.AccessoryWidgetBackground`.
@MainActor @preconcurrency public struct AccessoryWidgetBackground: View, ArchivedView, Sendable {
  /// There is none.
  public typealias Body = Never

  /// A background.
  public nonisolated init() {}

  package func archive(in context: ArchivingContext) -> ViewArchive {
    switch context.environment.widgetFamily {
    case .accessoryCircular, .accessoryCorner, .accessoryRectangular: ViewArchive("AccessoryWidgetBackground")
    default: .empty
    }
  }
}

/// A preview of a widget in a family. Source: `WidgetKit.WidgetPreviewContext`; accepted: no Xcode shows it.
public struct WidgetPreviewContext: PreviewContext, Sendable {
  private let family: WidgetFamily

  /// A context.
  public init(family: WidgetFamily) { self.family = family }

  /// A value of the context.
  public subscript<Key: PreviewContextKey>(key: Key.Type) -> Key.Value { Key.defaultValue }
}
