import Archive
import Conversations
import Foundation
import MessageBus
import Synchronization
import Testing

@testable import AuthoredProcess
@testable import SwiftUI
@testable import UIKit
@testable import WidgetKit

/// What the handlers of these tests were told, by the type.
private let told = Mutex<[String]>([])

private func tell(_ type: String, _ info: WidgetPushInfo, _ widgets: [WidgetInfo]) {
  let line = "\(type) \(info.token.map { String($0) }.joined(separator: ".")) \(widgets.map(\.kind))"
  told.withLock { $0.append(line) }
}

private struct SharedHandler: WidgetPushHandler {
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) { tell("shared", pushInfo, widgets) }
}

private struct OtherHandler: WidgetPushHandler {
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) { tell("other", pushInfo, widgets) }
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
  @Test func `are called once each, with the token and the placed widgets`() async throws {
    let stage = try await Stage.serving { Pushed().body.descriptions }
    let placements = ["First", "Third"].enumerated().map {
      Placement(id: $0.offset + 1, bundle: "b", kind: $0.element, family: .systemSmall, location: .homeScreen)
    }
    let reply = try await stage.host.connection.request(
      TellPushHandlers(token: "0aff10", widgets: placements), to: Stage.widget)
    #expect(reply.handlers == ["SharedHandler", "OtherHandler"])
    let lines = told.withLock { $0 }
    #expect(lines == [#"shared 10.255.16 ["First", "Third"]"#, #"other 10.255.16 ["First", "Third"]"#])
    let declared = await MainActor.run { Pushed().body.descriptions.map { $0.declaration?.pushHandler } }
    #expect(declared == ["SharedHandler", "SharedHandler", "OtherHandler"])
  }

  @Test func `have a token that is hexadecimal, or are not called`() async throws {
    let stage = try await Stage.serving { [] }
    for token in ["0", "xy"] {
      await #expect(throws: BusError.self) {
        _ = try await stage.host.connection.request(TellPushHandlers(token: token, widgets: []), to: Stage.widget)
      }
    }
  }

  @Test func `find the token as the current push info, or none`() async throws {
    let stage = try await Stage.serving { [] }
    let token = Mutex<String?>("0a")
    stage.host.connection.onRequest(AskPushInfo.self) { _, _ in AskPushInfo.Reply(token: token.withLock { $0 }) }
    let first = await stage.process.asCurrent { await WidgetCenter.shared.currentPushInfo?.token }
    #expect(first == Data([10]))
    token.withLock { $0 = nil }
    let second = await stage.process.asCurrent { await WidgetCenter.shared.currentPushInfo?.token }
    #expect(second == nil)
  }
}

@Suite(.timeLimit(.minutes(1))) struct `Remote notifications of an app` {
  /// What a delegate was told, in order.
  private struct Words: Sendable {
    let heard: AsyncStream<String>
    let told: AsyncStream<String>.Continuation

    init() { (heard, told) = AsyncStream.makeStream(of: String.self) }

    func next() async -> String? {
      for await text in heard { return text }
      return nil
    }
  }

  @MainActor private final class Listener: UIResponder, UIApplicationDelegate {
    let words = Words()

    func application(
      _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) { words.told.yield("token \(deviceToken.map { String($0) }.joined(separator: "."))") }

    func application(
      _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) { words.told.yield("\((error as NSError).domain) \((error as NSError).code): \(error.localizedDescription)") }
  }

  @MainActor private final class Receiver: UIResponder, UIApplicationDelegate {
    let words = Words()

    func application(
      _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
      fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
      words.told.yield("received \(userInfo["story"] as? String ?? "nothing")")
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

  @MainActor private func app(_ delegate: any UIApplicationDelegate, on stage: Stage) async throws -> UIApplication {
    let app = UIApplication()
    app.begin(with: delegate)
    try await stage.host.start()
    app.serve(in: stage.process)
    try await stage.announce()
    return app
  }

  @Test @MainActor func `registers for remote notifications, and is told of the token and of another one`() async throws
  {
    let (stage, delegate) = (try Stage(Stage.app), Listener())
    let actions = Mutex<[RegisterForPushes.Action]>([])
    stage.host.connection.onRequest(RegisterForPushes.self) { request, _ in
      actions.withLock { $0.append(request.action) }
      return RegisterForPushes.Reply(token: request.action == .unregister ? nil : "0aff")
    }
    let app = try await app(delegate, on: stage)
    stage.process.asCurrent { app.registerForRemoteNotifications() }
    #expect(await delegate.words.next() == "token 10.255")
    try await stage.host.connection.deliver(AppTokenChanged(token: "0b"), to: Stage.app)
    #expect(await delegate.words.next() == "token 11")
    let isRegistered = stage.process.asCurrent { app.isRegisteredForRemoteNotifications }
    #expect(isRegistered)
    stage.process.asCurrent { app.unregisterForRemoteNotifications() }
    _ = await stage.bus.first {
      $0.header.kind == RegisterForPushes.kind
        && (try? BodyCoding.decode(RegisterForPushes.self, from: $0.body).action) == .unregister
    }
    withExtendedLifetime(app) {}
  }

  @Test @MainActor func `is told why it cannot register`() async throws {
    let (stage, delegate) = (try Stage(Stage.app), Listener())
    stage.host.connection.onRequest(RegisterForPushes.self) { _, _ in
      throw BusError(.noPushEntitlement, "no valid entitlement")
    }
    let app = try await app(delegate, on: stage)
    stage.process.asCurrent { app.registerForRemoteNotifications() }
    #expect(await delegate.words.next() == "NSCocoaErrorDomain 3000: no valid entitlement")
    withExtendedLifetime(app) {}
  }

  @Test @MainActor func `are handed to the delegate, whose first completion is the answer`() async throws {
    let (stage, delegate) = (try Stage(Stage.app), Receiver())
    let app = try await app(delegate, on: stage)
    let push = ReceiveNotification(uniqueID: UUID(), payload: #"{"aps":{"alert":"x"},"story":"news"}"#)
    let reply = try await stage.host.connection.request(push, to: Stage.app)
    #expect(reply.result == .newData)
    #expect(await delegate.words.next() == "received news")
    withExtendedLifetime(app) {}
  }

  @Test @MainActor func `are handed to its asynchronous form`() async throws {
    let (stage, delegate) = (try Stage(Stage.app), AsyncReceiver())
    let app = try await app(delegate, on: stage)
    for (story, result) in [("good", ReceiveNotification.Reply.Result.noData), ("bad", .failed)] {
      let push = ReceiveNotification(uniqueID: UUID(), payload: #"{"aps":{},"story":"\#(story)"}"#)
      #expect(try await stage.host.connection.request(push, to: Stage.app).result == result)
    }
    withExtendedLifetime(app) {}
  }

  @Test @MainActor func `have nobody to be handed to when the delegate has neither form`() async throws {
    let (stage, delegate) = (try Stage(Stage.app), Listener())
    let app = try await app(delegate, on: stage)
    let push = ReceiveNotification(uniqueID: UUID(), payload: "{}")
    let reply = try await stage.host.connection.request(push, to: Stage.app)
    #expect(reply.result == nil)
    withExtendedLifetime(app) {}
  }
}
