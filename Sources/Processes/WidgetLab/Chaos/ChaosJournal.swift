// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import FaultPoints
import Foundation
import Glibc
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

/// Arms the faults of a campaign at fault points.
struct ChaosPoints {
  let page: FaultPointPage
  let cluster: ClusterFacts

  /// Arms a fault inside a process.
  ///
  /// - Returns: `nil` when it is of another kind, names nothing that this version has, or too many are armed.
  func arm(_ fault: ChaosFault) -> FaultPointPage.Fault? {
    switch fault {
    case .kill, .stop, .journal, .network, .clock, .recreate, .server, .full, .tail, .store, .limit, .jump: nil
    case .point(let victim, let point, let skipping): arm(.crash, in: victim, at: point, skipping: skipping)
    case .stall(let victim, let point, let milliseconds): arm(.stall(milliseconds: milliseconds), in: victim, at: point)
    case .disk(let victim, let point, let error, let skipping):
      arm(.fail(errno: error == .full ? ENOSPC : EIO), in: victim, at: point, skipping: skipping)
    case .spawn(let times): page.arm(.fail(errno: EAGAIN), at: .agentBeforeSpawn, times: times)
    case .line(let fault, let type, let skipping, let milliseconds):
      page.arm(Self.action(fault, milliseconds), type: type, skipping: skipping)
    }
  }

  private func arm(
    _ action: FaultPointPage.Action, in victim: ChaosVictim, at point: String, skipping: Int = 0
  ) -> FaultPointPage.Fault? {
    guard let point = FaultPoint(name: point), let address = cluster.address(of: victim) else { return nil }
    return page.arm(action, at: point, of: address, skipping: skipping)
  }

  private static func action(_ fault: LineFault, _ milliseconds: Int) -> FaultPointPage.LineAction {
    switch fault {
    case .delay: .delay(milliseconds: milliseconds)
    case .cut: .cut
    case .double: .double
    }
  }
}

/// Shows how far a campaign is: one line that is overwritten on a terminal, else a line every ten seconds.
struct ChaosProgress {
  private let run: ChaosRun
  private let journal: ChaosJournal
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let start = ContinuousClock.now

  init(_ run: ChaosRun, _ journal: ChaosJournal) {
    self.run = run
    self.journal = journal
  }

  /// Shows the progress until its task is cancelled.
  func show() async {
    while true {
      do {
        try await Task.sleep(for: isTerminal ? .milliseconds(500) : .seconds(10))
      } catch {
        if isTerminal { write("\r\u{1b}[K") }
        return
      }
      let line = await line
      write(isTerminal ? "\r\u{1b}[K\(line)" : "\(line)\n")
    }
  }

  private var line: String {
    get async {
      let record = await run.record
      let work = await journal.look(\.work)
      let breach = await journal.breach
      let other = record.events.count { $0.kills.isEmpty }
      let law = breach.map { "\($0.law.code) is broken" } ?? "no law is broken"
      let phase = await run.isSettling ? "waiting until all is quiet: " : ""
      let time = CampaignText.duration((ContinuousClock.now - start) / .seconds(1))
      return "  \(time)  \(phase)\(record.kills) kills, \(other) other faults; \(work.accepted) tasks, "
        + "\(work.pushesAccepted) pushes; \(law)"
    }
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}

extension MachineFacts {
  /// The machine of this process.
  static var current: MachineFacts {
    var name = utsname()
    uname(&name)
    let system = withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let facts = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let processor = facts.split(separator: "\n").first { $0.hasPrefix("model name") }?
      .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    return MachineFacts(
      system: "Linux \(system)", processor: processor ?? "unknown processor",
      cores: ProcessInfo.processInfo.activeProcessorCount, memory: Int(ProcessInfo.processInfo.physicalMemory >> 20),
      load: load)
  }

  /// Processes that wanted to run, over the last minute.
  static var load: Double {
    var load = 0.0
    return getloadavg(&load, 1) == 1 ? (load * 100).rounded() / 100 : 0
  }
}
