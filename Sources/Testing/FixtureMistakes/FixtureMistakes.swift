// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// Extensions and apps for tests with the mistakes that `widgetlab diagnose` reports, and corrected versions of each.
/// `TRIAL_MISTAKE` selects one; `TRIAL_APP` selects the containing app.
@main enum FixtureMistakes {
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
    case "handler wrong": WithoutHandler.main()
    case "handler right": WithHandler.main()
    case "background wrong": ToEdges.main()
    case "background right": OnBackground.main()
    case "archive wrong": MistakeWidget<GivesWholeArticles>.main()
    case "archive right": MistakeWidget<GivesHeadlines>.main()
    case "fed wrong": DownloadsInHandler.main()
    case "fed right": WithHandler.main()
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
