// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// The part of this process according to `TRIAL_FORM`: the app or the widget extension.
enum Form: String {
  case app, widget

  static let current: Form = {
    let name = ProcessInfo.processInfo.environment["TRIAL_FORM"] ?? ""
    guard let form = Form(rawValue: name) else { fatalError("TRIAL_FORM: there is no form '\(name)'") }
    return form
  }()
}

/// An app and an extension for tests, which print what their bundle has and send requests, as a script in the folder of
/// their app group says: the app when it becomes active, the extension when it is asked for a timeline.
@main enum FixtureRequests {
  static let group = ProcessInfo.processInfo.environment["TRIAL_GROUP"] ?? ""

  @MainActor static func main() {
    switch Form.current {
    case .app: RequestsApp.main()
    case .widget: RequestsWidget.main()
    }
  }
}

struct RequestsApp: App {
  @UIApplicationDelegateAdaptor(RequestsDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text(verbatim: "Requests") } }
}

final class RequestsDelegate: NSObject, UIApplicationDelegate {
  func applicationDidBecomeActive(_ application: UIApplication) { Task.detached { await Script.run() } }
}

struct RequestsWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Trial", provider: RequestsProvider()) { _ in Text(verbatim: "Requests") }
  }
}

struct RequestsEntry: TimelineEntry {
  let date: Date
}

struct RequestsProvider: TimelineProvider {
  func placeholder(in context: Context) -> RequestsEntry { RequestsEntry(date: .now) }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (RequestsEntry) -> Void) {
    completion(RequestsEntry(date: .now))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<RequestsEntry>) -> Void) {
    Task.detached {
      await Script.run()
      completion(Timeline(entries: [RequestsEntry(date: .now)], policy: .never))
    }
  }
}
