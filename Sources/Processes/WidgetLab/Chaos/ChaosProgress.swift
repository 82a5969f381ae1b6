// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Glibc
import JournalAnalysis
import ReportPages

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
