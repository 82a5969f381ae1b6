// SPDX-License-Identifier: Apache-2.0

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

  private init(_ name: String, _ help: String, _ kind: Kind, _ samples: [Sample]) {
    self.name = name
    self.help = help
    self.kind = kind
    self.samples = samples
  }

  /// - Parameter name: ends in `_total`, unless it is a base unit of a process metric that Prometheus names.
  package static func counter(_ name: String, _ help: String, _ samples: [Sample]) -> MetricFamily {
    MetricFamily(name, help, .counter, samples)
  }

  package static func counter(_ name: String, _ help: String, _ counter: Counter) -> MetricFamily {
    MetricFamily(name, help, .counter, [Sample(Double(counter.value))])
  }

  /// A counter with one label.
  ///
  /// - Parameter text: the value of the label for a key.
  package static func counter<Key>(
    _ name: String, _ help: String, by label: String, _ counters: LabeledCounters<Key>, _ text: (Key) -> String
  ) -> MetricFamily {
    let samples = counters.keys.map { Sample(Double(counters[$0]?.value ?? 0), [MetricLabel(label, text($0))]) }
    return MetricFamily(name, help, .counter, samples)
  }

  package static func gauge(_ name: String, _ help: String, _ samples: [Sample]) -> MetricFamily {
    MetricFamily(name, help, .gauge, samples)
  }

  package static func gauge(_ name: String, _ help: String, _ value: Double) -> MetricFamily {
    MetricFamily(name, help, .gauge, [Sample(value)])
  }

  /// - Parameter name: ends in `_seconds`.
  package static func histogram(_ name: String, _ help: String, _ histogram: Histogram) -> MetricFamily {
    let (cumulative, sum) = histogram.snapshot
    let bounds = histogram.bounds.map { MetricText.number($0) } + ["+Inf"]
    let buckets = zip(bounds, cumulative).map {
      Sample(suffix: "_bucket", [MetricLabel("le", $0)], Double($1))
    }
    let ends = [Sample(suffix: "_sum", [], sum), Sample(suffix: "_count", [], Double(cumulative.last ?? 0))]
    return MetricFamily(name, help, .histogram, buckets + ends)
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
