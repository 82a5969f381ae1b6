// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// Extensions and an app that print the device tokens and pushes that they receive. `TRIAL_APP` selects the containing
/// app; `TRIAL_MISTAKE`, as in `FixtureMistakes`, an extension with one widget and handler; `TRIAL_CONTROLS` one with a
/// control.
@main enum FixturePushes {
  static let environment = ProcessInfo.processInfo.environment

  @MainActor static func main() {
    if environment["TRIAL_APP"] != nil { return PushedApp.main() }
    if environment["TRIAL_MISTAKE"] != nil { return PushedWidget<First>.main() }
    if environment["TRIAL_CONTROLS"] != nil { return PushedControls.main() }
    PushedWidgets.main()
  }
}

/// Three widgets that accept pushes, two of them with the same handler type; and one that does not.
struct PushedWidgets: WidgetBundle {
  var body: some Widget {
    PushedWidget<First>()
    PushedWidget<Second>()
    OtherWidget()
    PlainWidget()
  }
}

protocol Named { static var name: String { get } }
enum First: Named { static let name = "First" }
enum Second: Named { static let name = "Second" }

struct PushedWidget<Name: Named>: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: Name.name, provider: HourlyProvider(kind: Name.name)) { Text(verbatim: $0.text) }
      .pushHandler(SharedHandler.self)
  }
}

struct OtherWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Other", provider: HourlyProvider(kind: "Other")) { Text(verbatim: $0.text) }
      .pushHandler(OtherHandler.self)
  }
}

struct PlainWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Plain", provider: HourlyProvider(kind: "Plain")) { Text(verbatim: $0.text) }
  }
}

struct SharedHandler: WidgetPushHandler {
  init() { print("made SharedHandler") }
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
    printCall("SharedHandler", pushInfo, widgets)
    if FixturePushes.environment["TRIAL_DIES_IN_HANDLER"] != nil { fatalError("the handler crashes") }
  }
}

struct OtherHandler: WidgetPushHandler {
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
    printCall("OtherHandler", pushInfo, widgets)
  }
}

private func printCall(_ name: String, _ info: WidgetPushInfo, _ widgets: [WidgetInfo]) {
  let kinds = widgets.map(\.kind).joined(separator: ",")
  print("\(name) on \(Thread.isMainThread ? "main" : "another thread"): \(info.token.hex) [\(kinds)]")
}

extension Data {
  var hex: String { map { String(format: "%02x", $0) }.joined() }
}

struct HourlyEntry: TimelineEntry {
  let date: Date
  let text: String
}

/// One entry now, and the next reload in an hour. Prints the current push info at each request.
struct HourlyProvider: TimelineProvider {
  let kind: String

  func placeholder(in context: Context) -> HourlyEntry { HourlyEntry(date: .now, text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (HourlyEntry) -> Void) {
    completion(HourlyEntry(date: .now, text: "snapshot"))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<HourlyEntry>) -> Void) {
    let kind = kind
    Task {
      let info = await WidgetCenter.shared.currentPushInfo
      print("\(kind) has the push info \(info?.token.hex ?? "none")")
      let now = Date()
      completion(Timeline(entries: [HourlyEntry(date: now, text: kind)], policy: .after(now + 3600)))
    }
  }
}
