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
