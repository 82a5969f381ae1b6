import BackgroundURLSession
import Foundation

/// A part of an app's interface. Source: `SwiftUI.Scene`.
@MainActor @preconcurrency public protocol Scene {
  /// What the scene is made of.
  associatedtype Body: Scene
  /// What the scene is made of.
  @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

/// A scene that says itself which handlers it has.
@MainActor protocol DescribedScene {
  var handlers: [BackgroundEventsHandler] { get }
  /// The views of its windows, made anew.
  var contents: [any View] { get }
}

extension Scene {
  /// The handlers of this scene, or of its body, in their order.
  var allHandlers: [BackgroundEventsHandler] {
    if let described = self as? any DescribedScene { return described.handlers }
    guard Body.self != Never.self else { preconditionFailure("\(Self.self) has neither a body nor a description") }
    return body.allHandlers
  }
}

extension Scene {
  /// The views of this scene's windows, or of its body's.
  fileprivate var allContents: [any View] {
    if let described = self as? any DescribedScene { return described.contents }
    return body.allContents
  }

  /// Hands a URL to each `onOpenURL(perform:)` of the scene's views, which are made for it.
  ///
  /// - Returns: whether there is one.
  func opens(_ url: URL) -> Bool {
    let actions = OpenURLActions()
    var environment = EnvironmentValues()
    environment.openURLActions = actions
    // What cannot be archived has said all the same what it wants to hear of, as far as it was walked through.
    for content in allContents { _ = try? content.archived(in: environment) }
    for action in actions.found { action(url) }
    return !actions.found.isEmpty
  }
}

extension Never: Scene {}

/// A group of windows of the same kind. The device shows no app's windows: its content is made for one thing alone, to be
/// asked for its `onOpenURL(perform:)`. Source: `SwiftUI.WindowGroup`.
nonisolated public struct WindowGroup<Content: View>: Scene, DescribedScene {
  private let content: () -> Content

  /// A group of windows.
  public init(@ViewBuilder content: @escaping () -> Content) { self.content = content }
  /// A group of windows with an identifier.
  public init(id: String, @ViewBuilder content: @escaping () -> Content) { self.content = content }
  /// A group of windows with a title.
  public init(_ title: Text, @ViewBuilder content: @escaping () -> Content) { self.content = content }
  /// A group of windows with a title.
  public init(_ titleKey: LocalizedStringKey, @ViewBuilder content: @escaping () -> Content) {
    self.content = content
  }
  /// A group of windows with a title.
  @_disfavoredOverload
  public init<S: StringProtocol>(_ title: S, @ViewBuilder content: @escaping () -> Content) { self.content = content }

  /// There is none.
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

/// Makes one scene of several. Source: `SwiftUI.SceneBuilder`.
@MainActor @resultBuilder public struct SceneBuilder {
  /// A scene as it stands.
  public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
  /// One scene.
  public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
  /// Several scenes.
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

extension Scene {
  /// What to do when the system has work of this kind for the app.
  ///
  /// - Parameter action: the work is done when it returns. Its Swift task is cancelled when the time for it runs out; an
  ///   app whose action does not return soon after is ended.
  nonisolated public func backgroundTask<D: Sendable, R: Sendable>(
    _ task: BackgroundTask<D, R>, action: @escaping @Sendable @concurrent (D) async -> R
  ) -> some Scene {
    ModifiedScene(content: self, handler: task.handler(action))
  }
}
