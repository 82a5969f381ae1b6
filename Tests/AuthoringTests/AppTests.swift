import Conversations
import Foundation
import MessageBus
import Testing

@testable import AuthoredProcess
@testable import UIKit

/// What becomes of an author's app delegate.
@Suite(.timeLimit(.minutes(1))) struct `An app` {
  @MainActor private final class AppDelegate: UIResponder, UIApplicationDelegate {
    var told: [String] = []
    var completion: (() -> Void)?

    func application(
      _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
      told.append("launched")
      return true
    }
    func applicationDidBecomeActive(_ application: UIApplication) { told.append("active") }
    func applicationDidEnterBackground(_ application: UIApplication) { told.append("background") }
    func application(
      _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
      completionHandler: @escaping () -> Void
    ) {
      told.append("events of \(identifier)")
      completion = completionHandler
    }
  }

  @MainActor private final class SilentDelegate: UIResponder, UIApplicationDelegate {}

  @MainActor private func app(_ delegate: any UIApplicationDelegate, on stage: Stage) async throws -> UIApplication {
    let app = UIApplication()
    app.begin(with: delegate)
    try await stage.host.start()
    app.serve(in: stage.process)
    try await stage.announce()
    return app
  }

  @Test @MainActor func `is told that it launched, came to the front and left it`() async throws {
    let (stage, delegate) = (try Stage(Stage.app), AppDelegate())
    let app = try await app(delegate, on: stage)
    #expect(app.applicationState == .background)
    try await stage.host.connection.deliver(AppActivation(isActive: true), to: Stage.app)
    #expect(app.applicationState == .active)
    try await stage.host.connection.deliver(AppActivation(isActive: false), to: Stage.app)
    #expect(delegate.told == ["launched", "active", "background"])
  }

  @Test @MainActor func `is handed the events of its sessions`() async throws {
    let (stage, delegate, listener) = (try Stage(Stage.app), AppDelegate(), Delegate())
    let app = try await app(delegate, on: stage)
    let session = stage.session(listener, shared: false)
    async let acknowledged: Void = stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: true, outcomes: [try stage.success(1)]), to: Stage.app)
    await listener.hears("finish")
    #expect(delegate.told == ["launched", "events of daily"])
    delegate.completion?()
    try await acknowledged
    withExtendedLifetime((app, session)) {}
  }

  @Test @MainActor func `without the method leaves the events to the session's delegate`() async throws {
    let (stage, listener) = (try Stage(Stage.app), Delegate())
    let app = try await app(SilentDelegate(), on: stage)
    let session = stage.session(listener, shared: false)
    try await stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: true, outcomes: [try stage.success(1)]), to: Stage.app)
    #expect(listener.told == ["file 1 figures", "end 1 0", "finish"])
    withExtendedLifetime((app, session)) {}
  }

  @MainActor private class PlainDelegate: NSObject, UIApplicationDelegate {
    let number = 1
  }

  @MainActor private class DelegateWithInitializer: NSObject, UIApplicationDelegate {
    let number: Int
    override nonisolated init() {
      number = 2
      super.init()
    }
  }

  @MainActor private func made<Delegate: UIApplicationDelegate>(_ type: Delegate.Type) -> Delegate { type.init() }

  @Test @MainActor func `has a delegate of any class that inherits NSObject, made by its initializer`() {
    #expect(made(PlainDelegate.self).number == 1)
    #expect(made(DelegateWithInitializer.self).number == 2)
    #expect(type(of: made(SilentDelegate.self)) == SilentDelegate.self)
  }
}
