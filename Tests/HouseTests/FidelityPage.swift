import Foundation

/// `Documentation/fidelity.md`: the rows of its tables that name tests.
struct FidelityPage {
  /// A row, by the names of its columns.
  struct Row {
    var line: Int
    var cells: [String: String]

    subscript(_ column: String) -> String { cells[column] ?? "" }
    var isBuilt: Bool { !cells.values.contains { $0.contains("**not built**") } }
  }

  static let path = "Documentation/fidelity.md"
  let rows: [Row]

  init(_ text: String) {
    var rows: [Row] = []
    var header: [String]?
    for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)) {
      guard line.hasPrefix("|") else {
        header = nil
        continue
      }
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
        .map { String($0).trimmed }
      guard let columns = header else {
        header = cells
        continue
      }
      guard columns.contains("test"), cells.contains(where: { !$0.allSatisfy { $0 == "-" } }) else { continue }
      rows.append(Row(line: number, cells: Dictionary(zip(columns, cells)) { first, _ in first }))
    }
    self.rows = rows
  }

  /// What breaks the page's own promises.
  ///
  /// - Parameters:
  ///   - tests: the names of all test functions.
  ///   - settings: the keys that `widgetlab.yaml` may have below `settings`.
  func findings(tests: Set<String>, settings: Set<String>) -> [Finding] {
    var advice: [(Int, String)] = []
    var named: Set<String> = []
    for row in rows {
      for name in row["test"].quoted where !tests.contains(name) {
        advice.append((row.line, "there is no test `\(name)`; name a function of Tests as it is written there"))
      }
      if row.isBuilt, row["test"].quoted.isEmpty, !row["test"].isNone {
        advice.append((row.line, "no test holds the rule: name one, or write `none: ` and why"))
      }
      for key in row["setting"].quoted where !settings.contains(key) && !key.hasPrefix("widgetlab ") {
        advice.append((row.line, "\(key) is no key of widgetlab.yaml"))
      }
      named.formUnion(row["setting"].quoted)
      let source = row["source"]
      if row.isBuilt, source.isEmpty { advice.append((row.line, "nobody says so: documented, observed or ours?")) }
      let isChosen = source.hasPhrase("ours") || source.hasPhrase("observed")
      let hasColumn = row.cells.keys.contains("setting")
      if row.isBuilt, isChosen, hasColumn, row["setting"].quoted.isEmpty, !row["setting"].isNone {
        advice.append((row.line, "no setting turns what is \(source): name one, or write `none: ` and why"))
      }
    }
    for key in settings.subtracting(named).sorted() {
      advice.append((1, "no row names the setting \(key)"))
    }
    return advice.map { Finding(path: FidelityPage.path, line: $0.0, advice: $0.1) }
  }
}

extension String {
  /// What stands between backquotes.
  var quoted: [String] {
    split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { !$0.offset.isMultiple(of: 2) }
      .map { String($0.element) }
  }

  /// Whether a cell says that there is nothing, and why.
  fileprivate var isNone: Bool { hasPrefix("none: ") && count > "none: ".count }
}

extension SourceFile {
  /// The functions that have a sentence for a name, as tests have.
  var sentences: [String] {
    lines.compactMap { line in
      line.range(of: "func `").flatMap { line[$0.upperBound...].split(separator: "`").first.map(String.init) }
    }
  }

  /// The keys that the reader of a type takes from `widgetlab.yaml`.
  func keys(of type: String) -> [String] {
    let begin = lines.firstIndex { $0 == "extension \(type) {" } ?? lines.endIndex
    let end = lines[begin...].firstIndex { $0 == "}" } ?? lines.endIndex
    return lines[begin..<end].compactMap { line in
      guard line.contains("try reader."), let open = line.range(of: "(\"") else { return nil }
      return line[open.upperBound...].split(separator: "\"").first.map(String.init)
    }
  }
}
