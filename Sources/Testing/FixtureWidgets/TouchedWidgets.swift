// SPDX-License-Identifier: Apache-2.0

import AppIntents
import SwiftUI
import WidgetKit

// Widgets that the user taps: links in each family, and intents that are performed in the extension or in the app.

/// The common part of these intents: the parameter is transferred to the performing process, the other property is not.
protocol Poured: AppIntent {
  var cups: Int { get set }
  var note: String { get set }
}

extension Poured {
  static var title: LocalizedStringResource { "Pour" }

  func perform() async throws -> some IntentResult {
    print("\(Self.self) with \(cups) cups and \(note)")
    return .result()
  }
}

struct Pour: Poured {
  @Parameter(title: "Cups", default: 1) var cups: Int
  var note = "no note"
}

struct Open: Poured {
  static let openAppWhenRun = true
  @Parameter(title: "Cups", default: 1) var cups: Int
  var note = "no note"
}

struct Sing: Poured, AudioPlaybackIntent {
  @Parameter(title: "Cups", default: 1) var cups: Int
  var note = "no note"
}

struct Continue: Poured, ForegroundContinuableIntent {
  @Parameter(title: "Cups", default: 1) var cups: Int
  var note = "no note"
}

struct Live: Poured, LiveActivityIntent {
  @Parameter(title: "Cups", default: 1) var cups: Int
  var note = "no note"
}

struct Talk: Poured, PushToTalkTransmissionIntent {
  @Parameter(title: "Cups", default: 1) var cups: Int
  var note = "no note"
}

/// An intent that throws.
struct Spill: AppIntent {
  struct Empty: Error {}
  static let title: LocalizedStringResource = "Spill"

  func perform() async throws -> some IntentResult {
    print("spilled")
    if true { throw Empty() }
    return .result()
  }
}

/// An intent whose result opens the app with a URL.
struct Visit: AppIntent {
  static let title: LocalizedStringResource = "Visit"

  func perform() async throws -> some IntentResult & OpensIntent {
    print("visiting")
    return .result(opensIntent: OpenURLIntent(URL(string: "https://trial.example/visited") ?? URL(filePath: "/")))
  }
}

/// An intent whose result opens another intent.
struct Forward: AppIntent {
  static let title: LocalizedStringResource = "Forward"

  func perform() async throws -> some IntentResult & OpensIntent & ProvidesDialog {
    .result(opensIntent: made(Open.self, cups: 9), dialog: "Opening")
  }
}

/// An intent whose result opens an intent whose result opens a third one.
struct Relay: AppIntent {
  static let title: LocalizedStringResource = "Relay"

  func perform() async throws -> some IntentResult & OpensIntent { .result(opensIntent: Forward()) }
}

private func made<Intent: Poured>(_ type: Intent.Type, cups: Int) -> Intent {
  var intent = Intent()
  intent.cups = cups
  intent.note = "a note"
  return intent
}

struct IntentsWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Intents", provider: MomentProvider()) { _ in
      VStack {
        Button("Pour", intent: made(Pour.self, cups: 2))
        Button("Open", intent: made(Open.self, cups: 3))
        Button("Sing", intent: made(Sing.self, cups: 4))
        Button("Continue", intent: made(Continue.self, cups: 5))
        Button("Live", intent: made(Live.self, cups: 6))
        Button("Talk", intent: made(Talk.self, cups: 7))
        Button("Spill", intent: Spill())
        Button("Visit", intent: Visit())
        Button("Link", intent: OpenURLIntent(URL(string: "https://trial.example/linked") ?? URL(filePath: "/")))
        Button("Forward", intent: Forward())
        Button("Scheme", intent: OpenURLIntent(URL(string: "trial://scheme") ?? URL(filePath: "/")))
        Button("Relay", intent: Relay())
      }
      .backed
    }
    .supportedFamilies([.systemLarge])
  }
}

struct LinkedWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Linked", provider: MomentProvider()) { _ in
      VStack {
        Link("More", destination: URL(string: "trial://more") ?? URL(filePath: "/"))
        Button("Pour", intent: Pour())
        Toggle("Full", isOn: true, intent: Pour())
      }
      .widgetURL(URL(string: "trial://linked"))
      .backed
    }
    .supportedFamilies([
      .systemSmall, .systemMedium, .systemLarge, .systemExtraLarge, .accessoryRectangular, .accessoryCircular,
      .accessoryInline,
    ])
  }
}

/// Runs until the file named by `TRIAL_GATE` exists.
struct Fill: AppIntent {
  static let title: LocalizedStringResource = "Fill"
  static var isFull: Bool { FileManager.default.fileExists(atPath: NSHomeDirectory() + "/Documents/full") }

  func perform() async throws -> some IntentResult {
    while !FileManager.default.fileExists(atPath: FixtureWidgets.environment["TRIAL_GATE"] ?? "/") {
      try await Task.sleep(for: .milliseconds(10))
    }
    _ = FileManager.default.createFile(atPath: NSHomeDirectory() + "/Documents/full", contents: nil)
    return .result()
  }
}

private struct FillView: View {
  @Environment(\.redactionReasons) private var reasons

  var body: some View {
    VStack {
      Toggle(isOn: Fill.isFull, intent: Fill()) { Text("Full") }
      Text("what it holds").invalidatableContent()
      Text(verbatim: reasons.contains(.invalidated) ? "is being filled" : "is quiet")
    }
  }
}

struct SlowWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Slow", provider: MomentProvider()) { _ in FillView().backed }
      .supportedFamilies([.systemSmall])
  }
}

struct TouchedWidgets: WidgetBundle {
  var body: some Widget {
    IntentsWidget()
    LinkedWidget()
    SlowWidget()
    TouchWidget()
  }
}

private let renamedNote = NSHomeDirectory() + "/Documents/renamed"

/// Its author changes its kind in a later version, simulated by a tap.
struct RenamedWidget: Widget {
  private let kind = FileManager.default.fileExists(atPath: renamedNote) ? "After" : "Before"

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: kind, provider: MomentProvider()) { _ in
      VStack {
        Button("Rename", intent: Rename())
        Button("Tell all", intent: TellAll())
      }
      .backed
    }
    .supportedFamilies([.systemSmall])
  }
}

struct Rename: AppIntent {
  static let title: LocalizedStringResource = "Rename"

  func perform() async throws -> some IntentResult {
    _ = FileManager.default.createFile(atPath: renamedNote, contents: nil)
    return .result()
  }
}

/// Its change affects the app's other widgets too.
struct TellAll: AppIntent {
  static let title: LocalizedStringResource = "Tell all"

  func perform() async throws -> some IntentResult {
    WidgetCenter.shared.reloadAllTimelines()
    return .result()
  }
}

// MARK: The app

/// Reloads all timelines when it comes to the foreground, and again when it enters the background.
final class WidgetsDelegate: NSObject, UIApplicationDelegate {
  func applicationDidBecomeActive(_ application: UIApplication) {
    print("in front")
    WidgetCenter.shared.reloadAllTimelines()
  }

  func applicationDidEnterBackground(_ application: UIApplication) {
    print("behind")
    WidgetCenter.shared.reloadAllTimelines()
  }

  func application(_ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]) -> Bool {
    print("opened with \(url)")
    return true
  }
}

struct WidgetsApp: App {
  @UIApplicationDelegateAdaptor(WidgetsDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text(verbatim: "Widgets") } }
}
