// SPDX-License-Identifier: Apache-2.0

import UIKit

/// The text size of the user. Source: `SwiftUI.ContentSizeCategory`.
public enum ContentSizeCategory: Hashable, CaseIterable, Comparable, Sendable {
  case extraSmall, small, medium, large, extraLarge, extraExtraLarge, extraExtraExtraLarge, accessibilityMedium,
    accessibilityLarge, accessibilityExtraLarge, accessibilityExtraExtraLarge, accessibilityExtraExtraExtraLarge

  public var isAccessibilityCategory: Bool { self >= .accessibilityMedium }
}

/// Closes a screen. Source: `SwiftUI.DismissAction`. A widget is on no screen of an app.
public struct DismissAction: Sendable {
  /// Does nothing.
  @MainActor @preconcurrency public func callAsFunction() {}
}

/// Source: `SwiftUI.PresentationMode`.
public struct PresentationMode: Sendable {
  public let isPresented = false
  /// Does nothing.
  public mutating func dismiss() {}
}

/// Source: `SwiftUI.UserInterfaceSizeClass`.
public enum UserInterfaceSizeClass: Hashable, Sendable {
  case compact, regular
}

private struct HorizontalSizeClassKey: EnvironmentKey {
  static let defaultValue: UserInterfaceSizeClass? =
    UITraitCollection().horizontalSizeClass == .regular ? .regular : .compact
}

private struct VerticalSizeClassKey: EnvironmentKey {
  static let defaultValue: UserInterfaceSizeClass? = .regular
}

extension EnvironmentValues {
  /// That of the device in portrait orientation.
  public var horizontalSizeClass: UserInterfaceSizeClass? {
    get { self[HorizontalSizeClassKey.self] }
    set { self[HorizontalSizeClassKey.self] = newValue }
  }
  /// That of the device in portrait orientation.
  public var verticalSizeClass: UserInterfaceSizeClass? {
    get { self[VerticalSizeClassKey.self] }
    set { self[VerticalSizeClassKey.self] = newValue }
  }
  /// `dynamicTypeSize` by the names of iOS 13.
  public var sizeCategory: ContentSizeCategory {
    get { ContentSizeCategory.allCases[DynamicTypeSize.allCases.firstIndex(of: dynamicTypeSize) ?? 3] }
    set { dynamicTypeSize = DynamicTypeSize.allCases[ContentSizeCategory.allCases.firstIndex(of: newValue) ?? 3] }
  }
  public var dismiss: DismissAction { DismissAction() }
  public var presentationMode: Binding<PresentationMode> { .constant(PresentationMode()) }
}
