// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
public import Foundation
public import OpenCombine

// An archived view receives no events of a screen: no gesture is recognised, and of its actions only `onAppear` is called.

/// Source: `SwiftUI.Gesture`.
public protocol Gesture<Value> {
  associatedtype Value
}

extension Gesture {
  /// `action` is never called.
  public func onEnded(_ action: @escaping (Value) -> Void) -> some Gesture<Value> { self }
  /// `action` is never called.
  public func onChanged(_ action: @escaping (Value) -> Void) -> some Gesture<Value> { self }
}

/// Source: `SwiftUI.DragGesture`.
public struct DragGesture: Gesture {
  /// Source: `SwiftUI.DragGesture.Value`. No gesture is recognised, so no value is made.
  public struct Value: Equatable, Sendable {
    public var time: Date
    public var location: CGPoint
    public var startLocation: CGPoint
    public var velocity: CGSize
    public var translation: CGSize {
      CGSize(width: location.x - startLocation.x, height: location.y - startLocation.y)
    }
    /// As if the finger stopped at once.
    public var predictedEndLocation: CGPoint { location }
    /// As if the finger stopped at once.
    public var predictedEndTranslation: CGSize { translation }
  }

  public var minimumDistance: CGFloat
  public var coordinateSpace: CoordinateSpace

  public init(minimumDistance: CGFloat = 10, coordinateSpace: some CoordinateSpaceProtocol = .local) {
    self.minimumDistance = minimumDistance
    self.coordinateSpace = coordinateSpace.coordinateSpace
  }
  @_disfavoredOverload public init(minimumDistance: CGFloat = 10, coordinateSpace: CoordinateSpace = .local) {
    self.minimumDistance = minimumDistance
    self.coordinateSpace = coordinateSpace
  }
}

/// Source: `SwiftUI.TapGesture`.
public struct TapGesture: Gesture {
  public typealias Value = Void
  public var count: Int
  public init(count: Int = 1) { self.count = count }
}

/// Source: `SwiftUI.LongPressGesture`.
public struct LongPressGesture: Gesture {
  public typealias Value = Bool
  public var minimumDuration: Double
  public init(minimumDuration: Double = 0.5) { self.minimumDuration = minimumDuration }
}

extension View {
  /// Has no effect.
  nonisolated public func gesture<T: Gesture>(_ gesture: T) -> some View { self }
  /// Has no effect.
  nonisolated public func simultaneousGesture<T: Gesture>(_ gesture: T) -> some View { self }
  /// Has no effect.
  nonisolated public func highPriorityGesture<T: Gesture>(_ gesture: T) -> some View { self }
  /// `action` is never called: an archived view is on no screen of an app.
  nonisolated public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { self }
  /// Nothing collects it: an archived view is not laid out here. The diagnosis `not-simulated` names the use.
  nonisolated public func preference<K: PreferenceKey>(key: K.Type = K.self, value: K.Value) -> some View {
    HostedProcess.current?.noticeUnsimulated("preference", "views are not laid out by the process: nothing collects it")
    return self
  }
  /// `action` is never called: an archived view is not laid out here. The diagnosis `not-simulated` names the use.
  nonisolated public func onPreferenceChange<K: PreferenceKey>(
    _ key: K.Type = K.self, perform action: @escaping (K.Value) -> Void
  ) -> some View where K.Value: Equatable {
    HostedProcess.current?.noticeUnsimulated(
      "onPreferenceChange", "views are not laid out by the process: its closure is never called")
    return self
  }
}

/// Source: `SwiftUI.PreferenceKey`.
public protocol PreferenceKey {
  associatedtype Value
  static var defaultValue: Value { get }
  static func reduce(value: inout Value, nextValue: () -> Value)
}

extension PreferenceKey where Value: ExpressibleByNilLiteral {
  public static var defaultValue: Value { nil }
}

// Source of all: `SwiftUI.View` of the iOS 18 SDK. In an app that has come to the foreground, the actions of `onAppear`, `task`
// and their kin run (`LiveViews`). An archived view of a widget receives no events of a screen: only `onAppear` is called.
extension View {
  nonisolated public func id<ID: Hashable>(_ id: ID) -> some View {
    IdentifiedView(content: modified(.silent(.id), [.id: .string("\(id)")]), id: id)
  }
  /// Has no effect.
  nonisolated public func tag<V: Hashable>(_ tag: V, includeOptional: Bool = true) -> some View { self }
  /// In a widget, `action` is called once while the view is archived. Then the body around it is evaluated again, with the
  /// state that the action has changed.
  nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View {
    LiveEffectView(content: self, effect: .appear(action ?? {}))
  }
  nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> some View {
    LiveEffectView(content: self, effect: .disappear(action ?? {}))
  }
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
  nonisolated public func task(
    priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
  ) -> some View {
    LiveEffectView(content: self, effect: .task(id: nil, priority, action))
  }
  nonisolated public func task<T: Equatable>(
    id value: T, priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
  ) -> some View {
    LiveEffectView(content: self, effect: .task(id: value, priority, action))
  }
  nonisolated public func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
  ) -> some View {
    LiveEffectView(content: self, effect: .change(of: value, initial, action))
  }
  nonisolated public func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping () -> Void
  ) -> some View {
    LiveEffectView(content: self, effect: .change(of: value, initial) { _, _ in action() })
  }
  @_disfavoredOverload nonisolated public func onChange<V: Equatable>(
    of value: V, perform action: @escaping (_ newValue: V) -> Void
  ) -> some View {
    LiveEffectView(content: self, effect: .change(of: value, false) { _, new in action(new) })
  }
  nonisolated public func onReceive<P: Publisher>(
    _ publisher: P, perform action: @escaping (P.Output) -> Void
  ) -> some View where P.Failure == Never {
    LiveEffectView(
      content: self,
      effect: .receive(
        subscribe: { receive in publisher.sink { receive($0) } },
        { output in if let output = output as? P.Output { action(output) } }))
  }
  nonisolated public func animation<V: Equatable>(_ animation: Animation?, value: V) -> some View {
    modified(
      .silent(.animation),
      [.animation: animation?.archived, .seconds: animation?.seconds.archived, .value: .string("\(value)")])
  }
  nonisolated public func animation(_ animation: Animation?) -> some View {
    modified(.silent(.animation), [.animation: animation?.archived, .seconds: animation?.seconds.archived])
  }
  nonisolated public func transition(_ t: AnyTransition) -> some View {
    modified(
      .silent(.transition),
      [
        .transition: t.archived, .animation: t.animation?.archived, .seconds: t.animation?.seconds.archived,
      ])
  }
  nonisolated public func contentTransition(_ transition: ContentTransition) -> some View {
    modified(.silent(.contentTransition), [.transition: transition.archived]) { $0.contentTransition = transition }
  }
  /// Matches this view with a view of the next entry.
  nonisolated public func matchedGeometryEffect<ID: Hashable>(
    id: ID, in namespace: Namespace.ID, properties: MatchedGeometryProperties = .frame, anchor: UnitPoint = .center,
    isSource: Bool = true
  ) -> some View {
    modified(.silent(.matchedGeometryEffect), [.id: .string("\(id)")])
  }

  nonisolated public func disabled(_ disabled: Bool) -> some View {
    modified(.silent(.disabled), [.disabled: disabled.archived]) { $0.isEnabled = $0.isEnabled && !disabled }
  }
  nonisolated public func allowsHitTesting(_ enabled: Bool) -> some View {
    modified(.silent(.allowsHitTesting), [.enabled: enabled.archived])
  }
  nonisolated public func contentShape<S: Shape>(_ shape: S, eoFill: Bool = false) -> some View {
    modified(.silent(.contentShape), views: [shape])
  }
  nonisolated public func controlSize(_ controlSize: ControlSize) -> some View {
    modified(.style(.controlSize), [.size: controlSize.archived]) { $0.controlSize = controlSize }
  }
  nonisolated public func labelsHidden() -> some View { modified(.style(.labelsHidden)) }
  /// Has no effect.
  nonisolated public func help(_ textKey: LocalizedStringKey) -> some View { self }
  /// Has no effect.
  @_disfavoredOverload nonisolated public func help<S: StringProtocol>(_ text: S) -> some View { self }
  /// Has no effect: text in a widget cannot be selected.
  nonisolated public func textSelection<S: TextSelectability>(_ selectability: S) -> some View { self }

  nonisolated public func redacted(reason: RedactionReasons) -> some View {
    modified(.silent(.redacted), [.reason: reason.archived]) { $0.redact(reason) }
  }
  nonisolated public func unredacted() -> some View { modified(.silent(.unredacted)) { $0.redactionReasons = [] } }
  nonisolated public func privacySensitive(_ sensitive: Bool = true) -> some View {
    modified(.silent(.privacySensitive), [.sensitive: sensitive ? nil : false])
  }
  nonisolated public func invalidatableContent(_ invalidatable: Bool = true) -> some View {
    modified(.silent(.invalidatableContent), [.invalidatable: invalidatable ? nil : false])
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

/// Collects the `onOpenURL(perform:)` actions of an app's views while they are traversed.
@MainActor final class OpenURLActions {
  fileprivate(set) var foundActions: [(URL) -> Void] = []

  nonisolated init() {}
}

extension EnvironmentValues {
  private struct OpenURLActionsKey: EnvironmentKey {
    static var defaultValue: OpenURLActions? { nil }
  }

  /// Where the actions of `onOpenURL(perform:)` are collected; `nil` where they are not needed, as in a widget.
  var openURLActions: OpenURLActions? {
    get { self[OpenURLActionsKey.self] }
    set { self[OpenURLActionsKey.self] = newValue }
  }
}

/// A view with an `onOpenURL(perform:)` action. The archive contains only its content.
nonisolated struct OpenURLView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let action: (URL) -> Void

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    if let actions = context.environment.openURLActions {
      var environment = context.environment
      // It would keep itself alive.
      environment.openURLActions = nil
      actions.foundActions.append { [environment, action] url in environment.during { action(url) } }
    }
    return content
  }
}

/// Source: `SwiftUI.OpenURLAction`. No URL is opened while views are archived.
nonisolated public struct OpenURLAction: Sendable {
  /// Does nothing.
  @MainActor @preconcurrency public func callAsFunction(_ url: URL) {}
}

/// Source: `SwiftUI.LegibilityWeight`.
public enum LegibilityWeight: Hashable, Sendable {
  case regular
  case bold
}
