// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Glibc
import Journal
import JournalAnalysis
import Messages

/// Shows the progress of a clock advance: a line on standard error that is overwritten, if standard error is a
/// terminal.
enum ClockProgress {
  /// Runs the work, and shows the progress until it ends.
  ///
  /// - Parameter folder: the folder of the journal.
  static func shown<T>(during change: SetClock.Change, folder: String, _ work: () async throws -> T) async throws -> T {
    guard case .advance(let seconds) = change, isatty(STDERR_FILENO) == 1 else { return try await work() }
    defer { write(clear) }
    return try await shown(seconds, folder, work)
  }

  private static func shown<T>(_ seconds: Double, _ folder: String, _ work: () async throws -> T) async throws -> T {
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
