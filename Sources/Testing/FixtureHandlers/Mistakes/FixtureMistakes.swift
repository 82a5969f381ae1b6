// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import SwiftUI
@testable import WidgetKit

/// Extensions and apps for tests with the mistakes that `widgetlab diagnose` reports, and corrected versions of each.
/// `TRIAL_MISTAKE` selects one; `TRIAL_APP` selects the containing app.
enum FixtureMistakes {
  static let environment = ProcessInfo.processInfo.environment
  static let name = environment["TRIAL_MISTAKE"] ?? ""
  static let kind = "Mistake"

  @MainActor static func main() {
    if environment["TRIAL_APP"] != nil { return MistakeApp.main() }
    switch name {
    case "answer wrong": MistakeWidget<AnswersWhenAllIsWell>.main()
    case "answer right": MistakeWidget<AnswersAnyway>.main()
    case "twice wrong": MistakeWidget<ShowsCacheThenNews>.main()
    case "twice right": MistakeWidget<AnswersAnyway>.main()
    case "same wrong", "same right": MistakeWidget<AnswersAnyway>.main()
    case "entries wrong": MistakeWidget<ShowsWhatIsToCome>.main()
    case "entries right": MistakeWidget<ShowsWhatIsToComeOrNothing>.main()
    case "past wrong": MistakeWidget<CountsFromTheData>.main()
    case "past right": MistakeWidget<CountsFromNow>.main()
    case "interval wrong": MistakeWidget<AsksEveryFiveMinutes>.main()
    case "interval right": MistakeWidget<AsksEveryHour>.main()
    case "provider wrong": MistakeWidget<ReloadsWhatItGives>.main()
    case "provider right": MistakeWidget<SavesWhatItGives>.main()
    case "crash wrong": MistakeWidget<TrustsTheServer>.main()
    case "crash right": MistakeWidget<LooksFirst>.main()
    case "memory wrong": MistakeWidget<DecodesAllOfIt>.main()
    case "memory right": MistakeWidget<DecodesWhatIsSeen>.main()
    case "kind wrong": TwoOfOneKind.main()
    case "kind right": TwoKinds.main()
    case "group wrong": MistakeWidget<SavesInAGroup>.main()
    case "group right": MistakeWidget<SavesInItsGroup>.main()
    case "container wrong": MistakeWidget<ListsAnotherContainer>.main()
    case "container right": MistakeWidget<ListsItsContainer>.main()
    case "handler wrong": WithoutHandler.main()
    case "handler right": WithHandler.main()
    case "background wrong": ToEdges.main()
    case "background right": OnBackground.main()
    case "archive wrong": MistakeWidget<GivesWholeArticles>.main()
    case "archive right": MistakeWidget<GivesHeadlines>.main()
    case "fed wrong": DownloadsInHandler.main()
    case "fed right": WithHandler.main()
    case "blocking wrong": MistakeWidget<LoadsSynchronously>.main()
    case "blocking right": MistakeWidget<AnswersAnyway>.main()
    case "unsimulated wrong": DimmedWidget.main()
    case "unsimulated right": OnBackground.main()
    default: MistakeWidget<CountsFromNow>.main()
    }
  }
}

struct Note: TimelineEntry {
  let date: Date
  let text: String
}

/// The correct parts that all of these providers share.
protocol NoteProvider: TimelineProvider where Entry == Note {
  init()
}

extension NoteProvider {
  func placeholder(in context: Context) -> Note { Note(date: Date(), text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (Note) -> Void) {
    completion(Note(date: Date(), text: "snapshot"))
  }
}

struct MistakeWidget<Provider: NoteProvider>: Widget {
  private let kind: String
  init() { self.init(kind: FixtureMistakes.kind) }
  init(kind: String) { self.kind = kind }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: kind, provider: Provider()) { entry in Text(verbatim: entry.text) }
  }
}

/// A widget that was copied together with its kind.
struct TwoOfOneKind: WidgetBundle {
  var body: some Widget {
    MistakeWidget<CountsFromNow>()
    MistakeWidget<AsksEveryHour>()
  }
}

struct TwoKinds: WidgetBundle {
  var body: some Widget {
    MistakeWidget<CountsFromNow>()
    MistakeWidget<AsksEveryHour>(kind: "Other")
  }
}

/// What the app does when it comes to the foreground.
@MainActor private func cameToFront() {
  switch FixtureMistakes.name {
  case "loop wrong":
    for record in 1...6 {
      UserDefaults.standard.set(record, forKey: "record")
      WidgetCenter.shared.reloadTimelines(ofKind: FixtureMistakes.kind)
    }
  case "loop right":
    for record in 1...6 { UserDefaults.standard.set(record, forKey: "record") }
    WidgetCenter.shared.reloadTimelines(ofKind: FixtureMistakes.kind)
  case "same wrong": WidgetCenter.shared.reloadTimelines(ofKind: FixtureMistakes.kind)
  case "same right":
    // Compares the widget's content with the content that it showed last.
    guard UserDefaults.standard.string(forKey: "shown") != "news" else { break }
    UserDefaults.standard.set("news", forKey: "shown")
    WidgetCenter.shared.reloadTimelines(ofKind: FixtureMistakes.kind)
  case "name wrong": WidgetCenter.shared.reloadTimelines(ofKind: "MistakeWidget")
  case "name right": WidgetCenter.shared.reloadTimelines(ofKind: FixtureMistakes.kind)
  default: break
  }
  print("in front")
}

struct MistakeApp: App {
  @UIApplicationDelegateAdaptor(MistakeDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text(verbatim: "Mistakes") } }
}

final class MistakeDelegate: NSObject, UIApplicationDelegate {
  func applicationDidBecomeActive(_ application: UIApplication) { cameToFront() }
}

/// Written before iOS 17: the view fills the widget and declares no container background.
struct ToEdges: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: FixtureMistakes.kind, provider: CountsFromNow()) { entry in
      ZStack {
        Color.blue
        Text(verbatim: entry.text)
      }
    }
  }
}

struct OnBackground: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: FixtureMistakes.kind, provider: CountsFromNow()) { entry in
      Text(verbatim: entry.text).containerBackground(for: .widget) { Color.blue }
    }
  }
}

// An app group that is in the code, and not in the entitlements.

/// Shows what it saved in an app group that it has not joined.
struct SavesInAGroup: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    completion(saved(in: "group.com.example.Forgotten"))
  }
}

/// Shows what it saved in its app group, and in its own defaults.
struct SavesInItsGroup: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    UserDefaults.standard.set("own", forKey: "text")
    UserDefaults(suiteName: "settings")?.set("own", forKey: "text")
    completion(saved(in: FixtureMistakes.environment["TRIAL_GROUP"] ?? ""))
  }
}

private func saved(in group: String) -> Timeline<Note> {
  let defaults = UserDefaults(suiteName: group)
  defaults?.set("saved", forKey: "text")
  return Timeline(entries: [Note(date: Date(), text: defaults?.string(forKey: "text") ?? "nothing")], policy: .never)
}

/// Shows whether it can list the container of another extension.
struct ListsAnotherContainer: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let all = URL(filePath: NSHomeDirectory()).deletingLastPathComponent().deletingLastPathComponent()
    completion(listed(all.appending(path: "com.example.Right.Widget")))
  }
}

struct ListsItsContainer: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    completion(listed(URL(filePath: NSHomeDirectory())))
  }
}

private func listed(_ folder: URL) -> Timeline<Note> {
  let text: String
  do {
    text = try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty ? "empty" : "listed"
  } catch {
    text = "error \((error as NSError).code)"
  }
  return Timeline(entries: [Note(date: Date(), text: text)], policy: .never)
}

/// A provider whose session uses a second network path.
struct UsesSecondPath: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.multipathServiceType = .handover
    URLSession(configuration: configuration).invalidateAndCancel()
    completion(Timeline(entries: [Note(date: Date(), text: "a note")], policy: .never))
  }
}

struct DimmedNote: View {
  @Environment(\.isLuminanceReduced) private var isLuminanceReduced
  let text: String

  var body: some View {
    Text(verbatim: isLuminanceReduced ? "…" : text).containerBackground(.background, for: .widget)
  }
}

/// Its view has a form for an Always-On display.
struct DimmedWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: FixtureMistakes.kind, provider: UsesSecondPath()) { DimmedNote(text: $0.text) }
  }
}
