import BackgroundURLSession

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
}

extension Scene {
  /// The handlers of this scene, or of its body, in their order.
  var allHandlers: [BackgroundEventsHandler] {
    if let described = self as? any DescribedScene { return described.handlers }
    guard Body.self != Never.self else { preconditionFailure("\(Self.self) has neither a body nor a description") }
    return body.allHandlers
  }
}

extension Never: Scene {}

/// A group of windows of the same kind. The device shows no app's windows: its content is never made. Source:
/// `SwiftUI.WindowGroup`.
@MainActor @preconcurrency public struct WindowGroup<Content: View>: Scene, DescribedScene {
  /// A group of windows.
  public nonisolated init(@ViewBuilder content: @escaping () -> Content) {}
  /// A group of windows with an identifier.
  public nonisolated init(id: String, @ViewBuilder content: @escaping () -> Content) {}
  /// A group of windows with a title.
  public nonisolated init(_ title: Text, @ViewBuilder content: @escaping () -> Content) {}
  /// A group of windows with a title.
  public nonisolated init(_ titleKey: LocalizedStringKey, @ViewBuilder content: @escaping () -> Content) {}
  /// A group of windows with a title.
  @_disfavoredOverload
  public nonisolated init<S: StringProtocol>(_ title: S, @ViewBuilder content: @escaping () -> Content) {}

  /// There is none.
  public var body: Never { fatalError("WindowGroup has no body") }
  var handlers: [BackgroundEventsHandler] { [] }
}

/// Several scenes as one.
@MainActor struct TupleScene: Scene, DescribedScene {
  let scenes: [any Scene]

  var body: Never { fatalError("TupleScene has no body") }
  var handlers: [BackgroundEventsHandler] { scenes.flatMap { $0.allHandlers } }
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
