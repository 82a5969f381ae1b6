// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation
public import SwiftUI

// Source of all: `WidgetKit` of the iOS 18 SDK.
extension View {
  /// The URL that the app opens when the user taps the widget. Of several in one view the outermost counts (ours: Apple
  /// documents it as undefined).
  @MainActor @preconcurrency public func widgetURL(_ url: URL?) -> some View {
    modified(.silent(.widgetURL), [.url: url.map { .string($0.absoluteString) }])
  }

  /// Adds the view to the accented group of an accented widget. A `false` inside a `true` has no effect.
  @MainActor @preconcurrency public func widgetAccentable(_ accentable: Bool = true) -> some View {
    modified(.effect(.widgetAccentable), [.accentable: .bool(accentable)])
  }

  /// A label beside the view on a watch face; without effect elsewhere.
  @MainActor @preconcurrency public func widgetLabel<Label: View>(@ViewBuilder label: () -> Label) -> some View {
    modified(.undrawn(.widgetLabel), views: [label()])
  }

  /// A label beside the view on a watch face; without effect elsewhere.
  @MainActor @preconcurrency public func widgetLabel(_ labelKey: LocalizedStringKey) -> some View {
    widgetLabel { Text(labelKey) }
  }

  /// A label beside the view on a watch face; without effect elsewhere.
  @_disfavoredOverload @MainActor @preconcurrency public func widgetLabel<S: StringProtocol>(
    _ label: S
  ) -> some View {
    widgetLabel { Text(label) }
  }

  /// Curves the view along the edge of a watch face; without effect elsewhere.
  @MainActor @preconcurrency public func widgetCurvesContent(_ curvesContent: Bool = true) -> some View {
    modified(.undrawn(.widgetCurvesContent), [.curvesContent: .bool(curvesContent)])
  }
}

extension Image {
  /// How the image is rendered in an accented widget.
  @MainActor @preconcurrency public func widgetAccentedRenderingMode(
    _ renderingMode: WidgetAccentedRenderingMode?
  ) -> some View {
    modified(.effect(.widgetAccentedRenderingMode), [.mode: renderingMode.map { .string($0.name) }])
  }
}

extension ContainerBackgroundPlacement {
  /// Behind the whole widget.
  public static let widget = ContainerBackgroundPlacement(name: "widget")
}

/// The system's background of an accessory widget; empty in other families. Source:
/// `WidgetKit.AccessoryWidgetBackground`.
@MainActor @preconcurrency public struct AccessoryWidgetBackground: View, ArchivedView, Sendable {
  public typealias Body = Never

  public nonisolated init() {}

  package func archive(in context: ArchivingContext) -> ViewArchive {
    switch context.environment.widgetFamily {
    case .accessoryCircular, .accessoryCorner, .accessoryRectangular: ViewArchive(.fill(.accessoryWidgetBackground))
    case .systemSmall, .systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait, .accessoryInline:
      .empty
    }
  }
}

/// A preview of a widget in a family. Source: `WidgetKit.WidgetPreviewContext`; accepted, but not displayed.
public struct WidgetPreviewContext: PreviewContext, Sendable {
  private let family: WidgetFamily

  public init(family: WidgetFamily) { self.family = family }

  public subscript<Key: PreviewContextKey>(key: Key.Type) -> Key.Value { Key.defaultValue }
}

/// A label above up to three views side by side. Source: `WidgetKit.AccessoryWidgetGroup`, for watch faces; here it is
/// shown as on an accessory of a phone.
@MainActor @preconcurrency public struct AccessoryWidgetGroup<Label: View, Content: View>: View {
  private let label: Label
  private let content: Content

  public init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {
    self.label = label()
    self.content = content()
  }

  public var body: some View {
    VStack(spacing: 4) {
      label
      HStack(spacing: 8) { content }
    }
  }
}

extension AccessoryWidgetGroup where Label == Text {
  public init(_ titleKey: LocalizedStringKey, @ViewBuilder content: () -> Content) {
    self.init(content: content, label: { Text(titleKey) })
  }
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, @ViewBuilder content: () -> Content) {
    self.init(content: content, label: { Text(title) })
  }
}

extension AccessoryWidgetGroup where Label == SwiftUI.Label<Text, Image> {
  public init(_ titleKey: LocalizedStringKey, systemImage name: String, @ViewBuilder content: () -> Content) {
    self.init(content: content, label: { SwiftUI.Label(titleKey, systemImage: name) })
  }
  @_disfavoredOverload public init<S: StringProtocol>(
    _ title: S, systemImage name: String, @ViewBuilder content: () -> Content
  ) {
    self.init(content: content, label: { SwiftUI.Label(title, systemImage: name) })
  }
}

/// The shape of the views in a group. Source: `WidgetKit.AccessoryWidgetGroupStyle`.
public struct AccessoryWidgetGroupStyle: Sendable, Hashable {
  private let name: String
  public static let automatic = AccessoryWidgetGroupStyle(name: "automatic")
  public static let circular = AccessoryWidgetGroupStyle(name: "circular")
  public static let roundedSquare = AccessoryWidgetGroupStyle(name: "roundedSquare")
}

extension View {
  /// Has no effect: the views keep their shape.
  @MainActor @preconcurrency public func accessoryWidgetGroupStyle(_ style: AccessoryWidgetGroupStyle) -> some View {
    self
  }
}
