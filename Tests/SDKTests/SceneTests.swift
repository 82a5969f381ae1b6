// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing

@testable import AuthorRuntime
@testable import UIKit

/// The calls that all scene delegates of a test receive, in order.
@MainActor private var calls: [String] = []

/// Found by its name, as in an `Info.plist`.
@MainActor final class NamedSceneDelegate: UIResponder, UIWindowSceneDelegate {
  var window: UIWindow?

  func scene(
    _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
  ) {
    if let scene = scene as? UIWindowScene { window = UIWindow(windowScene: scene) }
    let urls = connectionOptions.urlContexts.map(\.url.absoluteString)
    let activities = connectionOptions.userActivities.map(\.activityType)
    calls.append("connect \((urls + activities).joined(separator: " "))")
  }
  func sceneWillEnterForeground(_ scene: UIScene) { calls.append("enters \(scene.activationState.rawValue)") }
  func sceneDidBecomeActive(_ scene: UIScene) { calls.append("active \(scene.activationState.rawValue)") }
  func sceneWillResignActive(_ scene: UIScene) { calls.append("resigns \(scene.activationState.rawValue)") }
  func sceneDidEnterBackground(_ scene: UIScene) { calls.append("background \(scene.activationState.rawValue)") }
  func stateRestorationActivity(for scene: UIScene) -> NSUserActivity? { NSUserActivity(activityType: "rest") }
  func scene(_ scene: UIScene, openURLContexts contexts: Set<UIOpenURLContext>) {
    calls.append("open \(contexts.map(\.url.absoluteString).joined())")
  }
  func scene(_ scene: UIScene, willContinueUserActivityWithType userActivityType: String) {
    calls.append("will continue \(userActivityType)")
  }
  func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
    calls.append("continue \(userActivity.userInfo?["WGWidgetUserInfoKeyKind"] as? String ?? "")")
  }
}

/// Scenes of an app, as UIKit calls their delegate.
@Suite(.timeLimit(.minutes(1)), .serialized) @MainActor struct `Scenes of an app` {
  private final class AppDelegate: UIResponder, UIApplicationDelegate {
    var delegateClass: AnyClass?

    func applicationDidBecomeActive(_ application: UIApplication) { calls.append("app active") }
    func application(_ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]) -> Bool {
      calls.append("app opens")
      return true
    }
    func application(
      _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
      options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
      let made = UISceneConfiguration(name: "Default", sessionRole: connectingSceneSession.role)
      made.delegateClass = delegateClass
      return made
    }
  }

  /// A delegate without methods.
  private final class SilentSceneDelegate: UIResponder, UIWindowSceneDelegate {}

  private static func manifest(_ name: String) -> SceneManifest? {
    let entries: [Any] = [
      ["UISceneConfigurationName": "Other", "UISceneDelegateClassName": "SDKTests.NoSuchClass"],
      ["UISceneConfigurationName": "Default", "UISceneDelegateClassName": name],
    ]
    return SceneManifest(["UISceneConfigurations": ["UIWindowSceneSessionRoleApplication": entries]] as [String: Any])
  }

  private func app(
    _ delegate: AppDelegate, _ manifest: SceneManifest?, opens: UIApplication.OpensURL? = nil, on fixture: SDKFixture
  ) async throws -> UIApplication {
    calls = []
    let app = UIApplication()
    app.begin(with: delegate)
    app.sceneManifest = manifest
    try await fixture.host.start()
    app.serve(in: fixture.process, opens: opens)
    try await fixture.announce()
    return app
  }

  private func activate(_ isActive: Bool, _ fixture: SDKFixture) async throws {
    try await fixture.host.connection.deliver(AppActivation(isActive: isActive), to: SDKFixture.app)
  }

  private func tap(_ url: String?, _ fixture: SDKFixture) async throws {
    let opening = OpenFromWidget(url: url, widgetKind: "figures", family: .systemSmall, configuration: [:])
    try await fixture.host.connection.deliver(opening, to: SDKFixture.app)
  }

  @Test(.rule("GALLERY-53")) func `a scene delegate is called instead of the app's delegate`() async throws {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), AppDelegate())
    let app = try await app(delegate, Self.manifest("$(PRODUCT_MODULE_NAME).NamedSceneDelegate"), on: fixture)
    #expect(app.connectedScenes.isEmpty && calls.isEmpty)
    try await activate(true, fixture)
    try await activate(false, fixture)
    try await activate(true, fixture)
    #expect(
      calls == ["connect ", "enters 1", "active 0", "resigns 0", "background 2", "enters 1", "active 0"])
    let scene = try #require(app.connectedScenes.first as? UIWindowScene)
    #expect(scene.windows.count == 1 && scene.session.stateRestorationActivity?.activityType == "rest")
  }

  @Test(.rule("GALLERY-54")) func `a widget's URL is in the options of a scene that connects, and later a call`()
    async throws
  {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), AppDelegate())
    delegate.delegateClass = NamedSceneDelegate.self
    let app = try await app(delegate, Self.manifest(""), on: fixture)
    try await tap("door://1", fixture)
    try await activate(true, fixture)
    try await activate(false, fixture)
    try await tap("door://2", fixture)
    try await activate(true, fixture)
    try await tap(nil, fixture)
    #expect(
      calls == [
        "connect door://1", "enters 1", "active 0", "resigns 0", "background 2", "enters 1", "open door://2",
        "active 0", "will continue figures", "continue figures",
      ])
    withExtendedLifetime(app) {}
  }

  @Test(.rule("GALLERY-54")) func `an activity of a widget without a URL is in the options of a scene that connects`()
    async throws
  {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), AppDelegate())
    delegate.delegateClass = NamedSceneDelegate.self
    let app = try await app(delegate, Self.manifest(""), on: fixture)
    try await tap(nil, fixture)
    try await activate(true, fixture)
    #expect(calls.first == "connect figures")
    withExtendedLifetime(app) {}
  }

  @Test(.rule("GALLERY-53")) func `without a manifest no scene delegate of a UIKit app is created`() async throws {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), AppDelegate())
    delegate.delegateClass = NamedSceneDelegate.self
    let app = try await app(delegate, nil, on: fixture)
    try await activate(true, fixture)
    try await tap("door://1", fixture)
    #expect(calls == ["app active", "app opens"])
    #expect(app.connectedScenes.isEmpty)
  }

  @Test(.rule("GALLERY-53")) func `a SwiftUI app's delegate configures its scene, and keeps its calls`() async throws {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), AppDelegate())
    delegate.delegateClass = NamedSceneDelegate.self
    let app = try await app(delegate, nil, opens: { $0.host == "view" }, on: fixture)
    try await tap("door://view", fixture)
    try await activate(true, fixture)
    try await tap("door://other", fixture)
    #expect(calls == ["connect ", "enters 1", "active 0", "app active", "open door://other"])
    withExtendedLifetime(app) {}
  }

  @Test(.rule("GALLERY-54")) func `a scene delegate without a method for URLs leaves the URL unhandled`() async throws {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), AppDelegate())
    delegate.delegateClass = SilentSceneDelegate.self
    let app = try await app(delegate, Self.manifest(""), on: fixture)
    try await activate(true, fixture)
    try await tap("door://1", fixture)
    #expect(calls.isEmpty)
    let scene = try #require(app.connectedScenes.first)
    let options = UIScene.ConnectionOptions(contexts: [UIOpenURLContext(try #require(URL(string: "door://3")))])
    scene.delegate?.scene(scene, willConnectTo: scene.session, options: options)
    #expect(!options.isRead)
  }

  @Test func `a manifest names the class of a configuration, or of the first one`() {
    let manifest = Self.manifest("A.B")
    let role = "UIWindowSceneSessionRoleApplication"
    #expect(manifest?.delegateClass(role, named: "Default") == "A.B")
    #expect(manifest?.delegateClass(role, named: nil) == "SDKTests.NoSuchClass")
    #expect(manifest?.delegateClass("UISceneSessionRole", named: nil) == nil)
    #expect(SceneManifest(nil) == nil)
    #expect(SceneManifest([String: Any]())?.delegateClass(role, named: nil) == nil)
  }
}
