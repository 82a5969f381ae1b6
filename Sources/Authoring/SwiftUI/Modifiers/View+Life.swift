import Archive
public import Foundation

// Source of all: `SwiftUI.View` of the iOS 18 SDK. What happens to a view on a screen does not happen to an archived one:
// the closures are never called.
extension View {
  /// The view with an identity.
  nonisolated public func id<ID: Hashable>(_ id: ID) -> some View { modified("id", ["id": .string("\(id)")]) }
  /// The view with a tag.
  nonisolated public func tag<V: Hashable>(_ tag: V, includeOptional: Bool = true) -> some View { self }
  /// Never called.
  nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View { self }
  /// Never called.
  nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> some View { self }
  /// Never called.
  nonisolated public func onTapGesture(count: Int = 1, perform action: @escaping () -> Void) -> some View { self }
  /// Never called.
  nonisolated public func onLongPressGesture(
    minimumDuration: Double = 0.5, maximumDistance: CGFloat = 10, perform action: @escaping () -> Void,
    onPressingChanged: ((Bool) -> Void)? = nil
  ) -> some View {
    self
  }
  /// In an app: called with the URL of a widget that a person touched. Never called in a widget.
  nonisolated public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View {
    OpenURLView(content: self, action: action)
  }
  /// Never called.
  nonisolated public func task(
    priority: TaskPriority = .userInitiated, _ action: sending @escaping @isolated(any) () async -> Void
  ) -> some View {
    self
  }
  /// Never called.
  nonisolated public func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
  ) -> some View {
    self
  }
  /// Never called.
  nonisolated public func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping () -> Void
  ) -> some View {
    self
  }
  /// Never called.
  @_disfavoredOverload nonisolated public func onChange<V: Equatable>(
    of value: V, perform action: @escaping (_ newValue: V) -> Void
  ) -> some View {
    self
  }
  /// How a change is animated.
  nonisolated public func animation<V: Equatable>(_ animation: Animation?, value: V) -> some View {
    modified(
      "animation",
      ["animation": animation?.archived, "seconds": animation?.seconds.archived, "value": .string("\(value)")])
  }
  /// How changes are animated.
  nonisolated public func animation(_ animation: Animation?) -> some View {
    modified("animation", ["animation": animation?.archived, "seconds": animation?.seconds.archived])
  }
  /// How the view comes and goes.
  nonisolated public func transition(_ t: AnyTransition) -> some View {
    modified(
      "transition",
      [
        "transition": t.archived, "animation": t.animation?.archived, "seconds": t.animation?.seconds.archived,
      ])
  }
  /// How the view gives place to its next.
  nonisolated public func contentTransition(_ transition: ContentTransition) -> some View {
    modified("contentTransition", ["transition": transition.archived]) { $0.contentTransition = transition }
  }
  /// Which view of the next entry takes the place of this one.
  nonisolated public func matchedGeometryEffect<ID: Hashable>(
    id: ID, in namespace: Namespace.ID, properties: MatchedGeometryProperties = .frame, anchor: UnitPoint = .center,
    isSource: Bool = true
  ) -> some View {
    modified("matchedGeometryEffect", ["id": .string("\(id)")])
  }

  /// Whether controls in the view can be used.
  nonisolated public func disabled(_ disabled: Bool) -> some View {
    modified("disabled", ["disabled": disabled.archived]) { $0.isEnabled = $0.isEnabled && !disabled }
  }
  /// Whether the view is touched.
  nonisolated public func allowsHitTesting(_ enabled: Bool) -> some View {
    modified("allowsHitTesting", ["enabled": enabled.archived])
  }
  /// Where the view is touched.
  nonisolated public func contentShape<S: Shape>(_ shape: S, eoFill: Bool = false) -> some View {
    modified("contentShape", views: [shape])
  }
  /// How large controls are.
  nonisolated public func controlSize(_ controlSize: ControlSize) -> some View {
    modified("controlSize", ["size": controlSize.archived]) { $0.controlSize = controlSize }
  }
  /// Whether labels are seen.
  nonisolated public func labelsHidden() -> some View { modified("labelsHidden") }
  /// What a person is told of the view; shown nowhere.
  nonisolated public func help(_ text: LocalizedStringKey) -> some View { self }
  /// Whether a person can take a text; in a widget nobody can.
  nonisolated public func textSelection<S: TextSelectability>(_ selectability: S) -> some View { self }

  /// Why the view's data is hidden.
  nonisolated public func redacted(reason: RedactionReasons) -> some View {
    modified("redacted", ["reason": reason.archived]) { $0.redactionReasons.formUnion(reason) }
  }
  /// The view, not hidden.
  nonisolated public func unredacted() -> some View { modified("unredacted") { $0.redactionReasons = [] } }
  /// Whether the view's data is not for everybody's eyes.
  nonisolated public func privacySensitive(_ sensitive: Bool = true) -> some View {
    modified("privacySensitive", ["sensitive": sensitive ? nil : false])
  }
  /// Whether the view shows what an intent makes anew.
  nonisolated public func invalidatableContent(_ invalidatable: Bool = true) -> some View {
    modified("invalidatableContent", ["invalidatable": invalidatable ? nil : false])
  }
}

/// Whether a person can take a text. Source: `SwiftUI.TextSelectability`.
public protocol TextSelectability {}

/// A person can. Source: `SwiftUI.EnabledTextSelectability`.
public struct EnabledTextSelectability: TextSelectability {}

/// A person cannot. Source: `SwiftUI.DisabledTextSelectability`.
public struct DisabledTextSelectability: TextSelectability {}

extension TextSelectability where Self == EnabledTextSelectability {
  /// A person can.
  public static var enabled: EnabledTextSelectability { EnabledTextSelectability() }
}

extension TextSelectability where Self == DisabledTextSelectability {
  /// A person cannot.
  public static var disabled: DisabledTextSelectability { DisabledTextSelectability() }
}
