// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Journal
import JournalAnalysis
import Messages

/// Reads the journal of a campaign's cluster while it runs, and passes each envelope to the laws and to the observer.
actor ChaosJournal {
  private var cursor: JournalCursor
  private var checker: LawChecker
  private var observer: CampaignObserver
  private var isOver = false
  /// The first violation; later ones are in the verdicts.
  private(set) var breach: LawChecker.News?

  init(_ folder: String, _ observer: CampaignObserver, limits: LawLimits) {
    cursor = JournalReader(folder: URL(fileURLWithPath: folder)).cursor()
    checker = LawChecker(limits)
    self.observer = observer
  }

  /// Reads to the current end of the journal, and returns what the observer knows then.
  func look<R: Sendable>(_ read: @Sendable (CampaignObserver) -> R) -> R {
    catchUp()
    return read(observer)
  }

  /// Something happened that the journal does not show.
  func disturbed() { checker.disturbed(at: .now) }

  /// The verdicts if the journal ended here.
  func verdicts() -> [LawVerdict] {
    catchUp()
    return checker.verdicts(until: .now)
  }

  var envelopes: Int { checker.envelopes }

  private func catchUp() {
    guard !isOver else { return }
    do {
      while let envelope = try cursor.next() {
        observer.handle(envelope)
        for news in checker.handle(envelope) where breach == nil { breach = news }
      }
    } catch {
      isOver = true
      checker.lostTrack("the journal cannot be read further: \(error)")
    }
  }
}
