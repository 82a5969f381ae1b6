// SPDX-License-Identifier: Apache-2.0

import Messages

/// The process instances of the device, and the value that each of them has. A plain value.
struct InstanceTable<Value: Equatable & Sendable>: Sendable {
  private struct Instance: Sendable {
    let generation: UInt32
    var isSuspended = false
    /// `nil` if the instance may have an older value.
    var known: Value?
  }

  private var instances: [Address: Instance] = [:]

  /// The addresses, in order.
  var addresses: [Address] { instances.keys.sorted { $0.text < $1.text } }

  /// The host starts, and these instances run.
  mutating func began(_ running: [Address: UInt32]) {
    for (address, generation) in running { instances[address] = Instance(generation: generation) }
  }

  /// An instance reported ready, or was resumed.
  ///
  /// - Parameter known: the value that a new instance has from its beginning.
  /// - Returns: `false` for an instance that has been replaced.
  mutating func runs(_ address: Address, _ generation: UInt32, known: Value? = nil) -> Bool {
    guard instances[address].map({ $0.generation <= generation }) ?? true else { return false }
    if instances[address]?.generation != generation {
      instances[address] = Instance(generation: generation, known: known)
    }
    instances[address]?.isSuspended = false
    return true
  }

  mutating func suspended(_ address: Address, _ generation: UInt32) {
    if instances[address]?.generation == generation { instances[address]?.isSuspended = true }
  }

  mutating func ended(_ address: Address, _ generation: UInt32) {
    if instances[address]?.generation == generation { instances[address] = nil }
  }

  /// Whether a value is to be sent to an instance: it runs and may not have the value. From then on it has it.
  mutating func sends(_ value: Value, to address: Address) -> Bool {
    guard let instance = instances[address], !instance.isSuspended, instance.known != value else { return false }
    instances[address]?.known = value
    return true
  }
}
