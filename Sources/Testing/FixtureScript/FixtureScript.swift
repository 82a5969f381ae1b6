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

/// An app and an extension for tests. They read and write user defaults, print what their bundle has, and send requests,
/// as a script in the folder of their app group says: the app when it becomes active, the extension when it is asked for
/// a timeline.
@main enum FixtureScript {
  static let group = ProcessInfo.processInfo.environment["TRIAL_GROUP"] ?? ""

  @MainActor static func main() {
    switch Form.current {
    case .app: ScriptApp.main()
    case .widget: ScriptWidget.main()
    }
  }
}

struct ScriptApp: App {
  @UIApplicationDelegateAdaptor(ScriptDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text(verbatim: "Script") } }
}

final class ScriptDelegate: NSObject, UIApplicationDelegate {
  func applicationDidBecomeActive(_ application: UIApplication) { Task.detached { await Script.run() } }
}

struct ScriptWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Trial", provider: ScriptProvider()) { _ in ScriptView() }
  }
}

struct ScriptView: View {
  @AppStorage("drinks", store: UserDefaults(suiteName: FixtureScript.group)) private var drinks = 0
  @AppStorage("name", store: UserDefaults(suiteName: FixtureScript.group)) private var name = "unnamed"

  var body: some View { Text(verbatim: "\(name) \(drinks)") }
}

struct ScriptEntry: TimelineEntry {
  let date: Date
}

struct ScriptProvider: TimelineProvider {
  func placeholder(in context: Context) -> ScriptEntry { ScriptEntry(date: .now) }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (ScriptEntry) -> Void) {
    completion(ScriptEntry(date: .now))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<ScriptEntry>) -> Void) {
    Task.detached {
      await Script.run()
      completion(Timeline(entries: [ScriptEntry(date: .now)], policy: .never))
    }
  }
}
