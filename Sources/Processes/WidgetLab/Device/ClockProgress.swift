import Foundation
import Glibc
import Journal
import JournalAnalysis
import Messages

/// Shows the progress of a clock advance: a line on standard error that is overwritten, if standard error is a
/// terminal.
final class ClockProgress: Sendable {
  private let following: Task<Void, Never>

  /// Returns `nil` when the clock is not advanced, or without a terminal.
  init?(_ change: SetClock.Change, folder: String) {
    guard case .advance(let seconds) = change, isatty(STDERR_FILENO) == 1 else { return nil }
    following = Task {
      let reader = JournalReader(folder: URL(fileURLWithPath: folder))
      var cursor = reader.cursor(from: .time(.now))
      var (first, last): (ClockState?, ClockState?)
      while !Task.isCancelled {
        while let envelope = try? cursor.next() {
          guard envelope.header.kind == ClockChanged.kind,
            let state = try? BodyCoding.decode(ClockChanged.self, from: envelope.body).state
          else { continue }
          first = first ?? state
          last = state
        }
        if let first, let last {
          let share = seconds > 0 ? min(1, last.now.timeIntervalSince(first.now) / seconds) : 1
          ClockProgress.write("\r\u{1b}[K\(Amount.text(last.now))  \(Int(share * 100)) %")
        }
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  /// Clears the line.
  func end() {
    following.cancel()
    ClockProgress.write("\r\u{1b}[K")
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }

  /// `1 d in 12.3 s of this machine's time: 7024 times as fast`.
  static func summary(of seconds: Double, in spent: Double) -> String {
    let ratio = Int((seconds / max(spent, 1e-6)).rounded())
    return "\(Amount.text(seconds: seconds)) in \(Amount.text(seconds: spent)) of this machine's time: "
      + "\(ratio) times as fast"
  }
}
