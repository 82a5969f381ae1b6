// SPDX-License-Identifier: Apache-2.0

import URLSessionAPI

/// Source: `SwiftUI.BackgroundTask`.
public struct BackgroundTask<Request, Response>: Sendable {
  let matches: @Sendable (_ identifier: String) -> Bool
  let request: @Sendable (_ identifier: String) -> Request

  /// Returns the action as a handler of background session events. The events are handled when the action returns.
  func handler(_ action: @escaping @Sendable @concurrent (Request) async -> Response) -> BackgroundEventsHandler {
    BackgroundEventsHandler(
      matches: { matches($0) },
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
