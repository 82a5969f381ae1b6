// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Cluster
import Foundation
import Glibc
import Journal
import JournalAnalysis
import MessageBus
import Messages

/// `widgetlab clock`.
struct ClockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clock",
    abstract: "Shows, holds, continues, sets, advances or resets the device's clock, or changes its rate.",
    discussion: """
      The waits of the device use this clock: timelines, budgets, back-offs, the completion deadline, the resume rate \
      limiter, the limits of seven days, the pause before a process is suspended. While the clock is held, none of \
      them elapses. `Date()` in an app or an extension returns this clock's time. The setting survives a host restart.

      `advance` moves from one due time to the next, so that events happen in the order of time, and pauses while a \
      process has not replied, such as an extension that was asked for its timeline: two runs of the same day give the \
      same result. A process that has not replied after `advancePatience` (30 s of this machine's time) is not waited \
      for, so that its deadline passes. A rate does not wait: 30 s for a completion handler are 0.5 s at a rate of 60, \
      and 8 ms at 3600.

      Not affected: the other limits on the author's code (timelineDeadline, intentDeadline), sleeps, timers and \
      timeouts in an author's process, and network timing (a connection's idle timeout, bytes per second).

      ACTIONS
        hold              stops the clock
        run               continues from the current time, at its rate
        set TIME          sets it to 2026-03-01T06:00:00Z (or 2026-03-01); held or
                          running as before. Everything before that time is due at
                          once; when set back, waits keep their due times
        rate NUMBER       device seconds per machine second: 0.001 to 100000
        advance DURATION  by 90s, 5m, 24h, 7d or 1d12h; held or running
        reset             this machine's time, running at its rate

      EXAMPLES
        widgetlab clock
        widgetlab clock hold; widgetlab clock advance 30s
        widgetlab clock set 2026-03-01T06:00:00Z
        widgetlab clock advance 24h      a day of all widgets in a few seconds
        widgetlab clock rate 60          a minute per second
        widgetlab clock advance 7d       unfinished transfers fail after a week
        widgetlab clock reset
      """)

  enum Action: String, ExpressibleByArgument, CaseIterable { case hold, run, set, rate, advance, reset }

  @OptionGroup var options: InstanceOptions

  @Argument(help: "hold, run, set, rate, advance or reset; without it, the clock is shown.")
  var action: Action?

  @Argument(help: "With set: a time; with rate: a number; with advance: a duration.")
  var value: String?

  @Option(help: "Seconds to wait for the host's reply.")
  var timeout = 600.0

  @Flag(help: "Print one JSON object: now (seconds since 1970), isHeld, offset (seconds ahead of this machine), rate.")
  var json = false

  func validate() throws { _ = try change() }

  func run() async throws {
    try await reporting {
      let change = try change()
      let begun = ContinuousClock.now
      let state = try await OperatorSession.with(options) { session in
        try await ClockProgress.shown(during: change, folder: session.cluster.instance.journal) {
          try await session.ask(SetClock(change: change), within: .saturating(seconds: timeout))
        }
      }
      if json { return Output.json(data: try BodyCoding.data(state)) }
      Output.print(state.text)
      guard case .advance(let seconds) = change else { return }
      Output.print(ClockProgress.summary(of: seconds, in: (ContinuousClock.now - begun) / .seconds(1)))
    }
  }

  func change() throws -> SetClock.Change {
    switch (action, value) {
    case (nil, nil): return .ask
    case (.hold, nil): return .hold
    case (.run, nil): return .run
    case (.reset, nil): return .reset
    case (.set, let value?):
      guard let seconds = ISOTime.seconds(of: value) else {
        throw ValidationError("'\(value)' is not a time; use 2026-03-01T06:00:00Z or 2026-03-01T07:00:00+01:00.")
      }
      return .set(Date(timeIntervalSince1970: seconds))
    case (.rate, let value?):
      guard let rate = Double(value), (1e-3...1e5).contains(rate) else {
        throw ValidationError("'\(value)' is not a rate; use 0.001 to 100000, or `hold` to stop the clock.")
      }
      return .rate(rate)
    case (.advance, let value?):
      guard let seconds = Amount.seconds(value) else {
        throw ValidationError("'\(value)' is not a duration; use 90s, 5m, 24h, 7d or 1d12h.")
      }
      return .advance(seconds)
    case (.set, nil): throw ValidationError("Give a time: widgetlab clock set 2026-03-01T06:00:00Z.")
    case (.rate, nil): throw ValidationError("Give a rate: widgetlab clock rate 3600.")
    case (.advance, nil): throw ValidationError("Give a duration: widgetlab clock advance 24h.")
    case (_, let value?):
      throw ValidationError("'\(value)' needs set, rate or advance: widgetlab clock advance 24h.")
    }
  }
}

/// Shows the progress of a clock advance: a line on standard error that is overwritten, if standard error is a
/// terminal.
enum ClockProgress {
  /// Runs the work, and shows the progress until it ends.
  ///
  /// - Parameter folder: the folder of the journal.
  static func shown<T>(during change: SetClock.Change, folder: String, _ work: () async throws -> T) async throws -> T {
    guard case .advance(let seconds) = change, isatty(STDERR_FILENO) == 1 else { return try await work() }
    defer { write(clear) }
    return try await shown(seconds, folder: folder, work: work)
  }

  private static func shown<T>(_ seconds: Double, folder: String, work: () async throws -> T) async throws -> T {
    // Cancelled and awaited at the end of this scope.
    async let _ = follow(seconds, folder)
    return try await work()
  }

  /// Overwrites the line at each change of the clock, until the task is cancelled.
  private static func follow(_ seconds: Double, _ folder: String) async {
    var cursor = JournalReader(folder: URL(fileURLWithPath: folder)).cursor(from: .time(.now))
    var (first, last): (ClockState?, ClockState?)
    while !Task.isCancelled {
      while let envelope = try? cursor.next() {
        guard let state = envelope.reading(ClockChanged.self)?.state else { continue }
        first = first ?? state
        last = state
      }
      if let first, let last {
        let share = seconds > 0 ? min(1, last.now.timeIntervalSince(first.now) / seconds) : 1
        write("\(clear)\(Amount.text(last.now))  \(Int(saturating: share * 100)) %")
      }
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  /// Clears the line.
  private static let clear = "\r\u{1b}[K"

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }

  /// `1 d in 12.3 s of this machine's time: 7024 times as fast`.
  static func summary(of seconds: Double, in spent: Double) -> String {
    let ratio = Int(saturating: (seconds / max(spent, 1e-6)).rounded())
    return "\(Amount.text(seconds: seconds)) in \(Amount.text(seconds: spent)) of this machine's time: "
      + "\(ratio) times as fast"
  }
}
