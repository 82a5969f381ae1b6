// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A label of a sample.
package struct MetricLabel: Hashable, Sendable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A metric with its samples. Source of the rules for names: *Metric and label naming* of Prometheus.
package struct MetricFamily: Hashable, Sendable {
  package enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  package struct Sample: Hashable, Sendable {
    /// Follows the name of the family: `_bucket`, `_sum` and `_count` of a histogram.
    let suffix: String
    package let labels: [MetricLabel]
    package let value: Double

    package init(_ value: Double, _ labels: [MetricLabel] = []) { self.init(suffix: "", labels, value) }

    init(suffix: String, _ labels: [MetricLabel], _ value: Double) {
      self.suffix = suffix
      self.labels = labels
      self.value = value
    }
  }

  package let name: String
  /// One sentence.
  package let help: String
  package let kind: Kind
  package let samples: [Sample]

  /// The names of the samples, which queries use.
  package var sampleNames: [String] {
    kind == .histogram ? ["_bucket", "_sum", "_count"].map { name + $0 } : [name]
  }

  private init(_ name: String, help: String, kind: Kind, samples: [Sample]) {
    self.name = name
    self.help = help
    self.kind = kind
    self.samples = samples
  }

  /// - Parameter name: ends in `_total`, unless it is a base unit of a process metric that Prometheus names.
  package static func counter(_ name: String, help: String, _ samples: [Sample]) -> MetricFamily {
    MetricFamily(name, help: help, kind: .counter, samples: samples)
  }

  package static func counter(_ name: String, help: String, _ counter: Counter) -> MetricFamily {
    MetricFamily(name, help: help, kind: .counter, samples: [Sample(Double(counter.value))])
  }

  /// A counter with one label.
  ///
  /// - Parameter text: the value of the label for a key.
  package static func counter<Key>(
    _ name: String, help: String, by label: String, counters: LabeledCounters<Key>, text: (Key) -> String
  ) -> MetricFamily {
    let samples = counters.keys.map { Sample(Double(counters[$0]?.value ?? 0), [MetricLabel(label, text($0))]) }
    return MetricFamily(name, help: help, kind: .counter, samples: samples)
  }

  package static func gauge(_ name: String, help: String, _ samples: [Sample]) -> MetricFamily {
    MetricFamily(name, help: help, kind: .gauge, samples: samples)
  }

  package static func gauge(_ name: String, help: String, _ value: Double) -> MetricFamily {
    MetricFamily(name, help: help, kind: .gauge, samples: [Sample(value)])
  }

  /// - Parameter name: ends in `_seconds`.
  package static func histogram(_ name: String, help: String, _ histogram: Histogram) -> MetricFamily {
    let (cumulative, sum) = histogram.snapshot
    let bounds = histogram.bounds.map { MetricText.number($0) } + ["+Inf"]
    let buckets = zip(bounds, cumulative).map {
      Sample(suffix: "_bucket", [MetricLabel("le", $0)], Double($1))
    }
    let ends = [Sample(suffix: "_sum", [], sum), Sample(suffix: "_count", [], Double(cumulative.last ?? 0))]
    return MetricFamily(name, help: help, kind: .histogram, samples: buckets + ends)
  }
}

/// The text format of Prometheus, version 0.0.4. Source: *Exposition formats* of Prometheus.
package enum MetricText {
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The page with the families in their order.
  package static func page(_ families: [MetricFamily]) -> String {
    var text = ""
    for family in families {
      text += "# HELP \(family.name) \(escapedHelp(family.help))\n# TYPE \(family.name) \(family.kind.rawValue)\n"
      for sample in family.samples {
        text += "\(family.name)\(sample.suffix)\(labels(sample.labels)) \(number(sample.value))\n"
      }
    }
    return text
  }

  private static func labels(_ labels: [MetricLabel]) -> String {
    guard !labels.isEmpty else { return "" }
    return "{" + labels.map { "\($0.name)=\"\(escapedValue($0.value))\"" }.joined(separator: ",") + "}"
  }

  /// A whole number without a decimal point, as the clients of Prometheus write it.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return Int(exactly: value).map(String.init) ?? "\(value)"
  }

  private static func escapedHelp(_ text: String) -> String { escaped(text, quotes: false) }
  private static func escapedValue(_ text: String) -> String { escaped(text, quotes: true) }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}

/// A count that never decreases. Any thread; one atomic addition without a lock.
package final class Counter: Sendable {
  private let count: Atomic<Int>

  package init() { count = Atomic(0) }

  package var value: Int { count.load(ordering: .relaxed) }

  /// - Parameter amount: 0 or more.
  package func add(_ amount: Int = 1) { count.add(amount, ordering: .relaxed) }
}

/// A value that may decrease, and is set by its owner. Any thread.
package final class Gauge: Sendable {
  private let current: Atomic<Int>

  package init(_ value: Int = 0) { current = Atomic(value) }

  package var value: Int { current.load(ordering: .relaxed) }

  package func set(_ value: Int) { current.store(value, ordering: .relaxed) }

  /// - Parameter amount: may be negative.
  package func add(_ amount: Int) { current.add(amount, ordering: .relaxed) }
}

/// One counter for each value of a label. The values are fixed, so that a look-up needs no lock.
package struct LabeledCounters<Key: Hashable & Sendable>: Sendable {
  /// The values in the order of the exposition.
  package let keys: [Key]
  private let counters: [Key: Counter]

  package init(_ keys: some Sequence<Key>) {
    self.keys = Array(keys)
    counters = Dictionary(self.keys.map { ($0, Counter()) }) { first, _ in first }
  }

  /// The counter of a value; `nil` for one that was not named at the creation.
  package subscript(_ key: Key) -> Counter? { counters[key] }
}

/// The distribution of durations. Any thread; an observation is two atomic additions without a lock.
///
/// A reader may see an observation in its bucket and not yet in the sum.
package final class Histogram: Sendable {
  /// The upper bounds of the buckets in seconds, ascending, without the last one, which is infinite.
  package let bounds: [Double]
  private let buckets: [Counter]
  private let nanoseconds = Counter()

  /// Bounds for the work of a server: half a millisecond to 10 s.
  package static let workBounds = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  /// Bounds for deliveries to devices, which may be offline for days: a millisecond to a week.
  package static let deliveryBounds = [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 3_600, 86_400, 604_800]

  package init(bounds: [Double] = workBounds) {
    self.bounds = bounds
    buckets = (0...bounds.count).map { _ in Counter() }
  }

  /// - Parameter seconds: a negative duration, after a change of the clock, counts as 0.
  package func observe(seconds: Double) {
    let seconds = max(0, seconds)
    buckets[bounds.firstIndex { seconds <= $0 } ?? bounds.count].add()
    nanoseconds.add(Int(exactly: (min(seconds, 1e9) * 1e9).rounded()) ?? 0)
  }

  package func observe(_ duration: Duration) { observe(seconds: duration / .seconds(1)) }

  /// The observations up to each bound, and of all; and their sum in seconds.
  package var snapshot: (cumulative: [Int], sum: Double) {
    var total = 0
    let cumulative = buckets.map { bucket in
      total += bucket.value
      return total
    }
    return (cumulative, Double(nanoseconds.value) / 1e9)
  }
}

/// The metrics of every process, with the names that the clients of Prometheus use. They are read from `/proc/self`.
package enum ProcessFamilies {
  /// The families now. A value that cannot be read is left out.
  package static func read() -> [MetricFamily] {
    var families: [MetricFamily] = []
    if let fields = statFields(), fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
      let start = Double(fields[19]), let pages = Double(fields[21]), let virtual = Double(fields[20])
    {
      let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
      families.append(
        .counter(
          "process_cpu_seconds_total", help: "The processor time of the process, user and system.",
          [.init((user + system) / ticks)]))
      families.append(
        .gauge(
          "process_resident_memory_bytes", help: "The resident memory of the process.",
          pages * Double(sysconf(Int32(_SC_PAGESIZE)))))
      families.append(.gauge("process_virtual_memory_bytes", help: "The virtual memory of the process.", virtual))
      if let boot = bootTime() {
        families.append(
          .gauge(
            "process_start_time_seconds", help: "When the process started, seconds since 1970.", boot + start / ticks))
      }
    }
    if let count = openDescriptors() {
      families.append(.gauge("process_open_fds", help: "The open file descriptors of the process.", Double(count)))
    }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      families.append(
        .gauge("process_max_fds", help: "The limit of file descriptors of the process.", Double(limit.rlim_cur)))
    }
    return families
  }

  /// The fields of `/proc/self/stat` after the name, which may contain spaces and parentheses.
  private static func statFields() -> [Substring]? {
    guard let text = read("/proc/self/stat"), let end = text.lastIndex(of: ")") else { return nil }
    return text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
  }

  /// When the machine started, seconds since 1970.
  private static func bootTime() -> Double? {
    guard let text = read("/proc/stat") else { return nil }
    return text.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
  }

  private static func openDescriptors() -> Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // `.`, `..`, and the descriptor of this folder.
    return max(0, count - 3)
  }

  private static func read(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
      bytes += buffer[..<count]
    }
  }
}
