// SPDX-License-Identifier: Apache-2.0

import Archive

/// Source: `SwiftUI.LabelStyle`.
@MainActor @preconcurrency public protocol LabelStyle {
  associatedtype Body: View
  typealias Configuration = LabelStyleConfiguration
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

extension LabelStyle {
  func body(of configuration: Configuration) -> any View { makeBody(configuration: configuration) }
}

/// Source: `SwiftUI.LabelStyleConfiguration`.
public struct LabelStyleConfiguration {
  nonisolated public struct Title: View, StyleLabel {
    public typealias Body = Never
    let view: any View
  }
  nonisolated public struct Icon: View, StyleLabel {
    public typealias Body = Never
    let view: any View
  }
  public let title: Title
  public let icon: Icon
}

private struct LabelStyleKey: EnvironmentKey {
  static var defaultValue: (any LabelStyle)? { nil }
}

extension EnvironmentValues {
  /// The author's style; `nil`: one of the system's.
  var labelStyle: (any LabelStyle)? {
    get { self[LabelStyleKey.self] }
    set { self[LabelStyleKey.self] = newValue }
  }
}

extension View {
  nonisolated public func labelStyle<S: LabelStyle>(_ style: S) -> some View {
    let known = style as? any SystemStyle
    return modified(.style(.labelStyle), [.style: .string(known?.name ?? "\(S.self)")]) {
      $0.labelStyle = known == nil ? style : nil
    }
  }
}

/// Source: `SwiftUI.DefaultLabelStyle`.
nonisolated public struct DefaultLabelStyle: LabelStyle, SystemStyle {
  var name: String { "automatic" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension LabelStyle where Self == DefaultLabelStyle {
  nonisolated public static var automatic: DefaultLabelStyle { DefaultLabelStyle() }
}

/// Source: `SwiftUI.IconOnlyLabelStyle`.
nonisolated public struct IconOnlyLabelStyle: LabelStyle, SystemStyle {
  var name: String { "iconOnly" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension LabelStyle where Self == IconOnlyLabelStyle {
  nonisolated public static var iconOnly: IconOnlyLabelStyle { IconOnlyLabelStyle() }
}

/// Source: `SwiftUI.TitleOnlyLabelStyle`.
nonisolated public struct TitleOnlyLabelStyle: LabelStyle, SystemStyle {
  var name: String { "titleOnly" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension LabelStyle where Self == TitleOnlyLabelStyle {
  nonisolated public static var titleOnly: TitleOnlyLabelStyle { TitleOnlyLabelStyle() }
}

/// Source: `SwiftUI.TitleAndIconLabelStyle`.
nonisolated public struct TitleAndIconLabelStyle: LabelStyle, SystemStyle {
  var name: String { "titleAndIcon" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension LabelStyle where Self == TitleAndIconLabelStyle {
  nonisolated public static var titleAndIcon: TitleAndIconLabelStyle { TitleAndIconLabelStyle() }
}

/// A label in a style's configuration: it wraps the view that the author gave.
@MainActor protocol StyleLabel: WrappingView {
  nonisolated var view: any View { get }
}

extension StyleLabel {
  func unwrapped(in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]) -> any View {
    view
  }
}

/// The views of a control's labels in order.
nonisolated struct ArchivedLabels {
  private let standard: [String]
  private var foundNames: [String] = []
  private(set) var views: [ViewArchive] = []

  /// - Parameter standard: the names of the labels in order.
  init(_ standard: [String]) { self.standard = standard }

  mutating func add(_ views: [ViewArchive], _ name: String) {
    let views = views.filter { $0 != .empty }
    self.views += views
    foundNames += views.map { _ in name }
  }

  /// The name of the label to which each view belongs; `nil` where they are the first labels with one view each.
  var names: ArchivedValue? { standard.starts(with: foundNames) ? nil : .list(foundNames.map { .string($0) }) }
}
