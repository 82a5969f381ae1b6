// SPDX-License-Identifier: Apache-2.0

import Foundation
import URLSessionAPI

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
  fileprivate var allContents: [any View] {
    if let described = self as? any DescribedScene { return described.contents }
    return body.allContents
  }

  /// Passes a URL to each `onOpenURL(perform:)` of the scene's views, which are created for this call.
  ///
  /// - Returns: whether there is at least one.
  func opens(_ url: URL) -> Bool {
    let actions = OpenURLActions()
    var environment = EnvironmentValues()
    environment.openURLActions = actions
    // A view that cannot be archived still contributes the actions that were found before the failure.
    for content in allContents { _ = try? content.archived(in: environment) }
    for action in actions.found { action(url) }
    return !actions.found.isEmpty
  }
}

extension Never: Scene {}

/// Source: `SwiftUI.WindowGroup`. The device shows no windows of an app: the content is created only to find its
/// `onOpenURL(perform:)` actions.
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
