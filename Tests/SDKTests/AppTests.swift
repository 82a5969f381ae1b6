import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing

@testable import AuthorRuntime
@testable import UIKit

/// The calls of an author's app delegate.
@Suite(.timeLimit(.minutes(1))) struct `An app` {
  @MainActor private final class AppDelegate: UIResponder, UIApplicationDelegate {
    var received: [String] = []
    var completion: (() -> Void)?

    func application(
      _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
      received.append("launched")
      return true
    }
    func applicationDidBecomeActive(_ application: UIApplication) { received.append("active") }
    func applicationDidEnterBackground(_ application: UIApplication) { received.append("background") }
    func application(
      _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
      completionHandler: @escaping () -> Void
    ) {
      received.append("events of \(identifier)")
      completion = completionHandler
    }
  }

  @MainActor private final class SilentDelegate: UIResponder, UIApplicationDelegate {}

  @MainActor private func app(_ delegate: any UIApplicationDelegate, on stage: SDKFixture) async throws -> UIApplication
  {
    let app = UIApplication()
    app.begin(with: delegate)
    try await stage.host.start()
    app.serve(in: stage.process)
    try await stage.announce()
    return app
  }

  @Test(.rule("DELIVERY-23"))
  @MainActor func `an app delegate is called when the app launches, becomes active and enters the background`()
    async throws
  {
    let (stage, delegate) = (try SDKFixture(SDKFixture.app), AppDelegate())
    let app = try await app(delegate, on: stage)
    #expect(app.applicationState == .background)
    try await stage.host.connection.deliver(AppActivation(isActive: true), to: SDKFixture.app)
    #expect(app.applicationState == .active)
    try await stage.host.connection.deliver(AppActivation(isActive: false), to: SDKFixture.app)
    #expect(delegate.received == ["launched", "active", "background"])
  }

  @Test(.rule("DELIVERY-23"))
  @MainActor func `an app delegate receives its sessions' background events, and its completion acknowledges them`()
    async throws
  {
    let (stage, delegate, listener) = (try SDKFixture(SDKFixture.app), AppDelegate(), Delegate())
    let app = try await app(delegate, on: stage)
    let session = stage.session(listener, shared: false)
    async let acknowledged: Void = stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: true, outcomes: [try stage.success(1)]), to: SDKFixture.app)
    await listener.receives("finish")
    #expect(delegate.received == ["launched", "events of daily"])
    delegate.completion?()
    try await acknowledged
    withExtendedLifetime((app, session)) {}
  }

  @Test
  @MainActor func `without handleEventsForBackgroundURLSession, events go to the session's delegate only`() async throws
  {
    let (stage, listener) = (try SDKFixture(SDKFixture.app), Delegate())
    let app = try await app(SilentDelegate(), on: stage)
    let session = stage.session(listener, shared: false)
    try await stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: true, outcomes: [try stage.success(1)]), to: SDKFixture.app)
    #expect(listener.received == ["file 1 figures", "end 1 0", "finish"])
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

  @Test(.rule("DELIVERY-34"))
  @MainActor func `an app delegate of any NSObject subclass is created through its own initializer`() {
    #expect(made(PlainDelegate.self).number == 1)
    #expect(made(DelegateWithInitializer.self).number == 2)
    #expect(type(of: made(SilentDelegate.self)) == SilentDelegate.self)
  }
}
