/// What the broker bounds: the `bus` of a `widgetlab.yaml`, or flags of `message-bus`.
package struct BusLimits: Sendable, Hashable {
  /// How long the whole journal may get: then its oldest segments go.
  package var journal = ByteCount(bytes: 1 << 30)
  /// How many peers may be connected at once.
  package var peers = 4096
  /// How long a standing key is still let in when its successor has spoken.
  package var keyGrace: Duration = .seconds(10)

  package init() {}
}

/// A length as a person writes it: `65536`, `64MiB`, `1GiB`.
package struct ByteCount: Sendable, Hashable, CustomStringConvertible {
  package let bytes: Int

  private static let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

  package init(bytes: Int) { self.bytes = bytes }

  /// Nil when the text is none, or shorter than a journal can be of use: 64 KiB.
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
  /// As a command line's help shows a default.
  package var defaultValueDescription: String { description }
}
