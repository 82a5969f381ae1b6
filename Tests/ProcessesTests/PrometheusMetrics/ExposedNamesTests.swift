// SPDX-License-Identifier: Apache-2.0

import DeviceFleet
import FidelityRules
import Foundation
import MessageBusBroker
import PrometheusMetrics
import PushServer
import Testing

/// The names that the processes expose, the dashboard and the page about them.
@Suite struct `Exposed metrics` {
  private static let families =
    BrokerMetrics().families + ProviderMetrics().families + FleetMetrics().families + ProcessFamilies.read()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
  }

  @Test func `names and help obey the conventions of Prometheus`() {
    var seen: Set<String> = []
    for family in Self.families {
      let name = family.name
      #expect(name.wholeMatch(of: /(widgetlab_(bus|fleet|push)|process)_[a-z]+(_[a-z]+)*/) != nil, "\(name)")
      #expect((family.kind == .counter) == name.hasSuffix("_total"), "\(name): only a counter ends in _total")
      #expect(family.kind != .histogram || name.hasSuffix("_seconds"), "\(name)")
      #expect(name.firstMatch(of: /_(milliseconds|ms|kilobytes|kib|minutes|percent)/) == nil, "\(name): a base unit")
      #expect(
        family.help.hasSuffix(".") && family.help.first?.isUppercase == true || family.help.first == "1", "\(name)")
      #expect(seen.insert(name).inserted, "\(name) is exposed twice")
    }
  }

  @Test func `each sample of a page can be parsed, and a family's samples are together`() throws {
    let page = MetricText.page(Self.families)
    var family = ""
    var isTyped = false
    for line in page.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if let match = line.wholeMatch(of: /# HELP ([a-z_]+) .+/) {
        (family, isTyped) = (String(match.1), false)
      } else if let match = line.wholeMatch(of: /# TYPE ([a-z_]+) (?:counter|gauge|histogram)/) {
        #expect(match.1 == family)
        isTyped = true
      } else {
        let sample = try #require(
          line.wholeMatch(
            of: /([a-z_]+?)(_bucket|_sum|_count)?(\x7b([a-z]+=\x22[^\x22\\]*\x22,?)+\x7d)? ([-+0-9.e]+|\+Inf)/),
          "\(line)")
        #expect(isTyped && (sample.1 == family || line.hasPrefix(family)), "\(line)")
        #expect(Double(sample.5) != nil || sample.5 == "+Inf", "\(line)")
      }
    }
  }

  @Test func `each query of the dashboard names only what is exposed`() throws {
    let exposed = Set(Self.families.flatMap(\.sampleNames))
    let dashboard = try JSONSerialization.jsonObject(with: Data(try Self.text("deploy/grafana-dashboard.json").utf8))
    var queries: [String] = []
    func collect(_ value: Any) {
      if let object = value as? [String: Any] {
        if let query = object["expr"] as? String { queries.append(query) }
        object.values.forEach(collect)
      } else if let list = value as? [Any] {
        list.forEach(collect)
      }
    }
    collect(dashboard)
    #expect(queries.count > 10)
    for query in queries {
      let names = query.matches(of: /\b(?:widgetlab|process)_[a-z_]+/).map { String($0.0) }
      #expect(!names.isEmpty, "\(query) names no metric of ours")
      for name in names { #expect(exposed.contains(name), "\(query): no process exposes \(name)") }
    }
  }

  @Test func `the page about metrics has a row for each metric, with its type`() throws {
    let page = try Self.text("Documentation/metrics.md")
    for family in Self.families {
      #expect(
        page.contains("| `\(family.name)` | \(family.kind.rawValue) | "), "Documentation/metrics.md: \(family.name)")
    }
    for match in page.matches(of: /^\| `((?:widgetlab|process)_[a-z_]+)` \|/.anchorsMatchLineEndings()) {
      #expect(Self.families.contains { $0.name == match.1 }, "no process exposes \(match.1)")
    }
  }
}
