// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `Documentation/fidelity`, compared with the tests that are linked to its rules and with the settings.
@Suite struct `The fidelity pages` {
  private let tree: Tree
  private let paths: [String]
  private let pages: FidelityPages
  private let links: [RuleLink]
  private let settings: Set<String>
  private let limits: Set<String>

  /// Read once for all tests, because reading takes most of their time.
  private static let shared = Result { try Self(reading: Tree()) }

  init() throws { self = try Self.shared.get() }

  private init(reading tree: Tree) throws {
    self.tree = tree
    paths = try FileManager.default.contentsOfDirectory(
      atPath: tree.root.appending(path: FidelityPages.folder).path
    ).filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted().map { "\(FidelityPages.folder)/\($0)" }
    pages = FidelityPages(try paths.map { ($0, try tree.read($0)) })
    links = try tree.swiftFiles(below: "Tests").flatMap(\.ruleLinks)
    let readers = try tree.swiftFiles(below: "Sources/Processes/Cluster")
    settings = Set(
      ["ClusterConfiguration.Settings", "ClusterConfiguration.PushRules"].flatMap { type in
        readers.flatMap { $0.keys(of: type) }
      })
    limits = Set(readers.flatMap { $0.keys(of: "BusLimits") })
  }

  @Test func `every fidelity rule has a source, a setting and a test, and every setting has a rule`() {
    #expect(pages.rules.count > 400)
    #expect(links.count > 600)
    #expect(settings.count > 60)
    for finding in pages.findings(links: links, settings: settings) { Issue.record("\(finding)") }
  }

  @Test func `every number that a fidelity rule states is in a linked test, or has a reason`() {
    #expect(pages.rules.count { !$0.statedNumbers.isEmpty } > 150)
    for finding in pages.unnamedNumbers(links, exceptions: FidelityPages.unnamedNumbers) { Issue.record("\(finding)") }
  }

  @Test func `every fidelity page is in the index`() throws {
    let index = try tree.read(FidelityPages.index)
    for path in paths {
      let name = path.dropFirst(FidelityPages.folder.count + 1)
      #expect(index.contains("](\(name))"), "\(path) is not in the index")
    }
  }

  @Test func `every rule id that the documentation mentions exists`() throws {
    let others = try FileManager.default.contentsOfDirectory(atPath: tree.root.appending(path: "Documentation").path)
      .filter { $0.hasSuffix(".md") }.map { "Documentation/\($0)" }
    for path in paths + others + [FidelityPages.index, "README.md"] {
      for finding in pages.unknownIDs(in: try tree.read(path), at: path) { Issue.record("\(finding)") }
    }
  }

  @Test func `the comments of the sample configuration document the settings of the bus`() throws {
    let sample = try tree.read("widgetlab.yaml")
    #expect(limits.count == 5)
    for key in limits where !sample.contains("#   \(key): ") { Issue.record("widgetlab.yaml does not mention \(key)") }
  }

  // MARK: Bad samples of each check

  private static let page = """
    # Sample

    ### SAMPLE-01: It waits

    A while.

    - Source: documented (that it
      waits): `wait()`; ours (how long)
    - Setting: `delay`, default 1 s
    """

  private static let test = "@Test(.rule(\"SAMPLE-01\")) func a() { delay = 2 }"

  private func findings(_ page: String, _ test: String = test) -> [String] {
    let pages = FidelityPages([("sample.md", page)])
    let links = SourceFile("Tests/Sample.swift", test).ruleLinks
    let known: Set<String> = page.contains("`delay`") ? ["delay"] : []
    return pages.findings(links: links, settings: known).map(\.advice)
  }

  @Test func `a valid rule is accepted`() {
    #expect(findings(Self.page) == [])
    #expect(findings(Self.page.replacing("`delay`, default 1 s", with: "none: defined by HTTP")) == [])
    #expect(findings(Self.page.replacing("`delay`, default 1 s", with: "`widgetlab clock`")) == [])
    #expect(findings(Self.page.replacing("Setting: `delay`, default 1 s", with: "Rules: SAMPLE-01")) == [])
    let once = Self.page + "\n- Tests: one value: the figure is Apple's"
    #expect(findings(once, Self.test.replacing("delay = 2", with: "")) == [])
    let untested = Self.page.replacing("`delay`, default 1 s", with: "none: a text\n- Tests: none: it is not visible")
    #expect(findings(untested, "") == [])
  }

  @Test(arguments: [
    ("SAMPLE-01: It", "SAMPLE-1: It", "this heading is not a rule"),
    ("SAMPLE-01: It", "SAMPLE-02: It", "the rule SAMPLE-01 does not exist"),
    ("- Setting", "- Settings", "Settings is not a field"),
    ("- Source: documented (that it\n  waits): `wait()`; ours (how long)\n", "", "the rule has no source"),
    (": `wait()`", "", "'documented (that it waits)' names no page"),
    ("ours (how long)", "Apple", "'Apple' is not a source"),
    ("\n- Setting: `delay`, default 1 s", "", "but has no setting"),
    ("`delay`, default 1 s", "none: ", "but has no setting"),
    ("`delay`", "`delay`, `patience`", "patience is not a key"),
    ("default 1 s", "default 1 s\n- Tests: none: it is slow", "but a test is linked to this rule"),
    ("default 1 s", "default 1 s\n- Tests: none", "the field Tests needs a reason"),
    ("A while.", "A while.\n\n### SAMPLE-02: It waits\n\n- Source: documented: `a`\n", "no test is linked"),
    ("# Sample", "### SAMPLE-01: It waits\n\n- Source: documented: `a`\n", "this id is used twice"),
    ("# Sample", "### OTHER-01: It waits\n\n- Source: documented: `a`\n", "each page must have one prefix"),
  ])
  func `an invalid rule is rejected with advice`(good: String, bad: String, advice: String) {
    let page = Self.page.replacing(good, with: bad)
    #expect(page != Self.page)
    #expect(findings(page).contains { $0.contains(advice) }, "\(findings(page))")
  }

  @Test func `a row of a table is a rule of an RFC, and is rejected without a test or a reason`() {
    let row =
      "# Sample\n\n| rule | section | requirement | remark |\n|---|---|---|---|\n| SAMPLE-01 | 4.1 | It waits | |"
    let test = "@Test(.rule(\"SAMPLE-01\")) func a() {}"
    #expect(findings(row, test) == [])
    #expect(findings(row.replacing("4.1", with: "RFC 7540, section 5.3"), test) == [])
    let untested = row.replacing("waits | |", with: "waits | none: it is not visible |")
    #expect(findings(untested, "") == [])
    #expect(findings(untested, test).contains { $0.contains("but a test is linked to this rule") })
    #expect(findings(row, "").contains { $0.contains("no test is linked") })
    for bad in [row.replacing("4.1", with: ""), row.replacing(" | |", with: " |"), row.replacing(" | |", with: "")] {
      #expect(findings(bad, test).contains { $0.contains("this row is not a rule") }, "\(bad)")
    }
  }

  @Test(arguments: [
    ("30 s", "30.0", []), ("30 days", "2_592_000", []), ("30 min", "1800", []), ("30 KiB", "30_720", []),
    ("30 %", "0.3", []), ("30 MiB", "30 << 20", []), ("1,024 bytes", "1_024", []), (".5 of it", "0.5", []),
    ("1 or 0", "2", []), ("version 1.10.3", "", []), ("the 128th", "", []), ("RFC 9113 and SAMPLE-01", "", []),
    ("`a 7`", "", []), ("-30", "-30", []), ("a range to 30", "1...30", []),
    ("30 s", "31", ["30"]), ("30", "UInt30", ["30"]), ("30 and 31", "30", ["31"]), ("3.5", "3", ["3.5"]),
  ])
  func `a number of a statement is found in a linked test in each spelling`(
    statement: String, test: String, missing: [String]
  ) {
    let page = Self.page.replacing("A while.", with: statement)
    let links = SourceFile("Tests/Sample.swift", Self.test.replacing("2 }", with: "\(test) }")).ruleLinks
    let findings = FidelityPages([("sample.md", page)]).unnamedNumbers(links, exceptions: [:]).map(\.advice)
    #expect(findings.count == missing.count && zip(findings, missing).allSatisfy { $0.contains("contains \($1);") })
  }

  @Test func `a number without a test needs a reason, and each reason a number`() {
    let pages = FidelityPages([("sample.md", Self.page.replacing("A while.", with: "30 s, or the default of 1 s."))])
    let links = SourceFile("Tests/Sample.swift", Self.test).ruleLinks
    #expect(pages.unnamedNumbers(links, exceptions: ["SAMPLE-01 30": "a reason"]) == [])
    let unused = pages.unnamedNumbers(links, exceptions: ["SAMPLE-01 30": "a reason", "SAMPLE-01 5": "none"])
    #expect(unused.map(\.advice) == ["the exception SAMPLE-01 5 is not needed; remove it"])
  }

  @Test func `settings without a rule or a test and links without a rule are rejected`() {
    let pages = FidelityPages([("sample.md", Self.page)])
    let links = SourceFile("Tests/Sample.swift", Self.test).ruleLinks
    let other = pages.findings(links: links, settings: ["delay", "patience"]).map(\.advice)
    #expect(other == ["no rule names the setting patience"])
    let untried = findings(Self.page, Self.test.replacing("delay", with: "delays"))
    #expect(untried == ["SAMPLE-01: no linked test sets delay; link one, or write 'Tests: one value: ' and the reason"])
    let unknown = findings(Self.page, Self.test + "\n@Test(.rule()) func b() {}\n@Test(.rule(\"B-01\")) func c() {}")
    #expect(unknown == ["this trait names no rule", "the rule B-01 does not exist"])
  }

  @Test func `rule links are read from attributes of several lines and not from strings`() {
    let file = SourceFile(
      "Tests/Sample.swift",
      """
      @Suite struct A {
        let quotes = #\"\"\"\"#
        @Test(
          .rule("A-01", "A-02"),
          arguments: [1]
        )
        func `a {`(b: Int) {
          c {
            d()
          }
        }
        @Test func e() { f(".rule(\\"A-03\\")") }
        @Test(.rule("A-04"))
        @MainActor func g() { h() }
      }
      """)
    #expect(file.ruleLinks.map(\.ids) == [["A-01", "A-02"], ["A-04"]])
    #expect(file.ruleLinks.map(\.line) == [4, 13])
    #expect(file.ruleLinks.map { $0.text.split(separator: "\n").count } == [9, 2])
  }

  @Test func `a mention of an unknown rule id is rejected`() {
    let pages = FidelityPages([("sample.md", Self.page)])
    #expect(pages.unknownIDs(in: "SAMPLE-01 and UTF-16", at: "a.md") == [])
    #expect(pages.unknownIDs(in: "\nSAMPLE-01, SAMPLE-07", at: "a.md").map(\.line) == [2])
  }
}
