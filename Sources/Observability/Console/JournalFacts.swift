// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import JournalAnalysis
import Messages

// What a console shows without a running cluster: only what the journal says.

/// The locations of widgets.
enum WidgetPlaces {
  static let names = WidgetLocationName.allCases.map(\.rawValue)
}

extension ConsoleProcess {
  /// The last state of each process in a journal.
  static func all(in summary: JournalSummary) -> [ConsoleProcess] {
    summary.processes.order.compactMap { address in
      guard let run = summary.processes.last(of: address) else { return nil }
      var process = ConsoleProcess(
        address: address.text, name: address.short, role: address.role.rawValue, argument: address.short,
        state: run.end == nil ? run.spans.last?.state ?? "running" : "ended",
        why: "as the journal shows it; no cluster is connected")
      process.generation = run.generation
      process.pid = run.pid
      process.since = run.start
      process.lastEnding = run.ending ?? summary.processes.lanes[address]?.last { $0.ending != nil }?.ending
      return process
    }
  }
}

extension ConsoleScreen {
  /// The placements of a journal with the texts of their last entries.
  init(_ summary: JournalSummary, _ location: String?, _ device: ConsoleFacts.Device?) {
    let state = summary.screen.state ?? DeviceScreen()
    let shown = location ?? state.seen?.rawValue ?? WidgetLocationName.homeScreen.rawValue
    self.init(
      source: "journal", location: shown, size: Extent(width: device?.width ?? 393, height: device?.height ?? 852),
      state: State(isLocked: state.isLocked, colorScheme: state.colorScheme.rawValue, text: state.text))
    notice = "This is what the journal knows; the device is not asked, so there are no pictures."
    locations = WidgetPlaces.names.map { Location(name: $0, isVisible: $0 == state.seen?.rawValue) }
    tiles = summary.screen.placements.values.filter { $0.location.rawValue == shown }.sorted { $0.id < $1.id }
      .map { Self.tile($0, summary) }
  }

  private static func tile(_ placement: Placement, _ summary: JournalSummary) -> Tile {
    let (stored, entry) = (summary.screen.timelines[placement.id], summary.screen.shown[placement.id])
    var tile = Tile(
      placement: placement.id, kind: placement.kind, family: placement.family.rawValue, bundle: placement.bundle,
      content: stored == nil ? "skeleton" : "entry")
    tile.alt = (entry?.text ?? stored?.text ?? []).joined(separator: " ")
    tile.date = entry?.date.timeIntervalSince1970
    tile.isControl = placement.family == .control
    var facts = WidgetReason.Facts(now: Date(timeIntervalSince1970: summary.time ?? 0))
    facts.isEmpty = stored == nil
    facts.note = summary.screen.failures[placement.id]
    facts.decision = summary.ledger.last(ofPlacement: placement.id)
    tile.why = WidgetReason.text(facts)
    return tile
  }
}
