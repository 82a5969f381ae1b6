// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// The notes about timelines and their budget.
enum TimelineNotes {
  /// The entries of the table.
  static let all: [NoteEntry] = [
    .note(ReloadTimelines.self) { reload in
      let all = reload.areControls == true ? "all controls" : "all kinds"
      return (reload.widgetKind ?? all) + (reload.within.map { " within \($0)" } ?? "")
    },
    .note(RequestTimeline.self) { request in
      let purpose = request.purpose == .timeline ? "" : " \(request.purpose)"
      let placement = request.placement.map { " of placement \($0)" } ?? ""
      return "\(request.widgetKind) \(request.environment.family.rawValue)\(purpose)\(placement) because of "
        + request.because.rawValue
    },
    .reply(to: RequestTimeline.self) { "\($0.entries.count) entries" },
    .note(CallClosures.self) { call in
      let count = call.entries.reduce(0) { $0 + $1.closures.reduce(0) { $0 + $1.sizes.count } }
      return "\(count) sizes of closures in \(call.entries.count) entries"
    },
    .reply(to: CallClosures.self) { "\($0.entries.count) entries" },
    .note(TakeSnapshot.self) { $0.widgetKind },
    .reply(to: TakeSnapshot.self) { $0.text.joined(separator: " | ") },
    .note(ArchiveWidget.self) { "\($0.widgetKind) \($0.family.rawValue), \($0.entries.rawValue)" },
    .reply(to: ArchiveWidget.self) { "\($0.entries.count) entries" },
    .note(TimelineStored.self) { "\($0.widgetKind) \($0.entries) entries: \($0.text.joined(separator: " | "))" },
    .note(EntryShown.self) {
      "\($0.widgetKind) of placement \($0.placement)\($0.animation?.text ?? ""): \($0.text.joined(separator: " | "))"
    },
    .note(ReloadFailed.self, mark: { _ in .refused }) { failed in
      "\(failed.widgetKind): \(failed.reason)" + (failed.nextTry.map { "; retry at \(Amount.text($0))" } ?? "")
    },
    .note(BudgetDecided.self, mark: { $0.entry.verdict == .refused ? .refused : .none }) { decided in
      let entry = decided.entry
      return
        "reload \(entry.reload) of placement \(entry.placement) because of \(entry.because.rawValue): \(entry.text)"
    },
    .note(FaultNoticed.self, mark: { _ in .refused }) { "\($0.subject): \($0.details)" },
    .note(ListBudget.self) { list in
      list.placement.map { "placement \($0)" } ?? list.reload.map { "reload \($0)" } ?? "all"
    },
  ]
}

extension EntryAnimation {
  /// `, animated by easeInOut in 0.7 s, numericText`.
  fileprivate var text: String {
    ", animated by \(curve) in \(Amount.text(seconds: seconds))\(transition.map { ", \($0)" } ?? "")"
  }
}

/// The notes about the gallery, the placements and the screen.
enum GalleryNotes {
  /// The entries of the table.
  static let all = placements + screen + intents

  private static let placements: [NoteEntry] = [
    .note(ListGallery.self) { $0.location?.rawValue ?? "everywhere" },
    .reply(to: ListGallery.self) { reply in
      let out = reply.items.count { $0.section == .leftOut }
      return "\(reply.items.count - out) available, \(out) left out"
    },
    .note(AddPlacement.self) { add in
      [
        add.widgetKind, add.family?.rawValue, add.stack.map { "on \($0)" } ?? add.location.rawValue,
        add.configuration.choices,
      ].compactMap(\.self).joined(separator: " ")
    },
    .reply(to: AddPlacement.self) { $0.text },
    .note(EditPlacement.self) { "\($0.placement) \($0.configuration.choices ?? "")" },
    .reply(to: EditPlacement.self) { $0.text },
    .note(RemovePlacement.self) { "\($0.placement)" },
    .note(PlacementChanged.self) { "\($0.placement.text) \($0.change.rawValue)" },
    .note(TurnStack.self) { "to \($0.placement)" },
    .reply(to: TurnStack.self) { $0.text },
    .note(StackTurned.self) { $0.text },
    .constant(ListPlacements.self),
    .reply(to: ListPlacements.self) { $0.placements.map(\.text).joined(separator: ", ") },
  ]

  private static let screen: [NoteEntry] = [
    .note(ShowScreen.self) { $0.location?.rawValue ?? "the current screen" },
    .reply(to: ShowScreen.self) { reply in
      "\(reply.location.rawValue): \(reply.tiles.count) widgets" + (reply.tint.map { ", tinted \($0.rawValue)" } ?? "")
    },
    .note(ReadImage.self) { "\($0.digest.prefix(16)) from \($0.offset)" },
    .reply(to: ReadImage.self) { "\($0.piece.count) of \($0.count) bytes" },
    .note(ChangeScreen.self) { $0.change.text },
    .reply(to: ChangeScreen.self) { $0.text },
    .note(ScreenChanged.self) { $0.state.text },
    .note(TapWidget.self) { tap in
      let target = [tap.control.map { "control \($0)" }, tap.link.map { "link \($0)" }].compactMap(\.self)
      return "\(tap.placement) \(target.joined())"
    },
    .reply(to: TapWidget.self) { $0.outcome },
    .note(OpenFromWidget.self) { "\($0.widgetKind) \($0.url ?? "user activity")" },
  ]

  private static let intents: [NoteEntry] = [
    .note(DescribeIntent.self) { asked in
      let searches = asked.searches.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
      return "\(asked.widgetKind)\(searches.joined())\(asked.chosen.choices.map { ", chosen: \($0)" } ?? "")"
    },
    .reply(to: DescribeIntent.self) { found in
      let counts = found.parameters.map { "\($0.name): \($0.options.count) options" }
      return "\(found.title): \(counts.joined(separator: ", "))"
    },
    .note(PerformIntent.self) { asked in
      "\(asked.intent)(\(asked.values.choices ?? ""))\(asked.placement.map { " of \($0)" } ?? "")"
    },
    .reply(to: PerformIntent.self) { reply in
      switch reply.opens {
      case nil: "performed"
      case .url(let url): "performed, opens \(url)"
      case .intent(let intent, let values, _, _): "performed, opens \(intent)(\(values.choices ?? ""))"
      }
    },
  ]
}

extension PlacementReport {
  /// `2 Weather systemSmall on homeScreen "Weather"`.
  fileprivate var text: String { "\(placement.text) \"\(displayName)\"" }
}

extension StackTurned {
  /// `2 of 1, 2, 3 is on top: relevance 5 over 1`.
  fileprivate var text: String {
    let scores = score.map { " \(Amount.text(factor: $0)) over \(Amount.text(factor: formerScore ?? 0))" } ?? ""
    return "\(top) of \(members.map { "\($0)" }.joined(separator: ", ")) is on top: \(because.rawValue)\(scores)"
  }
}

extension Placement {
  /// `2 Weather systemSmall on homeScreen`.
  fileprivate var text: String { "\(id) \(kind) \(family.rawValue) on \(location.rawValue)" }
}

extension [String: ArchivedValue] {
  /// `city=London hourly=true`; `nil` when empty.
  fileprivate var choices: String? {
    isEmpty ? nil : sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }.joined(separator: " ")
  }
}

extension ChangeScreen.Change {
  /// A short text.
  fileprivate var text: String {
    switch self {
    case .lock: "lock"
    case .unlock: "unlock"
    case .restart: "restart"
    case .look(let location): "look at \(location.rawValue)"
    case .darken: "display off"
    case .alwaysOn: "display Always-On"
    case .background(let app): "\(app) to the background"
    case .activity(let app, let activity): "\(app) \(activity?.text ?? "has no activity")"
    case .colorScheme(let scheme): scheme.rawValue
    case .system(let setting): "\(setting) changed"
    }
  }
}

/// The notes about Live Activities.
enum ActivityNotes {
  /// The entries of the table.
  static let all: [NoteEntry] = [
    .note(RequestActivity.self) { "\($0.attributesType) \($0.id.idPrefix)" },
    .reply(to: RequestActivity.self) { $0.text },
    .note(ChangeActivity.self) { "\($0.change.text) \($0.id.idPrefix)" },
    .reply(to: ChangeActivity.self) { $0.text },
    .note(ListActivities.self) { $0.app ?? "" },
    .reply(to: ListActivities.self) { $0.text },
    .note(AllowActivities.self) { "\($0.isAllowed ? "allows" : "forbids") those of \($0.app)" },
    .note(TapActivity.self) { tap in
      let target = [tap.presentation?.rawValue, tap.control.map { "control \($0)" }, tap.link.map { "link \($0)" }]
      return ([tap.id] + target.compactMap(\.self)).joined(separator: " ")
    },
    .reply(to: TapActivity.self) { $0.outcome },
    .note(ActivitiesChanged.self) { $0.activities.text },
    .note(ArchiveActivity.self) { "\($0.attributesType) \($0.id.idPrefix)\($0.isStale ? ", stale" : "")" },
    .reply(to: ArchiveActivity.self) { "\($0.items.count) parts" },
    .note(ActivityMoved.self, mark: { $0.change == .notArchived ? .refused : .none }) { moved in
      let what = "\(moved.activity.number) \(moved.activity.attributesType) \(moved.change.rawValue)"
      let text = moved.text.isEmpty ? "" : ": \(moved.text.joined(separator: " | "))"
      return "\(what) by the \(moved.because.rawValue)\(text)"
    },
  ]
}

extension AppActivities {
  fileprivate var text: String {
    let texts = activities.map { "\($0.number) \($0.attributesType) \($0.phase.rawValue)" }
    return texts.isEmpty ? "none" : texts.joined(separator: ", ")
  }
}

extension ChangeActivity.Change {
  fileprivate var text: String {
    switch self {
    case .update: "updates"
    case .end: "ends"
    case .dismiss: "dismisses"
    }
  }
}

extension String {
  /// An id, shortened to fit in a line.
  fileprivate var idPrefix: String { count > 12 ? prefix(8) + "…" : self }
}
