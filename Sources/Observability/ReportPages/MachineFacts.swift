// SPDX-License-Identifier: Apache-2.0

/// The machine of a campaign or of a measurement.
package struct MachineFacts: Sendable, Codable, Hashable {
  package let system: String
  package let processor: String
  package let cores: Int
  /// MiB.
  package let memory: Int
  /// Processes that wanted to run, over the last minute, before and after it.
  package let loadBefore: Double
  package var loadAfter: Double

  package init(system: String, processor: String, cores: Int, memory: Int, load: Double) {
    self.system = system
    self.processor = processor
    self.cores = cores
    self.memory = memory
    loadBefore = load
    loadAfter = load
  }
}
