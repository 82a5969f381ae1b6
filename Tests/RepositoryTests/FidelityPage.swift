// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A rule of `Documentation/fidelity`: a heading of level 3, a text and a list of fields; or a row of a table.
struct FidelityRule {
  var id: String
  var path: String
  var line: Int
  /// The sentence of its heading or row, and the text that follows.
  var statement = ""
  /// The fields of the list by their names.
  var fields: [String: String] = [:]

  /// The part of the id before its number.
  var prefix: String { String(id.prefix { $0 != "-" }) }
  var source: [String] { (fields["Source"] ?? "").split(separator: ";").map { String($0).trimmed } }
  /// The keys and commands that change the behaviour.
  var settings: [String] { hasReason("Setting", "none") ? [] : (fields["Setting"] ?? "").quoted }
  var isUntested: Bool { hasReason("Tests", "none") }
  /// Whether the tests use only one value of its settings, for a stated reason.
  var isTriedOnce: Bool { hasReason("Tests", "one value") }

  /// Whether the field has this word and a reason after it.
  func hasReason(_ field: String, _ word: String) -> Bool {
    (fields[field] ?? "").hasPrefix(word + ": ")
  }
}

/// A test function or a suite with the trait `.rule("…")`.
struct RuleLink {
  var ids: [String]
  var path: String
  var line: Int
  /// The text from its attribute to its closing brace.
  var text: String
}

/// The pages of `Documentation/fidelity`, without the index.
struct FidelityPages {
  static let folder = "Documentation/fidelity"
  static let index = "Documentation/fidelity/README.md"

  /// The text with which a test sets the property or argument behind a key, by the key.
  static let properties = [
    "activityTokenNeedsConsent": "tokensNeedConsent", "advancePatience": "patience",
    "archiveDepth": "ArchiveLimits(depth", "archiveLimit": "ArchiveLimits(bytes",
    "callDeadline": "Stage(rules: .waiting", "crashBackoffFirst": "Backoff(first", "crashBackoffMax": "Backoff(first",
    "entryLimit": "ArchiveLimits(entries", "extensionMemoryLimit": "memoryLimit",
    "imageAreaLimit": "ArchiveLimits(imageArea", "journalRate": "JournalRateLimiter(rate",
    "timelineBackoffFirst": "Backoff(first", "timelineBackoffMax": "Backoff(first",
  ]

  private(set) var rules: [FidelityRule] = []
  /// Headings and fields that do not have the form that the index describes.
  private(set) var malformed: [Finding] = []

  init(_ pages: [(path: String, text: String)]) {
    for page in pages { read(page.path, page.text) }
  }

  private mutating func read(_ path: String, _ text: String) {
    var field: String?
    var isInStatement = false
    for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)) {
      if line.hasPrefix("#") { isInStatement = false }
      if line.hasPrefix("### ") {
        field = nil
        if let match = line.wholeMatch(of: /### ([A-Z]+-[0-9]{2}): (.+)/) {
          rules.append(FidelityRule(id: String(match.1), path: path, line: number, statement: String(match.2)))
          isInStatement = true
        } else {
          let advice = "this heading is not a rule; write '### TOPIC-01: ' and a sentence"
          malformed.append(Finding(path: path, line: number, advice: advice))
        }
      } else if line.hasPrefix("| ") {
        field = nil
        readRow(path, number: number, line: line)
      } else if let match = line.wholeMatch(of: /- ([A-Z][a-z]+):\s*(.*)/), !rules.isEmpty {
        field = String(match.1)
        isInStatement = false
        rules[rules.count - 1].fields[String(match.1)] = String(match.2).trimmed
        if !["Rules", "Setting", "Source", "Tests"].contains(match.1) {
          malformed.append(Finding(path: path, line: number, advice: "\(match.1) is not a field of a rule"))
        }
      } else if line.hasPrefix("  "), let field {
        rules[rules.count - 1].fields[field]? += " " + String(line).trimmed
      } else {
        field = nil
        if isInStatement { rules[rules.count - 1].statement += " " + line }
      }
    }
  }

  /// Reads a row of a table of requirements: the id, the section of RFC 9113 or another one, the sentence, a remark.
  private mutating func readRow(_ path: String, number: Int, line: Substring) {
    let cells = line.split(separator: "|").map { String($0).trimmed }
    guard let id = cells.first, id.wholeMatch(of: /[A-Z]+-[0-9]{2}/) != nil else { return }
    guard cells.count == 4, !cells[1].isEmpty, !cells[2].isEmpty, line.hasSuffix("|") else {
      let advice = "this row is not a rule; write an id, a section, a sentence and a remark or nothing"
      return malformed.append(Finding(path: path, line: number, advice: advice))
    }
    let source = cells[1].hasPrefix("RFC ") ? cells[1] : "RFC 9113, section \(cells[1])"
    var rule = FidelityRule(id: id, path: path, line: number, statement: cells[2], fields: ["Source": source])
    if cells[3].hasPrefix("none: ") { rule.fields["Tests"] = cells[3] }
    rules.append(rule)
  }

  /// All violations of what the index promises.
  ///
  /// - Parameters:
  ///   - links: all links of the tests.
  ///   - settings: the keys that `widgetlab.yaml` may have below `settings` and `pushServer`.
  func findings(links: [RuleLink], settings: Set<String>) -> [Finding] {
    malformed + identity() + rules.flatMap { form(of: $0, settings) } + untested(links) + untried(links, settings)
  }

  /// Duplicate ids, pages with several prefixes, and prefixes on several pages.
  private func identity() -> [Finding] {
    var seen: Set<String> = []
    return rules.compactMap { rule in
      let isNew = seen.insert(rule.id).inserted
      let isAlone = rules.allSatisfy { ($0.path == rule.path) == ($0.prefix == rule.prefix) }
      if isNew && isAlone { return nil }
      return rule.finding(isNew ? "each page must have one prefix, and each prefix one page" : "this id is used twice")
    }
  }

  private func form(of rule: FidelityRule, _ settings: Set<String>) -> [Finding] {
    var advice: [String] = []
    if rule.source.isEmpty { advice.append("the rule has no source; add documented, observed or ours") }
    for part in rule.source where !["documented", "observed", "ours", "RFC "].contains(where: part.hasPrefix) {
      advice.append("'\(part)' is not a source; begin with documented, observed, ours or RFC")
    }
    for part in rule.source where part.hasPrefix("documented") {
      guard part.wholeMatch(of: /documented[^:]*: \S.*/) == nil else { continue }
      advice.append("'\(part)' names no page; write 'documented: ' and the page, declaration or header")
    }
    for key in rule.settings where !settings.contains(key) && !key.hasPrefix("widgetlab ") {
      advice.append("\(key) is not a key of widgetlab.yaml")
    }
    let isChosen = rule.source.contains { $0.hasPrefix("ours") || $0.hasPrefix("observed") }
    let isExplained = rule.hasReason("Setting", "none") || rule.fields["Rules"]?.isEmpty == false
    if isChosen, rule.settings.isEmpty, !isExplained {
      advice.append(
        "the rule is ours or observed but has no setting; name one, or write 'Setting: none: ' and the reason")
    }
    if rule.fields["Tests"] != nil, !rule.isUntested, !rule.isTriedOnce {
      advice.append("the field Tests needs a reason; write 'Tests: none: ' or 'Tests: one value: ' and the reason")
    }
    return advice.map(rule.finding)
  }

  /// Links without a rule, and rules without a link.
  private func untested(_ links: [RuleLink]) -> [Finding] {
    let knownIDs = Set(rules.map(\.id))
    let linked = Set(links.flatMap(\.ids))
    var findings: [Finding] = []
    for link in links {
      for id in link.ids where !knownIDs.contains(id) {
        findings.append(Finding(path: link.path, line: link.line, advice: "the rule \(id) does not exist"))
      }
      if link.ids.isEmpty {
        findings.append(Finding(path: link.path, line: link.line, advice: "this trait names no rule"))
      }
    }
    for rule in rules where linked.contains(rule.id) == rule.isUntested {
      let advice =
        "no test is linked to this rule; add .rule(\"\(rule.id)\") to a test, or write 'Tests: none: ' and the reason"
      findings.append(
        rule.finding(rule.isUntested ? "the field Tests is none, but a test is linked to this rule" : advice))
    }
    return findings
  }

  /// Settings that no rule names, or that no linked test changes.
  private func untried(_ links: [RuleLink], _ settings: Set<String>) -> [Finding] {
    settings.sorted().compactMap { key in
      let naming = rules.filter { $0.settings.contains(key) }
      guard let first = naming.first else {
        return Finding(path: Self.index, line: 1, advice: "no rule names the setting \(key)")
      }
      let ids = Set(naming.map(\.id))
      let isTried = links.contains { link in
        !ids.isDisjoint(with: link.ids)
          && (link.text.hasPhrase(key) || Self.properties[key].map { link.text.hasPhrase($0) } == true)
      }
      if isTried || naming.contains(where: \.isTriedOnce) { return nil }
      return first.finding("no linked test sets \(key); link one, or write 'Tests: one value: ' and the reason")
    }
  }

  /// Ids in a text that belong to no rule.
  func unknownIDs(in text: String, at path: String) -> [Finding] {
    let prefixes = Set(rules.map(\.prefix))
    let known = Set(rules.map(\.id))
    return zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)).flatMap { number, line in
      line.matches(of: /\b([A-Z]+)-[0-9]{2}\b/)
        .filter { prefixes.contains(String($0.1)) && !known.contains(String($0.0)) }
        .map { Finding(path: path, line: number, advice: "the rule \($0.0) does not exist") }
    }
  }
}

extension FidelityRule {
  fileprivate func finding(_ advice: String) -> Finding { Finding(path: path, line: line, advice: "\(id): \(advice)") }
}

extension String {
  /// The parts between backquotes.
  var quoted: [String] {
    split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { !$0.offset.isMultiple(of: 2) }
      .map { String($0.element) }
  }
}

extension SourceFile {
  /// The links of the tests in this file, read from its text.
  var ruleLinks: [RuleLink] {
    code.indices.filter { code[$0].contains(".rule(") }.map { index in
      let start = code[...index].lastIndex { $0.contains("@Test") || $0.contains("@Suite") } ?? index
      let rest = lines[index...].prefix(10).joined(separator: " ")
      let arguments = rest.range(of: ".rule(").map { rest[$0.upperBound...].prefix { $0 != ")" } } ?? ""
      let ids = arguments.matches(of: /"([^"]*)"/).map { String($0.1) }
      let text = lines[start...endOfDeclaration(from: index)].joined(separator: "\n")
      return RuleLink(ids: ids, path: path, line: index + 1, text: text)
    }
  }

  /// The line of the brace that closes the function or type that begins on this line or after it.
  private func endOfDeclaration(from index: Int) -> Int {
    let last = lines.count - 1
    guard let head = code[index...].firstIndex(where: { $0.hasPhrase("func") || $0.hasPhrase("struct") }) else {
      return last
    }
    if code[head].trimmed.hasSuffix("}") { return head }
    let brace = code[head].prefix { $0 == " " } + "}"
    return code[head...].firstIndex { $0.hasPrefix(brace) } ?? last
  }

  /// The keys of `widgetlab.yaml` in the table of a type.
  func keys(of type: String) -> [String] {
    let heads = ["extension \(type) {", "extension \(type): SettingsPart {"]
    let begin = lines.firstIndex { heads.contains($0) } ?? lines.endIndex
    let end = lines[begin...].firstIndex { $0 == "}" } ?? lines.endIndex
    return lines[begin..<end].compactMap { line in line.firstMatch(of: /"(\w+)", \\\./).map { String($0.1) } }
  }
}
