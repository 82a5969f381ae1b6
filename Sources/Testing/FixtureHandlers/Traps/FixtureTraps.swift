// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// An extension or an app for tests that downloads `TRIAL_URL`. `TRIAL_TRAP` selects one of the pitfalls of background
/// sessions, such as `9 wrong`; any other value selects code that avoids them all.
enum FixtureTraps {
  static let environment = ProcessInfo.processInfo.environment
  /// Whether this is the containing app.
  static let isApp = environment["TRIAL_APP"] != nil

  static let downloader: any Downloader =
    switch environment["TRIAL_TRAP"] ?? "" {
    case "1 wrong": OneIdentifierForAll()
    case "2 wrong": WithoutContainer()
    case "3 wrong": CompletesWhenFinished()
    case "4 wrong": WithGroup()
    case "5 wrong": OneAfterTheOther()
    case "5 right": AllTogether()
    case "7 wrong", "8 wrong": MakesSessionWhenAsked()
    case "9 wrong": ReadsLater()
    case "10 wrong": Awaits()
    case "11 wrong": OneSessionEach()
    case "12 wrong": KeepsInvalidSession()
    case "12 right": MakesSessionAgain()
    case "13 wrong": AsksWhatRuns()
    case "14 wrong": GivesUp()
    case "14 exit": Exits()
    case "14 right": BeginsAgain()
    case "15 right": WaitsAMinute()
    case "16 wrong": TakesAnyFile()
    case "17 wrong": TrustsRedirection()
    case "17 right": AsksWhereTo()
    case "18 wrong": TriesOnce()
    case "18 right": TriesAgain()
    case "19 wrong": Publishes(isLocked: false)
    case "19 right": Publishes(isLocked: true)
    case "20 wrong": ReloadsWhenFinished()
    case "22 wrong": OnlyReloads()
    case "23 wrong": CompletesAtOnce()
    case "24 wrong": OneVariable()
    case "25 wrong": StoresLater()
    default: Careful()
    }

  @MainActor static func main() {
    if isApp {
      TrapApp.main()
    } else if environment["TRIAL_WIDGETS"] == "2" {
      TrapWidgets.main()
    } else {
      TrapWidget.main()
    }
  }
}

struct TrapWidget: Widget {
  var kind = "Trap"
  init() {}
  init(kind: String) { self.kind = kind }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: kind, provider: TrapProvider()) { entry in Text(verbatim: entry.text) }
      .onBackgroundURLSessionEvents(matching: FixtureTraps.downloader.identifier) { identifier, completion in
        print("handler \(kind)")
        FixtureTraps.downloader.handleEvents(of: identifier, completion: completion)
      }
  }
}

struct TrapWidgets: WidgetBundle {
  var body: some Widget {
    TrapWidget()
    TrapWidget(kind: "Other")
  }
}

struct TrapEntry: TimelineEntry {
  let date: Date
  let text: String
}

struct TrapProvider: TimelineProvider {
  func placeholder(in context: Context) -> TrapEntry { TrapEntry(date: Date(), text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (TrapEntry) -> Void) {
    completion(TrapEntry(date: Date(), text: "snapshot"))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<TrapEntry>) -> Void) {
    Task {
      let text = await FixtureTraps.downloader.text()
      completion(Timeline(entries: [TrapEntry(date: Date(), text: text)], policy: .never))
    }
  }
}

struct TrapApp: App {
  @UIApplicationDelegateAdaptor(TrapDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text("Traps") } }
}

final class TrapDelegate: NSObject, UIApplicationDelegate {
  func applicationDidBecomeActive(_ application: UIApplication) { Task { await FixtureTraps.downloader.begin() } }

  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    completionHandler: @escaping () -> Void
  ) {
    print("handler of the app")
    FixtureTraps.downloader.handleEvents(of: identifier, completion: completionHandler)
  }
}
