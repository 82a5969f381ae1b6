// SPDX-License-Identifier: Apache-2.0

import Messages

/// The end of a process by a trap or a memory fault: a mistake in its code, whatever its input was. No fault of a campaign
/// sends such a signal.
package struct ProcessTrap: Hashable, Sendable, CustomStringConvertible {
  package let process: String
  package let pid: Int32
  package let signal: Int32
  /// What it wrote last, if that is known.
  package let output: String?

  /// SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV and SIGSYS, as Linux numbers them.
  private static let signals: Set<Int32> = [4, 5, 6, 7, 8, 11, 31]

  /// - Returns: `nil` when the signal is another one.
  package init?(_ process: String, pid: Int32, signal: Int32, output: String? = nil) {
    guard Self.signals.contains(signal) else { return nil }
    self.process = process
    self.pid = pid
    self.signal = signal
    self.output = output
  }

  package var description: String {
    "\(process) (pid \(pid)) ended with \(Ending.name(ofSignal: signal))" + (output.map { ": \($0)" } ?? "")
  }
}
