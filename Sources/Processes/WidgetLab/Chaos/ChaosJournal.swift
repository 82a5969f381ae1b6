// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Journal
import JournalAnalysis
import Messages

/// Reads the journal of a campaign's cluster while it runs, and passes each envelope to the laws and to the observer.
actor ChaosJournal {
  private let folder: String
  private let limits: LawLimits
  private var cursor: JournalCursor
  /// The envelopes before the last loss.
  private var before = 0
  /// Whether the journal or a database has lost something: what was accepted before may not be judged then.
  private(set) var hasLost = false
  /// Whether a process could open no file for a while: it cannot state the hash of what it received then.
  private var hadFewDescriptors = false
  private var checker: LawChecker
  private var observer: CampaignObserver
  private var isOver = false
  /// The first violation; later ones are in the verdicts.
  private(set) var breach: LawChecker.News?

  init(_ folder: String, _ observer: CampaignObserver, limits: LawLimits) {
    self.folder = folder
    self.limits = limits
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

  /// The machine's clock of the processes is about to jump, or is right again. Times of messages mean nothing in between.
  ///
  /// - Returns: whether that is news.
  func timeJumped(_ isAway: Bool) -> Bool {
    catchUp()
    checker.disturbed(at: .now)
    return observer.timeJumped(isAway)
  }

  func descriptorsAreFew() { hadFewDescriptors = true }

  /// The laws whose answer may be unknown, by code, because of what the campaign did.
  var unknowable: Set<String> {
    hasLost ? Set(checker.verdicts(until: .now).map(\.law.code)) : hadFewDescriptors ? ["files-intact"] : []
  }

  /// The verdicts if the journal ended here.
  func verdicts() -> [LawVerdict] {
    catchUp()
    return checker.verdicts(until: .now)
  }

  var envelopes: Int { before + checker.envelopes }

  /// Reads what is there: later envelopes, or entries of a database, will be lost.
  ///
  /// - Returns: the number of the last envelope.
  func note() -> UInt64 {
    catchUp()
    return cursor.lastSequence
  }

  /// Everything after an envelope is lost. The laws begin again there: what they saw may never have happened.
  func lost(after sequence: UInt64) {
    cursor = JournalReader(folder: URL(fileURLWithPath: folder)).cursor(from: .sequence(sequence + 1))
    before += checker.envelopes
    checker = LawChecker(limits)
    observer = observer.afterLoss()
    hasLost = true
    isOver = false
  }

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
