// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import SwiftUI
@testable import UIKit
@testable import URLSessionAPI
@testable import WidgetKit

/// The forms in which an author declares handlers of background events: which sessions they match, and their calls.
@Suite(.timeLimit(.minutes(1))) struct `Background event handlers` {
  /// Which of two identifiers each handler matches.
  @MainActor private func matches(_ handlers: [BackgroundEventsHandler]) -> [[Bool]] {
    handlers.map { handler in ["a", "b"].map { handler.matches($0) } }
  }

  @Test(.rule("DELIVERY-29"))
  @MainActor func `a backgroundTask of a widget or scene matches all sessions, one identifier or a predicate`() {
    let all = [[true, true], [true, false], [false, true]]
    #expect(matches(Forms().descriptions.flatMap(\.handlers)) == all)
    #expect(matches(ScenesOfForms().body.allHandlers) == all)
  }

  @Test(.rule("DELIVERY-29"), arguments: [15, 16, 26])
  @MainActor func `a backgroundTask matches no session on a device before iOS 16`(version: Int) {
    let handlers = [
      BackgroundTask<String, Void>.urlSession.handler({ _ in }, version: version),
      BackgroundTask<Void, Void>.urlSession("a").handler({}, version: version),
      BackgroundTask<String, Void>.urlSession(matching: { $0 == "b" }).handler({ _ in }, version: version),
    ]
    let all = [[true, true], [true, false], [false, true]]
    #expect(matches(handlers) == (version < 16 ? Array(repeating: [false, false], count: 3) : all))
  }

  @Test(.rule("DELIVERY-27"))
  @MainActor func `a widget's handlers use its state object, and are found without a view of it`() {
    let widget = Relay()
    #expect(matches(widget.descriptions.flatMap(\.handlers)) == [[true, false], [true, true]])
    #expect(widget.client === Client.shared)
  }

  @Test(.rule("DELIVERY-33"), arguments: [false, true])
  @MainActor func `an app calls its delegate and its matching scenes, and awaits both unless firstCompletionCounts`(
    isSo: Bool
  ) async throws {
    var rules = ProcessRules.waiting(60)
    rules.firstCompletionCounts = isSo
    let (fixture, listener) = (try SDKFixture(SDKFixture.app, rules: rules), Delegate())
    let app = UIApplication()
    let author = AuthorApp()
    app.begin(with: UIApplication.adopted)
    try await fixture.host.start()
    app.serve(in: fixture.process, author.body.allHandlers)
    try await fixture.announce()
    let session = fixture.session(listener, shared: false)
    try await fixture.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: true, outcomes: [try fixture.success(1)]), to: SDKFixture.app)
    #expect(author.delegate.calls == ["launched", "daily"])
    #expect(await fixture.sent(HandlerCalled.self).map(\.matching) == [2])
    let outstanding = await fixture.sent(CompletionCalled.self).map(\.outstanding)
    #expect(isSo ? outstanding.first == 0 : outstanding == [1, 0], "\(outstanding)")
    withExtendedLifetime((app, session)) {}
  }

  @Test @MainActor func `an app without a delegate calls its scenes for background events`() async throws {
    let fixture = try SDKFixture(SDKFixture.app)
    let app = UIApplication()
    app.begin(with: nil)
    try await fixture.host.start()
    app.serve(in: fixture.process, ScenesOfForms().body.allHandlers)
    try await fixture.announce()
    let events = SessionEvents(session: "c", wakesHandler: true, outcomes: [])
    let error = await #expect(throws: BusError.self) {
      try await fixture.host.connection.deliver(events, to: SDKFixture.app)
    }
    #expect(error?.code == .unclaimed)
    #expect(await fixture.sent(HandlerCalled.self).map(\.matching) == [1])
    withExtendedLifetime(app) {}
  }
}

private struct Moment: TimelineEntry { let date: Date }

private struct Moments: TimelineProvider {
  func placeholder(in context: Context) -> Moment { Moment(date: Date()) }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (Moment) -> Void) {}
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Moment>) -> Void) {}
}

private struct Forms: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Forms", provider: Moments()) { _ in EmptyView() }
      .configurationDisplayName("Forms")
      .backgroundTask(.urlSession) { (identifier: String) in print(identifier) }
      .backgroundTask(.urlSession("a")) { await Task.yield() }
      .backgroundTask(.urlSession(matching: { $0 == "b" })) { identifier in print(identifier) }
  }
}

private struct ScenesOfForms: Scene {
  var body: some Scene {
    WindowGroup { Text("never made") }
      .backgroundTask(.urlSession) { identifier in print(identifier) }
      .backgroundTask(.urlSession("a")) {}
    WindowGroup("Second", id: "second")
      .backgroundTask(.urlSession(matching: { $0 == "b" })) { _ in }
  }
}

extension WindowGroup where Content == EmptyView {
  fileprivate init(_ title: String, id: String) { self.init(title) { EmptyView() } }
}

/// The client of all requests is a state object of the widget, as in a published app.
private final class Client: NSObject, ObservableObject, URLSessionDownloadDelegate, Sendable {
  static let shared = Client()
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {}
}

private struct BuiltView: View {
  init() { fatalError("a view is built") }
  var body: some View { EmptyView() }
}

private struct Relay: Widget {
  @StateObject private var apiClient = Client.shared
  var client: Client { apiClient }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Relay", provider: Moments()) { _ in BuiltView() }
      .onBackgroundURLSessionEvents(matching: "a") { identifier, completion in
        print(apiClient, identifier)
        completion()
      }
      .onBackgroundURLSessionEvents(matching: nil) { _, completion in completion() }
  }
}

private final class AuthorDelegate: NSObject, UIApplicationDelegate {
  var calls: [String] = []

  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    calls.append("launched")
    return true
  }

  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    completionHandler: @escaping () -> Void
  ) {
    calls.append(identifier)
    completionHandler()
  }
}

private struct AuthorApp: App {
  @UIApplicationDelegateAdaptor(AuthorDelegate.self) var delegate

  var body: some Scene {
    WindowGroup { EmptyView() }
      .backgroundTask(.urlSession("daily")) { await Task.yield() }
  }
}
