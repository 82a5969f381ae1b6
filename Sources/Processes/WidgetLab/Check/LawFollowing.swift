// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import JournalAnalysis

/// Checks the laws on the journal of a cluster while it runs.
///
/// The whole journal of the instance is read, so that work of an earlier run of the cluster is known.
actor LawFollowing {
  private var checker = LawChecker()
  private var cursor: JournalCursor
  private var isOver = false
  private let report: @Sendable (LawChecker.News) -> Void
  private var task: Task<Void, Never>?

  /// - Parameters:
  ///   - journal: the folder of the segments, which may not exist yet.
  ///   - report: called with each violation that the journal shows.
  init(journal: String, report: @escaping @Sendable (LawChecker.News) -> Void) {
    cursor = JournalReader(folder: URL(fileURLWithPath: journal)).cursor()
    self.report = report
  }

  /// Begins to follow, until `end()`.
  func begin() { task = Task { await follow() } }

  /// Reads the rest of the journal. Call it when nothing more is written.
  ///
  /// - Returns: what was found.
  func end() async -> LawChecker {
    task?.cancel()
    await task?.value
    read(atMost: .max)
    return checker
  }

  private func follow() async {
    while !Task.isCancelled {
      // A long journal is read in pieces, so that the end of the cluster does not wait for it.
      guard read(atMost: 1000) < 1000 else {
        await Task.yield()
        continue
      }
      do {
        // The journal sends no notification; a mounted folder may deliver none either.
        try await Task.sleep(for: .milliseconds(100))
      } catch {
        return
      }
    }
  }

  /// Returns how many envelopes were read.
  @discardableResult
  private func read(atMost limit: Int) -> Int {
    guard !isOver else { return 0 }
    var count = 0
    do {
      while count < limit, let envelope = try cursor.next() {
        count += 1
        for news in checker.handle(envelope) { report(news) }
      }
    } catch {
      isOver = true
      checker.lostTrack("the journal cannot be read further: \(error)")
    }
    return count
  }
}
