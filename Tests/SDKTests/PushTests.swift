// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import SwiftUI
@testable import UIKit
@testable import WidgetKit

/// The calls of the push handlers in this file, with the handler's name.
private let calls = Mutex<[String]>([])

private func tell(_ type: String, info: WidgetPushInfo, widgets: [WidgetInfo]) {
  let line = "\(type) \(info.token.map { String($0) }.joined(separator: ".")) \(widgets.map(\.kind))"
  calls.withLock { $0.append(line) }
}

private struct SharedHandler: WidgetPushHandler {
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
    tell("shared", info: pushInfo, widgets: widgets)
  }
}

private struct OtherHandler: WidgetPushHandler {
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
    tell("other", info: pushInfo, widgets: widgets)
  }
}

private struct Doors: ControlPushHandler {
  func pushTokensDidChange(controls: [ControlInfo]) {
    let texts = controls.map { control in
      "\(control.kind) \(control.pushInfo?.token.map { String($0) }.joined(separator: ".") ?? "without a token")"
    }
    calls.withLock { $0.append("doors \(texts.joined(separator: " "))") }
  }
}

private struct PushedDoor: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Door") { EmptyControlWidgetTemplate() }.pushHandler(Doors.self)
  }
}

private struct Entry: TimelineEntry { let date: Date }

private struct Provider: TimelineProvider {
  func placeholder(in context: Context) -> Entry { Entry(date: Date()) }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void) {}
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void) {}
}

private struct Pushed: WidgetBundle {
  var body: some Widget {
    First()
    Second()
    Third()
  }
}

private struct First: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "First", provider: Provider()) { _ in EmptyView() }.pushHandler(SharedHandler.self)
  }
}

private struct Second: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Second", provider: Provider()) { _ in EmptyView() }
      .pushHandler(SharedHandler.self).supportedFamilies([.systemSmall])
  }
}

private struct Third: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Third", provider: Provider()) { _ in EmptyView() }.pushHandler(OtherHandler.self)
  }
}

@Suite(.timeLimit(.minutes(1))) struct `Push handlers` {
  @Test(.rule("PUSH-05"))
  func `each push handler type is called once with the token and all placed widgets`() async throws {
    let fixture = try await SDKFixture.serving { Pushed().body.descriptions }
    let placements = ["First", "Third"].enumerated().map {
      Placement(id: $0.offset + 1, bundle: "b", kind: $0.element, family: .systemSmall, location: .homeScreen)
    }
    let reply = try await fixture.host.connection.request(
      TellPushHandlers(token: "0aff10", widgets: placements), to: SDKFixture.widget)
    #expect(reply.handlers == ["SharedHandler", "OtherHandler"])
    let lines = calls.withLock { $0 }.filter { !$0.hasPrefix("doors") }
    #expect(lines == [#"shared 10.255.16 ["First", "Third"]"#, #"other 10.255.16 ["First", "Third"]"#])
    let declared = await MainActor.run { Pushed().body.descriptions.map { $0.declaration?.pushHandler } }
    #expect(declared == ["SharedHandler", "SharedHandler", "OtherHandler"])
  }

  @Test(.rule("CONTROL-10"))
  func `each control push handler type is called once with all placed controls and their tokens`() async throws {
    let fixture = try await SDKFixture.serving { [PushedDoor().description, PushedDoor().description] }
    let controls = [(3, "0aff"), (4, "10")].map { id, token in
      TellControlPushHandlers.Control(
        placement: Placement(id: id, bundle: "b", kind: "Door", family: .control, location: .controlCenter),
        token: token)
    }
    let reply = try await fixture.host.connection.request(
      TellControlPushHandlers(controls: controls), to: SDKFixture.widget)
    #expect(reply.handlers == ["Doors"])
    #expect(calls.withLock { $0 }.filter { $0.hasPrefix("doors") } == ["doors Door 10.255 Door 16"])
    let declared = await MainActor.run { PushedDoor().description.declaration?.pushHandler }
    #expect(declared == "Doors")
    await #expect(throws: BusError.self) {
      let wrong = TellControlPushHandlers.Control(placement: controls[0].placement, token: "xy")
      _ = try await fixture.host.connection.request(TellControlPushHandlers(controls: [wrong]), to: SDKFixture.widget)
    }
  }

  @Test func `a push token that is not hexadecimal is refused`() async throws {
    let fixture = try await SDKFixture.serving { [] }
    for token in ["0", "xy"] {
      await #expect(throws: BusError.self) {
        _ = try await fixture.host.connection.request(
          TellPushHandlers(token: token, widgets: []), to: SDKFixture.widget)
      }
    }
  }

  @Test func `currentPushInfo returns the push token, or nil without one`() async throws {
    let fixture = try await SDKFixture.serving { [] }
    let token = Mutex<String?>("0a")
    fixture.host.connection.onRequest(AskPushInfo.self) { _, _ in AskPushInfo.Reply(token: token.withLock { $0 }) }
    let first = await fixture.process.asCurrent { await WidgetCenter.shared.currentPushInfo?.token }
    #expect(first == Data([10]))
    token.withLock { $0 = nil }
    let second = await fixture.process.asCurrent { await WidgetCenter.shared.currentPushInfo?.token }
    #expect(second == nil)
  }
}

@Suite(.timeLimit(.minutes(1))) struct `Remote notifications of an app` {
  /// The calls of a delegate, in order.
  private struct Words: Sendable {
    let received: AsyncStream<String>
    let sink: AsyncStream<String>.Continuation

    init() { (received, sink) = AsyncStream.makeStream(of: String.self) }

    func next() async -> String? {
      for await text in received { return text }
      return nil
    }
  }

  @MainActor private final class Listener: UIResponder, UIApplicationDelegate {
    let words = Words()

    func application(
      _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) { words.sink.yield("token \(deviceToken.map { String($0) }.joined(separator: "."))") }

    func application(
      _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) { words.sink.yield("\((error as NSError).domain) \((error as NSError).code): \(error.localizedDescription)") }
  }

  @MainActor private final class Receiver: UIResponder, UIApplicationDelegate {
    let words = Words()

    func application(
      _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
      fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
      words.sink.yield("received \(userInfo["story"] as? String ?? "nothing")")
      completionHandler(.newData)
      completionHandler(.failed)
    }
  }

  @MainActor private final class AsyncReceiver: UIResponder, UIApplicationDelegate {
    func application(
      _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
      await Task.yield()
      return userInfo["story"] as? String == "bad" ? .failed : .noData
    }
  }

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

  @Test(.rule("PUSH-18"))
  @MainActor
  func `registering for remote notifications gives the delegate the device token, and later its replacement`()
    async throws
  {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), Listener())
    let actions = Mutex<[RegisterForPushes.Action]>([])
    fixture.host.connection.onRequest(RegisterForPushes.self) { request, _ in
      actions.withLock { $0.append(request.action) }
      return RegisterForPushes.Reply(token: request.action == .unregister ? nil : "0aff")
    }
    let app = try await app(delegate, on: fixture)
    fixture.process.asCurrent { app.registerForRemoteNotifications() }
    #expect(await delegate.words.next() == "token 10.255")
    try await fixture.host.connection.deliver(AppTokenChanged(token: "0b"), to: SDKFixture.app)
    #expect(await delegate.words.next() == "token 11")
    let isRegistered = fixture.process.asCurrent { app.isRegisteredForRemoteNotifications }
    #expect(isRegistered)
    fixture.process.asCurrent { app.unregisterForRemoteNotifications() }
    _ = await fixture.bus.first {
      $0.header.kind == RegisterForPushes.kind
        && (try? BodyCoding.decode(RegisterForPushes.self, from: $0.body).action) == .unregister
    }
    withExtendedLifetime(app) {}
  }

  @Test(.rule("PUSH-18"))
  @MainActor func `an app without the push entitlement fails to register and gets the reason`() async throws {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), Listener())
    fixture.host.connection.onRequest(RegisterForPushes.self) { _, _ in
      throw BusError(.noPushEntitlement, "no valid entitlement")
    }
    let app = try await app(delegate, on: fixture)
    fixture.process.asCurrent { app.registerForRemoteNotifications() }
    #expect(await delegate.words.next() == "NSCocoaErrorDomain 3000: no valid entitlement")
    withExtendedLifetime(app) {}
  }

  @Test
  @MainActor func `an app delegate's first fetch completion is the result of a remote notification`() async throws {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), Receiver())
    let app = try await app(delegate, on: fixture)
    let push = ReceiveNotification(uniqueID: UUID(), payload: #"{"aps":{"alert":"x"},"story":"news"}"#)
    let reply = try await fixture.host.connection.request(push, to: SDKFixture.app)
    #expect(reply.result == .newData)
    #expect(await delegate.words.next() == "received news")
    withExtendedLifetime(app) {}
  }

  @Test
  @MainActor func `a remote notification calls the async form of the delegate method and returns its result`()
    async throws
  {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), AsyncReceiver())
    let app = try await app(delegate, on: fixture)
    for (story, result) in [("good", ReceiveNotification.Reply.Result.noData), ("bad", .failed)] {
      let push = ReceiveNotification(uniqueID: UUID(), payload: #"{"aps":{},"story":"\#(story)"}"#)
      #expect(try await fixture.host.connection.request(push, to: SDKFixture.app).result == result)
    }
    withExtendedLifetime(app) {}
  }

  @Test
  @MainActor func `a remote notification has no result when the delegate has neither form of the method`() async throws
  {
    let (fixture, delegate) = (try SDKFixture(SDKFixture.app), Listener())
    let app = try await app(delegate, on: fixture)
    let push = ReceiveNotification(uniqueID: UUID(), payload: "{}")
    let reply = try await fixture.host.connection.request(push, to: SDKFixture.app)
    #expect(reply.result == nil)
    withExtendedLifetime(app) {}
  }
}
