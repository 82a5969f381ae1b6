// SPDX-License-Identifier: Apache-2.0

import Messages
import NIOCore
import Synchronization

/// A log that a client cannot fill: at most `lines` lines in each period, then their number. Any thread.
final class LimitedLog: Sendable {
  /// Lines in a period.
  static let lines = 50
  /// Bytes of a line.
  static let bytes = 500
  static let period = TimeAmount.seconds(10)

  private let loop: any EventLoop
  private let log: @Sendable (String) -> Void
  /// The lines of the current period; `nil` between periods.
  private let count = Mutex<Int?>(nil)

  /// - Parameter loop: ends the periods.
  init(_ loop: any EventLoop, _ log: @escaping @Sendable (String) -> Void) {
    self.loop = loop
    self.log = log
  }

  func callAsFunction(_ line: String) {
    let (isFirst, isWritten) = count.withLock { count in
      let before = count ?? 0
      defer { count = before + 1 }
      return (count == nil, before < Self.lines)
    }
    if isFirst { loop.scheduleTask(in: Self.period) { self.endPeriod() } }
    if isWritten { log(line.excerpt(bytes: Self.bytes)) }
  }

  private func endPeriod() {
    let left = count.withLock { count in
      defer { count = nil }
      return (count ?? 0) - Self.lines
    }
    if left > 0 { log("\(left) more lines of the last \(Self.period.nanoseconds / 1_000_000_000) s are left out") }
  }
}
