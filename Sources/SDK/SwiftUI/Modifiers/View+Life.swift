// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation
public import OpenCombine

// Source of all: `SwiftUI.View` of the iOS 18 SDK. An archived view receives no events of a screen: the closures are
// never called.
extension View {
  nonisolated public func id<ID: Hashable>(_ id: ID) -> some View { modified(.silent(.id), ["id": .string("\(id)")]) }
  /// Has no effect.
  nonisolated public func tag<V: Hashable>(_ tag: V, includeOptional: Bool = true) -> some View { self }
  /// `action` is never called.
  nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View { self }
  /// `action` is never called.
  nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> some View { self }
  /// `action` is never called.
  nonisolated public func onTapGesture(count: Int = 1, perform action: @escaping () -> Void) -> some View { self }
  /// `action` is never called.
  nonisolated public func onLongPressGesture(
    minimumDuration: Double = 0.5, maximumDistance: CGFloat = 10, perform action: @escaping () -> Void,
    onPressingChanged: ((Bool) -> Void)? = nil
  ) -> some View {
    self
  }
  /// In an app, `action` is called with the URL of a widget that the user tapped. In a widget it is never called.
  nonisolated public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View {
    OpenURLView(content: self, action: action)
  }
  /// `action` is never called.
  nonisolated public func task(
    priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
  ) -> some View {
    self
  }
  /// `action` is never called.
  nonisolated public func task<T: Equatable>(
    id value: T, priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
  ) -> some View {
    self
  }
  /// `action` is never called.
  nonisolated public func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
  ) -> some View {
    self
  }
  /// `action` is never called.
  nonisolated public func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping () -> Void
  ) -> some View {
    self
  }
  /// `action` is never called.
  @_disfavoredOverload nonisolated public func onChange<V: Equatable>(
    of value: V, perform action: @escaping (_ newValue: V) -> Void
  ) -> some View {
    self
  }
  /// Nothing subscribes: `action` is never called.
  nonisolated public func onReceive<P: Publisher>(
    _ publisher: P, perform action: @escaping (P.Output) -> Void
  ) -> some View where P.Failure == Never {
    self
  }
  nonisolated public func animation<V: Equatable>(_ animation: Animation?, value: V) -> some View {
    modified(
      .silent(.animation),
      ["animation": animation?.archived, "seconds": animation?.seconds.archived, "value": .string("\(value)")])
  }
  nonisolated public func animation(_ animation: Animation?) -> some View {
    modified(.silent(.animation), ["animation": animation?.archived, "seconds": animation?.seconds.archived])
  }
  nonisolated public func transition(_ t: AnyTransition) -> some View {
    modified(
      .silent(.transition),
      [
        "transition": t.archived, "animation": t.animation?.archived, "seconds": t.animation?.seconds.archived,
      ])
  }
  nonisolated public func contentTransition(_ transition: ContentTransition) -> some View {
    modified(.silent(.contentTransition), ["transition": transition.archived]) { $0.contentTransition = transition }
  }
  /// Matches this view with a view of the next entry.
  nonisolated public func matchedGeometryEffect<ID: Hashable>(
    id: ID, in namespace: Namespace.ID, properties: MatchedGeometryProperties = .frame, anchor: UnitPoint = .center,
    isSource: Bool = true
  ) -> some View {
    modified(.silent(.matchedGeometryEffect), ["id": .string("\(id)")])
  }

  nonisolated public func disabled(_ disabled: Bool) -> some View {
    modified(.silent(.disabled), ["disabled": disabled.archived]) { $0.isEnabled = $0.isEnabled && !disabled }
  }
  nonisolated public func allowsHitTesting(_ enabled: Bool) -> some View {
    modified(.silent(.allowsHitTesting), ["enabled": enabled.archived])
  }
  nonisolated public func contentShape<S: Shape>(_ shape: S, eoFill: Bool = false) -> some View {
    modified(.silent(.contentShape), views: [shape])
  }
  nonisolated public func controlSize(_ controlSize: ControlSize) -> some View {
    modified(.style(.controlSize), ["size": controlSize.archived]) { $0.controlSize = controlSize }
  }
  nonisolated public func labelsHidden() -> some View { modified(.style(.labelsHidden)) }
  /// Has no effect.
  nonisolated public func help(_ textKey: LocalizedStringKey) -> some View { self }
  /// Has no effect.
  @_disfavoredOverload nonisolated public func help<S: StringProtocol>(_ text: S) -> some View { self }
  /// Has no effect: text in a widget cannot be selected.
  nonisolated public func textSelection<S: TextSelectability>(_ selectability: S) -> some View { self }

  nonisolated public func redacted(reason: RedactionReasons) -> some View {
    modified(.silent(.redacted), ["reason": reason.archived]) { $0.redact(reason) }
  }
  nonisolated public func unredacted() -> some View { modified(.silent(.unredacted)) { $0.redactionReasons = [] } }
  nonisolated public func privacySensitive(_ sensitive: Bool = true) -> some View {
    modified(.silent(.privacySensitive), ["sensitive": sensitive ? nil : false])
  }
  nonisolated public func invalidatableContent(_ invalidatable: Bool = true) -> some View {
    modified(.silent(.invalidatableContent), ["invalidatable": invalidatable ? nil : false])
  }
}

/// Source: `SwiftUI.TextSelectability`.
public protocol TextSelectability {}

/// Source: `SwiftUI.EnabledTextSelectability`.
public struct EnabledTextSelectability: TextSelectability {}

/// Source: `SwiftUI.DisabledTextSelectability`.
public struct DisabledTextSelectability: TextSelectability {}

extension TextSelectability where Self == EnabledTextSelectability {
  public static var enabled: EnabledTextSelectability { EnabledTextSelectability() }
}

extension TextSelectability where Self == DisabledTextSelectability {
  public static var disabled: DisabledTextSelectability { DisabledTextSelectability() }
}
