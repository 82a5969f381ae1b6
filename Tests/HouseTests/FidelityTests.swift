import Foundation
import Testing

/// The page that tells authors what behaves how, held against the tests and the settings that it names.
@Suite struct `the page of fidelity` {
  private let page: FidelityPage
  private let tests: Set<String>
  private let settings: Set<String>
  private let limits: Set<String>
  private let sample: String

  init() throws {
    let tree = try Tree()
    page = FidelityPage(try tree.read(FidelityPage.path))
    tests = Set(try tree.swiftFiles(below: "Tests").flatMap(\.sentences))
    let readers = try tree.swiftFiles(below: "Sources/Processes/Cluster")
    settings = Set(
      ["ClusterConfiguration.Settings", "ClusterConfiguration.PushRules"].flatMap { type in
        readers.flatMap { $0.keys(of: type) }
      })
    limits = Set(readers.flatMap { $0.keys(of: "BusLimits") })
    sample = try tree.read("widgetlab.yaml")
  }

  @Test func `names tests that there are and settings that are read, and each of those`() {
    #expect(page.rows.count > 100)
    #expect(tests.count > 500)
    #expect(settings.count > 20)
    for finding in page.findings(tests: tests, settings: settings) { Issue.record("\(finding)") }
  }

  @Test func `leaves the limits of the bus to the sample's configuration, which has them all`() {
    #expect(limits.count == 3)
    for key in limits where !sample.contains("#   \(key): ") { Issue.record("widgetlab.yaml does not tell \(key)") }
  }

  @Test(arguments: [
    ("| it waits | | `delay` | ours | `it waits a while` |", nil),
    ("| it waits | | none: HTTP | observed | `it waits` |", nil),
    ("| it waits | | | documented | none: nothing calls it |", nil),
    ("| it waits | **not built** | | ours | |", nil),
    ("| it waits | | `widgetlab clock` | ours | `it waits` |", nil),
    ("| it waits | | `delay` | ours | `it waits for ever` |", "there is no test `it waits for ever`"),
    ("| it waits | | `patience` | ours | `it waits` |", "patience is no key"),
    ("| it waits | | | observed (that it does) | `it waits` |", "no setting turns"),
    ("| it waits | | none: | ours | `it waits` |", "no setting turns"),
    ("| it waits | | `delay` | ours | it waits |", "no test holds the rule"),
    ("| it waits | | | | `it waits` |", "nobody says so"),
  ])
  func `is told what a row lacks`(row: String, advice: String?) {
    let page = FidelityPage("| rule | value | setting | source | test |\n|---|---|---|---|---|\n\(row)")
    let known: Set<String> = row.contains("`delay`") ? ["delay"] : []
    let findings = page.findings(tests: ["it waits", "it waits a while"], settings: known)
    #expect(findings.map(\.line) == (advice == nil ? [] : [3]))
    if let advice { #expect(findings.first?.advice.contains(advice) == true) }
  }

  @Test func `is told of a setting that no row names, and goes over tables without tests`() {
    let page = FidelityPage("| key | meaning |\n|---|---|\n| `delay` | | |\n")
    #expect(page.rows.isEmpty)
    #expect(page.findings(tests: [], settings: ["delay"]).map(\.advice) == ["no row names the setting delay"])
  }
}
