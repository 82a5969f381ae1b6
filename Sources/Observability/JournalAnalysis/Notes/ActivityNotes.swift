// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

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
