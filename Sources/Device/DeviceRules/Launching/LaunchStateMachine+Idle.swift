// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Messages

// The end of extensions that have been suspended for long.

extension LaunchStateMachine {
  /// When the system ends a suspended process without an assertion; `nil`: never, or not known yet.
  func idleEnd(_ address: Address, _ process: Process) -> Date? {
    guard endIdleAfter > 0, address.role == .widgetExtension else { return nil }
    return process.suspendedAt?.addingTimeInterval(endIdleAfter)
  }

  /// Ends a suspended process without an assertion, if its time is over. After a host restart, the time begins again.
  func endIdle(_ address: Address, _ process: inout Process, _ now: Date) -> [Action] {
    if process.suspendedAt == nil { process.suspendedAt = now }
    guard let instance = process.instance, let end = idleEnd(address, process), end <= now else { return [] }
    process.state = .dying
    process.why = "idle for \(endIdleAfter.formatted()) s"
    process.endAssertionsOfInstance()
    return [changed(address, process), .signal(address, generation: instance.generation, signal: SIGKILL)]
  }
}
