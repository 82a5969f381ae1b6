// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
import Journal
package import JournalAnalysis
import Messages
import Synchronization

/// The journal as the console reads it.
package final class ConsoleJournal: Sendable {
  /// What is read of one journal: pages of messages, the live end, and the analysis.
  struct Contents: Sendable {
    /// Counts the journals that were in the folder since the console started, from 0.
    let generation: Int
    let pages: JournalPages
    let feed: LiveFeed
    let analyst = JournalAnalyst()

    init(_ folder: URL, generation: Int) throws(JournalError) {
      self.generation = generation
      pages = JournalPages(folder: folder)
      feed = LiveFeed(last: try pages.bounds()?.upperBound ?? 0)
    }
  }

  private let current: Mutex<Contents>
  /// The folder of the segments, or the file of one.
  package let folder: URL

  /// - Throws: `JournalError` when the folder is not a journal.
  package init(folder: URL) throws {
    self.folder = folder
    current = Mutex(try Contents(folder, generation: 0))
  }

  var contents: Contents { current.withLock { $0 } }
  var pages: JournalPages { contents.pages }
  var feed: LiveFeed { contents.feed }

  /// What the analysis knows, including everything up to now if it was complete before.
  package func summary() async -> JournalSummary {
    let contents = contents
    return await contents.analyst.summary(upTo: contents.feed.last)
  }

  /// Follows the journal until the task is cancelled.
  func follow() async {
    let watch = JournalWatch(folder: folder)
    defer { watch.end() }
    await withTaskCancellationHandler {
      for await _ in watch.announcements {
        await beginAgain()
        watch.looked(foundSomething: readNew())
      }
    } onCancel: {
      watch.end()
    }
  }

  /// Reads another journal when the folder was removed and made again. The streams end, and pages read everything again.
  private func beginAgain() async {
    let former = contents
    guard former.pages.isReplaced, let next = try? Contents(folder, generation: former.generation + 1) else { return }
    current.withLock { $0 = next }
    former.feed.end()
    await former.analyst.finish()
  }

  /// Publishes what was written since the last call.
  private func readNew() -> Bool {
    let (pages, feed) = (pages, feed)
    var hasFound = false
    // A folder that cannot be read now is read at the next announcement.
    while let bounds = try? pages.bounds(), bounds.upperBound > feed.last, !Task.isCancelled {
      guard let first = try? pages.first(from: max(feed.last + 1, bounds.lowerBound)) else { break }
      let last = min(bounds.upperBound, first + 511)
      guard first <= last, let new = try? pages.read(first...last), !new.isEmpty else { break }
      feed.publish(new)
      hasFound = true
    }
    return hasFound
  }

  /// Analyses the journal from its beginning until the task is cancelled.
  func analyse() async {
    while !Task.isCancelled {
      let contents = contents
      let (id, signals) = contents.feed.join(isClient: false)
      defer { contents.feed.leave(id) }
      await withTaskCancellationHandler {
        for await _ in signals {
          while !Task.isCancelled, await contents.analyseNext() { await Task.yield() }
        }
      } onCancel: {
        contents.feed.leave(id)
      }
    }
  }

  /// Ends the questions that wait for the analysis.
  func end() async { await contents.analyst.finish() }
}

extension ConsoleJournal.Contents {
  /// Analyses the next messages.
  ///
  /// - Returns: whether there may be more.
  fileprivate func analyseNext() async -> Bool {
    guard !feed.hasEnded else { return false }
    let position = await analyst.position
    guard position < feed.last else {
      feed.publish(await analyst.reachedEnd())
      return false
    }
    if let entries = feed.entries(from: position + 1, limit: 256), !entries.isEmpty {
      feed.publish(await analyst.handle(entries.map(\.envelope)))
      return true
    }
    guard let bounds = try? pages.bounds(), bounds.upperBound > position else { return await cannotRead() }
    guard let first = try? pages.first(from: max(position + 1, bounds.lowerBound)), first <= bounds.upperBound else {
      return await cannotRead()
    }
    let last = min(bounds.upperBound, first + 255)
    guard let new = try? pages.read(first...last) else { return await cannotRead() }
    feed.publish(await analyst.handle(new, upTo: last))
    return true
  }

  /// The next announcement tries again; no question waits for it.
  private func cannotRead() async -> Bool {
    await analyst.resumeWaiting()
    return false
  }
}

/// Keeps the analysis of the journal.
actor JournalAnalyst {
  private var summary = JournalSummary()
  /// The number up to which the journal was analysed.
  private(set) var position: UInt64 = 0
  /// The analysis has reached the end once.
  private(set) var isComplete = false
  private var waitingReaders: [(sequence: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
  private var hasFinished = false
  private var announced = ContinuousClock.now

  /// What an incomplete analysis changes as it goes on.
  private static let growing: Set<ConsoleTopic> = [.history, .traces, .budget, .pushes, .diagnoses, .state]

  /// Analyses messages.
  ///
  /// - Returns: what the pages read again.
  func handle(_ envelopes: [Envelope], upTo last: UInt64? = nil) -> Set<ConsoleTopic> {
    var topics: Set<ConsoleTopic> = []
    for envelope in envelopes where summary.handle(envelope) { topics.insert(.diagnoses) }
    position = max(position, last ?? 0, envelopes.last?.header.sequence ?? 0)
    wake()
    guard !isComplete else { return topics }
    guard ContinuousClock.now - announced > .seconds(1) else { return [] }
    announced = .now
    return Self.growing
  }

  /// - Returns: what the pages read again when the end is reached for the first time.
  func reachedEnd() -> Set<ConsoleTopic> {
    guard !isComplete else { return [] }
    isComplete = true
    return Self.growing
  }

  /// The analysis; when it was complete before, including the number.
  func summary(upTo sequence: UInt64) async -> JournalSummary {
    if isComplete, !hasFinished, position < sequence {
      await withCheckedContinuation { waitingReaders.append((sequence, $0)) }
    }
    return summary
  }

  private func wake() {
    for waiter in waitingReaders where waiter.sequence <= position { waiter.continuation.resume() }
    waitingReaders.removeAll { $0.sequence <= position }
  }

  /// Resumes all waiting questions with what is known: the journal cannot be read.
  func resumeWaiting() {
    for waiter in waitingReaders { waiter.continuation.resume() }
    waitingReaders = []
  }

  /// Nothing follows: the console ends, or shows another journal.
  func finish() {
    hasFinished = true
    resumeWaiting()
  }
}

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
  init(_ summary: JournalSummary, location: String?, device: ConsoleFacts.Device?) {
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
    let (storedTimeline, entry) = (summary.screen.timelines[placement.id], summary.screen.shown[placement.id])
    var tile = Tile(
      placement: placement.id, kind: placement.kind, family: placement.family.rawValue, bundle: placement.bundle,
      content: storedTimeline == nil ? "skeleton" : "entry")
    tile.alt = (entry?.text ?? storedTimeline?.text ?? []).joined(separator: " ")
    tile.date = entry?.date.timeIntervalSince1970
    tile.isControl = placement.family == .control
    var facts = WidgetReason.Facts(now: Date(timeIntervalSince1970: summary.time ?? 0))
    facts.isEmpty = storedTimeline == nil
    facts.note = summary.screen.failures[placement.id]
    facts.decision = summary.ledger.last(ofPlacement: placement.id)
    tile.why = WidgetReason.text(facts)
    return tile
  }
}
