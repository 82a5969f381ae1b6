// SPDX-License-Identifier: Apache-2.0

/// Several widgets as one.
@MainActor struct TupleWidget: Widget {
  let widgets: [any Widget]

  init() { widgets = [] }
  init(_ widgets: [any Widget]) { self.widgets = widgets }
  var body: EmptyWidgetConfiguration { EmptyWidgetConfiguration() }
}

/// Source: `SwiftUI._LimitedAvailabilityWidgetMarker`.
@_marker public protocol _LimitedAvailabilityWidgetMarker {}

/// A widget in `if #available`. On Linux every version is available.
@MainActor struct LimitedAvailabilityWidget: Widget, _LimitedAvailabilityWidgetMarker {
  let widgets: [any Widget]

  init() { widgets = [] }
  init(_ widget: any Widget) { widgets = [widget] }
  var body: EmptyWidgetConfiguration { EmptyWidgetConfiguration() }
}

/// Source: `SwiftUI.WidgetBundleBuilder`. The only condition that it accepts is `if #available`.
@MainActor @resultBuilder public struct WidgetBundleBuilder {
  public static func buildExpression<Content: Widget>(_ content: Content) -> Content { content }
  public static func buildExpression<Content: ControlWidget>(_ content: Content) -> some Widget {
    ControlInBundle(content)
  }
  public static func buildBlock() -> some Widget { TupleWidget([]) }
  public static func buildBlock<Content: Widget>(_ content: Content) -> some Widget { content }
  public static func buildBlock<each Content: Widget>(_ content: repeat each Content) -> some Widget {
    var widgets: [any Widget] = []
    for widget in repeat each content { widgets.append(widget) }
    return TupleWidget(widgets)
  }
  public static func buildOptional(_ widget: (any Widget & _LimitedAvailabilityWidgetMarker)?) -> some Widget {
    TupleWidget(widget.map { [$0] } ?? [])
  }
  /// Any other `if`.
  @available(*, unavailable, message: "a widget bundle accepts no condition except `if #available`")
  public static func buildOptional<W: Widget>(_ widget: W?) -> some Widget { TupleWidget([]) }
  public static func buildLimitedAvailability(
    _ widget: some Widget
  ) -> any Widget & _LimitedAvailabilityWidgetMarker {
    LimitedAvailabilityWidget(widget)
  }
}
