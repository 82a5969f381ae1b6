// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import UIKit
@testable import UserNotifications

@Suite(.timeLimit(.minutes(1)), .serialized) struct `The notification centre` {
  /// A host that answers with a status, and records the options with which it was asked.
  private final class Answers: Sendable {
    let status: Mutex<AskNotificationAccess.Status>
    let asked = Mutex<[UInt?]>([])
    let (requests, request) = AsyncStream.makeStream(of: Void.self)

    init(_ status: AskNotificationAccess.Status, on fixture: SDKFixture) {
      self.status = Mutex(status)
      fixture.host.connection.onRequest(AskNotificationAccess.self) { request, _ in
        self.asked.withLock { $0.append(request.options) }
        let reply = AskNotificationAccess.Reply(status: self.status.withLock { $0 }, options: request.options ?? 4)
        self.request.yield()
        return reply
      }
    }
  }

  /// The first value with which a handler is called; `nil` after the time limit.
  private static func first(_ call: (@escaping @Sendable (Bool) -> Void) -> Void) async -> Bool? {
    let (answers, continuation) = AsyncStream.makeStream(of: Bool.self)
    call { continuation.yield($0) }
    return await answers.first { _ in true }
  }

  @Test(
    .rule("PUSH-25"),
    arguments: [(AskNotificationAccess.Status.authorized, true), (.provisional, true), (.denied, false)])
  func `an app asks with its options, and gets the answer of the user`(
    status: AskNotificationAccess.Status, isGranted: Bool
  ) async throws {
    let fixture = try SDKFixture(SDKFixture.app)
    let answers = Answers(status, on: fixture)
    try await fixture.host.start()
    try await fixture.announce()
    let granted = try await fixture.process.asCurrent {
      try await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .badge])
    }
    #expect(granted == isGranted)
    #expect(answers.asked.withLock { $0 } == [5])
    let viaHandler = await Self.first { answer in
      fixture.process.asCurrent {
        UNUserNotificationCenter.current().requestAuthorization(options: .sound) { answer($0 && $1 == nil) }
      }
    }
    #expect(viaHandler == isGranted)
  }

  @Test(.rule("PUSH-25")) func `an app waits until the user has answered`() async throws {
    let fixture = try SDKFixture(SDKFixture.app)
    let answers = Answers(.notDetermined, on: fixture)
    try await fixture.host.start()
    try await fixture.announce()
    var settings = DeviceSettings()
    settings.notificationAnswer = .unanswered
    DevicePlace.of(fixture.process).set(settings)
    async let granted = fixture.process.asCurrent {
      try await UNUserNotificationCenter.current().requestAuthorization(options: .alert)
    }
    for await _ in answers.requests { break }
    answers.status.withLock { $0 = .authorized }
    settings.notificationAnswer = .allowed
    DevicePlace.of(fixture.process).set(settings)
    #expect(try await granted)
    #expect(answers.asked.withLock { $0 } == [4, nil])
  }

  @Test(.rule("PUSH-25"))
  func `the settings are those that the app asked for, while the user allows them`() async throws {
    let fixture = try SDKFixture(SDKFixture.app)
    let answers = Answers(.authorized, on: fixture)
    try await fixture.host.start()
    try await fixture.announce()
    let center = UNUserNotificationCenter.current()
    let allowed = await fixture.process.asCurrent { await center.notificationSettings() }
    #expect(allowed.authorizationStatus == .authorized)
    #expect(allowed.alertSetting == .enabled && allowed.badgeSetting == .notSupported)
    answers.status.withLock { $0 = .denied }
    let isDenied = await Self.first { answer in
      fixture.process.asCurrent {
        center.getNotificationSettings { answer($0.authorizationStatus == .denied && $0.alertSetting == .disabled) }
      }
    }
    #expect(isDenied == true)
  }

  @Test func `without a device the handlers are called, and the authorization is granted`() async {
    let center = UNUserNotificationCenter.current()
    let isGranted = await Self.first { answer in
      center.requestAuthorization(options: .alert) { answer($0 && $1 == nil) }
    }
    #expect(isGranted == true)
    let isAuthorized = await Self.first { answer in
      center.getNotificationSettings { answer($0.authorizationStatus == .authorized && $0.alertSetting == .enabled) }
    }
    #expect(isAuthorized == true)
  }

  @Test(.rule("PROCESS-30")) @MainActor func `without a device a process has one identifier for its vendor`() {
    #expect(UIDevice.current.identifierForVendor != nil)
    #expect(UIDevice.current.identifierForVendor == UIDevice().identifierForVendor)
  }

  private final class Presenter: NSObject, UNUserNotificationCenterDelegate {
    func userNotificationCenter(
      _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
      withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
      let content = notification.request.content
      completionHandler(content.title == "news" && content.badge == 3 ? [.banner, .sound] : [])
    }
  }

  private final class AsyncPresenter: NSObject, UNUserNotificationCenterDelegate {
    func userNotificationCenter(
      _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
      notification.request.content.body == "short" ? .list : .badge
    }
  }

  private final class SilentPresenter: NSObject, UNUserNotificationCenterDelegate {}

  @MainActor private final class Receiver: UIResponder, UIApplicationDelegate {
    func application(
      _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
      fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) { completionHandler(.newData) }
  }

  @Test(.rule("PUSH-26")) @MainActor func `an alert in front is presented by the centre's delegate`() async throws {
    let fixture = try SDKFixture(SDKFixture.app)
    let (app, receiver) = (UIApplication(), Receiver())
    app.begin(with: receiver)
    try await fixture.host.start()
    app.serve(in: fixture.process)
    try await fixture.announce()
    let alert = #"{"aps":{"alert":{"title":"news"},"badge":3}}"#
    let short = #"{"aps":{"alert":"short","content-available":1}}"#
    let cases: [((any UNUserNotificationCenterDelegate)?, String, Bool, String)] = [
      (Presenter(), alert, true, "willPresent: banner, sound"), (Presenter(), alert, false, "newData"),
      (Presenter(), short, true, "willPresent: nothing; newData"),
      (AsyncPresenter(), short, true, "willPresent: list; newData"), (SilentPresenter(), alert, true, "newData"),
      (nil, alert, true, "newData"),
    ]
    for (presenter, payload, isPresented, text) in cases {
      fixture.process.asCurrent { UNUserNotificationCenter.current().delegate = presenter }
      let push = ReceiveNotification(uniqueID: UUID(), payload: payload, isPresented: isPresented)
      #expect(try await fixture.host.connection.request(push, to: SDKFixture.app).text == text)
      withExtendedLifetime(presenter) {}
    }
    withExtendedLifetime(app) {}
  }
}
