// SPDX-License-Identifier: Apache-2.0

import Archive
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
    func application(
      _ application: UIApplication,
      willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
      calls.append("launches \(application.applicationState.rawValue)")
      return true
    }
    func applicationWillEnterForeground(_ application: UIApplication) { calls.append("enters") }
    func applicationDidBecomeActive(_ application: UIApplication) { calls.append("active") }
    func applicationWillResignActive(_ application: UIApplication) { calls.append("resigns") }
    func applicationDidEnterBackground(_ application: UIApplication) { calls.append("background") }
    func applicationSignificantTimeChange(_ application: UIApplication) { calls.append("time") }
    func applicationProtectedDataWillBecomeUnavailable(_ application: UIApplication) { calls.append("locked") }
    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) { calls.append("unlocked") }
    func application(_ application: UIApplication, handleOpen url: URL) -> Bool {
      calls.append("opens \(url)")
      return true
    }
    func application(_ application: UIApplication, willContinueUserActivityWithType userActivityType: String) -> Bool {
      calls.append("will continue \(userActivityType)")
      return true
    }
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
    .rule("PROCESS-29", "DELIVERY-35"),
    arguments: [
      (["WIDGETLAB_LAUNCH": "foreground"], UIApplication.State.inactive, ["launches 1", "launched", "active"]),
      ([:], .background, ["launches 2", "launched", "enters", "active"]),
    ])
  @MainActor func `the state at the launch is inactive when the user opens the app, which then enters nothing`(
    environment: [String: String], state: UIApplication.State, calls: [String]
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
    #expect(delegate.calls == calls)
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
    let first = ["launches 2", "launched", "enters", "active", "resigns", "background"]
    #expect(delegate.calls == first)
    try await fixture.host.connection.deliver(AppActivation(isActive: true), to: SDKFixture.app)
    #expect(delegate.calls == first + ["enters", "active"])
  }

  @Test(.rule("DELIVERY-36"))
  @MainActor func `an app delegate is called when the device is locked or unlocked, and when its time changes`()
    async throws
  {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), AppDelegate())
    let app = try await app(delegate, on: fixture)
    for event in [DeviceEventNotice.Event.locked, .unlocked, .timeChanged] {
      fixture.host.connection.notify(DeviceEventNotice(event), to: SDKFixture.app, context: .none)
    }
    // Delivered after the notices.
    try await fixture.host.connection.deliver(AppActivation(isActive: true), to: SDKFixture.app)
    #expect(delegate.calls == ["launches 2", "launched", "locked", "unlocked", "time", "enters", "active"])
    withExtendedLifetime(app) {}
  }

  private func opening(_ url: String?) -> OpenFromWidget {
    OpenFromWidget(url: url, widgetKind: "figures", family: .systemSmall, configuration: [:])
  }

  @Test(.rule("GALLERY-44"))
  @MainActor func `a widget's URL reaches an app without scenes on its way to the foreground, also by older methods`()
    async throws
  {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), AppDelegate())
    let app = try await app(delegate, on: fixture)
    try await fixture.host.connection.deliver(opening("door://1"), to: SDKFixture.app)
    try await fixture.host.connection.deliver(AppActivation(isActive: true), to: SDKFixture.app)
    try await fixture.host.connection.deliver(opening("door://2"), to: SDKFixture.app)
    try await fixture.host.connection.deliver(opening(nil), to: SDKFixture.app)
    #expect(
      delegate.calls == [
        "launches 2", "launched", "enters", "opens door://1", "active", "opens door://2", "will continue figures",
      ])
    withExtendedLifetime(app) {}
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
    #expect(delegate.calls == ["launches 2", "launched", "events of daily"])
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
