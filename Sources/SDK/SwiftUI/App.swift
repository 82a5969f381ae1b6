// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation
public import UIKit
import URLSessionAPI

/// Source: `SwiftUI.App`.
@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
  /// Called by `main()`.
  @MainActor @preconcurrency init()
}

extension App {
  /// Runs the app. Called by `@main`.
  @MainActor @preconcurrency public static func main() {
    UIApplication.run {
      let app = Self()
      let views = LiveViews(app)
      return (UIApplication.adopted, app.body.allHandlers, { views.opens($0) }, { views.enters($0) })
    }
  }
}

/// Source: `SwiftUI.UIApplicationDelegateAdaptor`.
@MainActor @preconcurrency @propertyWrapper
public struct UIApplicationDelegateAdaptor<DelegateType: NSObject & UIApplicationDelegate> {
  public let wrappedValue: DelegateType

  public init(_ delegateType: DelegateType.Type = DelegateType.self) {
    let delegate = made(delegateType)
    wrappedValue = delegate
    UIApplication.adopted = delegate
  }
}

/// Creates the delegate through its protocol; through the class, its `init()` would have to be `required`.
@MainActor private func made<Delegate: UIApplicationDelegate>(_ type: Delegate.Type) -> Delegate { Delegate() }

/// Source: `SwiftUI.Scene`.
@MainActor @preconcurrency public protocol Scene {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

/// A scene that lists its handlers and views itself.
@MainActor protocol DescribedScene {
  var handlers: [BackgroundEventsHandler] { get }
  /// The root views of its windows, created on each access.
  var contents: [any View] { get }
  var effects: [LiveEffect] { get }
}

extension DescribedScene {
  var effects: [LiveEffect] { [] }
}

extension Scene {
  /// The handlers of this scene, or of its body, in order.
  var allHandlers: [BackgroundEventsHandler] {
    if let described = self as? any DescribedScene { return described.handlers }
    guard Body.self != Never.self else { fatalError("\(Self.self) has neither a body nor a description") }
    return body.allHandlers
  }
}

extension Scene {
  /// The root views of this scene's windows, or of its body's.
  var allContents: [any View] {
    if let described = self as? any DescribedScene { return described.contents }
    return body.allContents
  }

  /// The effects of this scene's modifiers, or of its body's.
  var allEffects: [LiveEffect] {
    if let described = self as? any DescribedScene { return described.effects }
    return body.allEffects
  }
}

extension Never: Scene {}

/// Source: `SwiftUI.WindowGroup`. The device shows no windows of an app: the content is evaluated and not drawn.
nonisolated public struct WindowGroup<Content: View>: Scene, DescribedScene {
  private let content: () -> Content

  public init(@ViewBuilder content: @escaping () -> Content) { self.content = content }
  public init(id: String, @ViewBuilder content: @escaping () -> Content) { self.content = content }
  public init(_ title: Text, @ViewBuilder content: @escaping () -> Content) { self.content = content }
  public init(_ titleKey: LocalizedStringKey, @ViewBuilder content: @escaping () -> Content) {
    self.content = content
  }
  @_disfavoredOverload
  public init<S: StringProtocol>(_ title: S, @ViewBuilder content: @escaping () -> Content) { self.content = content }

  @MainActor @preconcurrency public var body: Never { fatalError("WindowGroup has no body") }
  @MainActor var handlers: [BackgroundEventsHandler] { [] }
  @MainActor var contents: [any View] { [content()] }
}

/// Several scenes as one.
@MainActor struct TupleScene: Scene, DescribedScene {
  let scenes: [any Scene]

  var body: Never { fatalError("TupleScene has no body") }
  var handlers: [BackgroundEventsHandler] { scenes.flatMap { $0.allHandlers } }
  var contents: [any View] { scenes.flatMap { $0.allContents } }
  var effects: [LiveEffect] { scenes.flatMap { $0.allEffects } }
}

/// Source: `SwiftUI.SceneBuilder`.
@MainActor @resultBuilder public struct SceneBuilder {
  public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
  public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: Scene>(_ content: repeat each Content) -> some Scene {
    var scenes: [any Scene] = []
    for scene in repeat each content { scenes.append(scene) }
    return TupleScene(scenes: scenes)
  }
}

/// A scene with a handler.
nonisolated struct ModifiedScene<Content: Scene>: Scene, DescribedScene {
  private let content: Content
  private let handler: BackgroundEventsHandler

  init(content: Content, handler: BackgroundEventsHandler) {
    self.content = content
    self.handler = handler
  }

  @MainActor var body: Never { fatalError("a modified scene has no body") }
  @MainActor var handlers: [BackgroundEventsHandler] { content.allHandlers + [handler] }
  @MainActor var contents: [any View] { content.allContents }
  @MainActor var effects: [LiveEffect] { content.allEffects }
}

/// A scene whose views have a changed environment.
nonisolated package struct EnvironmentScene<Content: Scene>: Scene, DescribedScene {
  private let content: Content
  private let change: (inout EnvironmentValues) -> Void

  package init(content: Content, change: @escaping (inout EnvironmentValues) -> Void) {
    (self.content, self.change) = (content, change)
  }

  @MainActor package var body: Never { fatalError("a scene with an environment has no body") }
  @MainActor var handlers: [BackgroundEventsHandler] { content.allHandlers }
  @MainActor var contents: [any View] { content.allContents.map { changed($0) } }
  @MainActor var effects: [LiveEffect] { content.allEffects }

  @MainActor private func changed(_ view: some View) -> any View { EnvironmentView(content: view, change: change) }
}

extension Scene {
  /// Runs an action when the system has work of this kind for the app.
  ///
  /// `@concurrent` has the reason that it has for widgets.
  ///
  /// - Parameter action: the work is done when it returns. Its Swift task is cancelled when its time runs out; an app
  ///   whose action does not return soon after is terminated.
  nonisolated public func backgroundTask<D: Sendable, R: Sendable>(
    _ task: BackgroundTask<D, R>, action: @escaping @Sendable @concurrent (D) async -> R
  ) -> some Scene {
    ModifiedScene(content: self, handler: task.handler(action))
  }
}

/// Source: `SwiftUI.BackgroundTask`.
public struct BackgroundTask<Request, Response>: Sendable {
  let matches: @Sendable (_ identifier: String) -> Bool
  let request: @Sendable (_ identifier: String) -> Request

  /// Returns the action as a handler of background session events. The events are handled when the action returns.
  ///
  /// - Parameter version: the device's major version. Before iOS 16, which has no `BackgroundTask`, no session matches.
  func handler(
    _ action: @escaping @Sendable @concurrent (Request) async -> Response, version: Int = DeviceVersion.major
  ) -> BackgroundEventsHandler {
    BackgroundEventsHandler(
      matches: { version >= 16 && matches($0) },
      action: { [request] identifier in _ = await action(request(identifier)) })
  }
}

extension BackgroundTask where Request == String, Response == Void {
  /// Events of every background session; the action receives the session's identifier.
  public static var urlSession: BackgroundTask<String, Void> {
    BackgroundTask(matches: { _ in true }, request: { $0 })
  }

  /// Events of the background sessions whose identifier `matching` accepts; the action receives the identifier.
  public static func urlSession(
    matching: @escaping @Sendable (_ identifier: String) -> Bool
  ) -> BackgroundTask<String, Void> {
    BackgroundTask(matches: matching, request: { $0 })
  }
}

extension BackgroundTask where Request == Void, Response == Void {
  /// Events of the background session with this identifier.
  public static func urlSession(_ identifier: String) -> BackgroundTask<Void, Void> {
    BackgroundTask(matches: { $0 == identifier }, request: { _ in })
  }
}

extension WidgetConfiguration {
  /// Runs an action when the system has work of this kind for the extension.
  ///
  /// `@concurrent` gives `action` the type that it has on Apple's systems: an asynchronous function without an actor
  /// runs on the global executor, unless a module is compiled with `NonisolatedNonsendingByDefault`, as this one is.
  ///
  /// - Parameter action: the work is done when it returns. Its Swift task is cancelled when its time runs out; an
  ///   extension whose action does not return soon after is terminated.
  nonisolated public func backgroundTask<D: Sendable, R: Sendable>(
    _ task: BackgroundTask<D, R>, action: @escaping @Sendable @concurrent (D) async -> R
  ) -> some WidgetConfiguration {
    ModifiedConfiguration(content: self) { $0.handlers.append(task.handler(action)) }
  }
}
