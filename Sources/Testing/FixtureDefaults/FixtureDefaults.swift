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

/// An app and an extension for tests, which read and write user defaults as a script in the folder of their app group
/// says: the app when it becomes active, the extension when it is asked for a timeline.
@main enum FixtureDefaults {
  static let group = ProcessInfo.processInfo.environment["TRIAL_GROUP"] ?? ""

  @MainActor static func main() {
    switch Form.current {
    case .app: DefaultsApp.main()
    case .widget: DefaultsWidget.main()
    }
  }
}

struct DefaultsApp: App {
  @UIApplicationDelegateAdaptor(DefaultsDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text("Trial") } }
}

final class DefaultsDelegate: NSObject, UIApplicationDelegate {
  func applicationDidBecomeActive(_ application: UIApplication) { Task.detached { Script.run() } }
}

struct DefaultsWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Trial", provider: DefaultsProvider()) { _ in DefaultsView() }
  }
}

struct DefaultsView: View {
  @AppStorage("drinks", store: UserDefaults(suiteName: FixtureDefaults.group)) private var drinks = 0
  @AppStorage("name", store: UserDefaults(suiteName: FixtureDefaults.group)) private var name = "unnamed"

  var body: some View { Text(verbatim: "\(name) \(drinks)") }
}

struct DefaultsEntry: TimelineEntry {
  let date: Date
}

struct DefaultsProvider: TimelineProvider {
  func placeholder(in context: Context) -> DefaultsEntry { DefaultsEntry(date: .now) }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (DefaultsEntry) -> Void) {
    completion(DefaultsEntry(date: .now))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<DefaultsEntry>) -> Void) {
    Task.detached {
      Script.run()
      completion(Timeline(entries: [DefaultsEntry(date: .now)], policy: .never))
    }
  }
}

/// The lines of the script `script-app` or `script-widget`, with words that a space separates.
enum Script {
  static func run() {
    guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: FixtureDefaults.group),
      let script = try? String(contentsOf: folder.appending(path: "script-\(Form.current)"), encoding: .utf8)
    else { return }
    for line in script.split(separator: "\n") { perform(line.split(separator: " ").map(String.init), folder) }
    print("finished \(Form.current)")
  }

  private static func perform(_ words: [String], _ folder: URL) {
    let suite = words[1] == "group" ? FixtureDefaults.group : words[1]
    guard let defaults = words[1] == "standard" ? UserDefaults.standard : UserDefaults(suiteName: suite) else {
      fatalError("there is no suite \(suite)")
    }
    switch words[0] {
    case "set": defaults.set(Int(words[3]) as Any? ?? words[3], forKey: words[2])
    case "get": print("\(words[2]) = \(defaults.object(forKey: words[2]) ?? "nothing")")
    case "many":
      for number in 0..<(Int(words[3]) ?? 0) { defaults.set(number, forKey: "\(words[2])\(number)") }
    case "count":
      let found = (0..<(Int(words[3]) ?? 0)).count { defaults.integer(forKey: "\(words[2])\($0)") == $0 }
      print("\(words[2]) has \(found), with 0: \(defaults.object(forKey: "\(words[2])0") != nil)")
    case "meet":
      // A named pipe: each side waits for the other.
      let file = open(folder.appending(path: "meeting").path, Form.current == .app ? O_RDONLY : O_WRONLY)
      print("met \(file >= 0)")
    case "die": kill(getpid(), SIGKILL)
    default: fatalError("there is no instruction '\(words[0])'")
    }
  }
}
