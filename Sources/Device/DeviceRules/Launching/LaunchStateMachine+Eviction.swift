// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Messages

// Instances that the system ends with SIGKILL.

extension LaunchStateMachine {
  /// - Parameter isFailure: whether the next launch is delayed, longer after each consecutive failure.
  mutating func evict(
    _ address: Address, _ generation: UInt32, _ why: String, isFailure: Bool = false
  ) -> [Action] {
    guard var process = processes[address], process.instance?.generation == generation, process.state != .dying else {
      return []
    }
    process.state = .dying
    process.why = why
    process.failures = isFailure ? process.failures + 1 : 0
    process.endAssertionsOfInstance()
    processes[address] = process
    return [changed(address, process), .signal(address, generation: generation, signal: SIGKILL)]
  }

  /// Ends the instance, or the one that is being spawned.
  mutating func evict(_ address: Address, _ why: String) -> [Action] {
    if let instance = processes[address]?.instance { return evict(address, instance.generation, why) }
    if processes[address]?.state == .launching { processes[address]?.whyToEndAtSpawn = why }
    return []
  }

  mutating func exceededMemory(_ address: Address, _ instance: ProcessInstance, _ why: String, _ now: Date)
    -> [Action]
  {
    // The agent may report this before it replies to the spawn.
    let news = processes[address]?.instance == nil ? adopt(address, instance, now) : []
    return news + evict(address, instance.generation, why, isFailure: true)
  }
}
