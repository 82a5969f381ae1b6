// SPDX-License-Identifier: Apache-2.0

public import SwiftUI

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
