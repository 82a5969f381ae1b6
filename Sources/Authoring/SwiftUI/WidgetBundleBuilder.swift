/// Several widgets as one.
@MainActor struct TupleWidget: Widget, WidgetGroup {
  let widgets: [any Widget]

  init() { widgets = [] }
  init(_ widgets: [any Widget]) { self.widgets = widgets }
  var body: EmptyWidgetConfiguration { EmptyWidgetConfiguration() }
}

/// A widget in `if #available`. Source: `SwiftUI._LimitedAvailabilityWidgetMarker`.
@_marker public protocol _LimitedAvailabilityWidgetMarker {}

/// A widget in `if #available`: on Linux every version is there.
@MainActor struct LimitedAvailabilityWidget: Widget, WidgetGroup, _LimitedAvailabilityWidgetMarker {
  let widgets: [any Widget]

  init() { widgets = [] }
  init(_ widget: any Widget) { widgets = [widget] }
  var body: EmptyWidgetConfiguration { EmptyWidgetConfiguration() }
}

/// Makes one widget of several. Source: `SwiftUI.WidgetBundleBuilder`: of conditions it takes `if #available` alone.
@MainActor @resultBuilder public struct WidgetBundleBuilder {
  /// A widget as it stands.
  public static func buildExpression<Content: Widget>(_ content: Content) -> Content { content }
  /// A control beside widgets.
  public static func buildExpression<Content: ControlWidget>(_ content: Content) -> some Widget {
    ControlInBundle(content)
  }
  /// No widget.
  public static func buildBlock() -> some Widget { TupleWidget([]) }
  /// One widget.
  public static func buildBlock<Content: Widget>(_ content: Content) -> some Widget { content }
  /// Several widgets.
  public static func buildBlock<each Content: Widget>(_ content: repeat each Content) -> some Widget {
    var widgets: [any Widget] = []
    for widget in repeat each content { widgets.append(widget) }
    return TupleWidget(widgets)
  }
  /// `if #available`.
  public static func buildOptional(_ widget: (any Widget & _LimitedAvailabilityWidgetMarker)?) -> some Widget {
    TupleWidget(widget.map { [$0] } ?? [])
  }
  /// Any other `if`.
  @available(*, unavailable, message: "a widget bundle takes no condition but `if #available`")
  public static func buildOptional<W: Widget>(_ widget: W?) -> some Widget { TupleWidget([]) }
  /// What stands in `if #available`.
  public static func buildLimitedAvailability(
    _ widget: some Widget
  ) -> any Widget & _LimitedAvailabilityWidgetMarker {
    LimitedAvailabilityWidget(widget)
  }
}
