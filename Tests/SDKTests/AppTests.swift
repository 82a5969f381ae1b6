// SPDX-License-Identifier: Apache-2.0

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
    var calls: [String] = []
    var completion: (() -> Void)?
    var stateAtLaunch: UIApplication.State?

    func application(
      _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
      calls.append("launched")
      stateAtLaunch = application.applicationState
      return true
    }
    func applicationDidBecomeActive(_ application: UIApplication) { calls.append("active") }
    func applicationDidEnterBackground(_ application: UIApplication) { calls.append("background") }
    func application(
      _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
      completionHandler: @escaping () -> Void
    ) {
      calls.append("events of \(identifier)")
      completion = completionHandler
    }
  }

  @MainActor private final class SilentDelegate: UIResponder, UIApplicationDelegate {}

  @MainActor private func app(_ delegate: any UIApplicationDelegate, on fixture: SDKFixture) async throws
    -> UIApplication
  {
    let app = UIApplication()
    app.begin(with: delegate)
    try await fixture.host.start()
    app.serve(in: fixture.process)
    try await fixture.announce()
    return app
  }

  @Test(
    .rule("PROCESS-29"),
    arguments: [(["WIDGETLAB_LAUNCH": "foreground"], UIApplication.State.inactive), ([:], .background)])
  @MainActor func `the state at the launch is inactive when the user opens the app`(
    environment: [String: String], state: UIApplication.State
  ) async throws {
    let (fixture, delegate, app) = (try SDKFixture(SDKFixture.app), AppDelegate(), UIApplication())
    app.begin(with: delegate)
    try await fixture.host.start()
    app.serve(in: fixture.process, environment: environment)
    #expect(delegate.stateAtLaunch == state)
    try await fixture.announce()
    #expect(app.applicationState == state)
    try await fixture.host.connection.deliver(AppActivation(isActive: true), to: SDKFixture.app)
    #expect(app.applicationState == .active)
    #expect(delegate.calls == ["launched", "active"])
  }

  @Test(.rule("DELIVERY-23"))
  @MainActor func `an app delegate is called when the app launches, becomes active and enters the background`()
    async throws
  {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), AppDelegate())
    let app = try await app(delegate, on: fixture)
    #expect(app.applicationState == .background)
    try await fixture.host.connection.deliver(AppActivation(isActive: true), to: SDKFixture.app)
    #expect(app.applicationState == .active)
    try await fixture.host.connection.deliver(AppActivation(isActive: false), to: SDKFixture.app)
    #expect(delegate.calls == ["launched", "active", "background"])
  }

  @Test(.rule("DELIVERY-23"))
  @MainActor func `an app delegate receives its sessions' background events, and its completion acknowledges them`()
    async throws
  {
    let (fixture, delegate, listener) = (try SDKFixture(SDKFixture.app), AppDelegate(), Delegate())
    let app = try await app(delegate, on: fixture)
    let session = fixture.session(listener, shared: false)
    async let acknowledged: Void = fixture.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: true, outcomes: [try fixture.success(1)]), to: SDKFixture.app)
    await listener.waitFor("finish")
    #expect(delegate.calls == ["launched", "events of daily"])
    delegate.completion?()
    try await acknowledged
    withExtendedLifetime((app, session)) {}
  }

  @Test
  @MainActor func `without handleEventsForBackgroundURLSession, events go to the session's delegate only`() async throws
  {
    let (fixture, listener) = (try SDKFixture(SDKFixture.app), Delegate())
    let app = try await app(SilentDelegate(), on: fixture)
    let session = fixture.session(listener, shared: false)
    try await fixture.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: true, outcomes: [try fixture.success(1)]), to: SDKFixture.app)
    #expect(listener.calls == ["file 1 figures", "end 1 0", "finish"])
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
