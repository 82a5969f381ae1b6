// SPDX-License-Identifier: Apache-2.0

package import PrometheusMetrics

/// Settings of the broker: `bus` in `widgetlab.yaml`, or flags of `message-bus`.
package struct BusLimits: Sendable, Hashable {
  /// Maximum length of the whole journal. Beyond it, the oldest segments are deleted.
  package var journal = ByteCount(bytes: 1 << 30)
  /// Maximum number of connected peers.
  package var peers = 4096
  /// How long a standing key is still accepted after its successor was first used.
  package var keyGrace: Duration = .seconds(10)
  /// Whether a message is forwarded only when the disk has it, so that the journal survives a power failure.
  package var synchronizesJournal = false
  /// Where the broker exposes its metrics; `nil` for nowhere.
  package var metrics: MetricsEndpoint?

  package init() {}
}

/// A length in bytes as users write it: `65536`, `64MiB`, `1GiB`.
package struct ByteCount: Sendable, Hashable, CustomStringConvertible {
  package let bytes: Int

  private static let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

  package init(bytes: Int) { self.bytes = bytes }

  /// Returns nil when the text is not a length, or is below 64 KiB, the smallest useful journal.
  package init?(argument: String) {
    let (suffix, unit) = Self.units.first { argument.hasSuffix($0.0) } ?? ("", 1)
    guard let count = Int(argument.dropLast(suffix.count)) else { return nil }
    let (bytes, isOver) = count.multipliedReportingOverflow(by: unit)
    guard !isOver, bytes >= 1 << 16 else { return nil }
    self.bytes = bytes
  }

  package var description: String {
    guard let (suffix, unit) = Self.units.first(where: { bytes % $0.1 == 0 }) else { return "\(bytes)" }
    return "\(bytes / unit)\(suffix)"
  }
  /// The text of a default value in `--help`.
  package var defaultValueDescription: String { description }
}
