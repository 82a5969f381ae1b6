// SPDX-License-Identifier: Apache-2.0

import Foundation

extension SourceRules {
  /// An asynchronous test that waits for a lost event fails at its time limit and does not block the other tests.
  static func timeLimited(_ file: SourceFile) -> [Finding] {
    guard file.path.hasPrefix("Tests/"), file.code.contains(where: { $0.contains("@Test") }) else { return [] }
    var reader = TestReader(file.code)
    reader.run()
    let unlimited = reader.tests.filter { $0.isAsync && !$0.isLimited }.map {
      Finding(
        path: file.path, line: $0.line,
        advice: "an asynchronous test without a time limit; add the trait .timeLimit(.minutes(1)) to its suite")
    }
    let marks = file.code.joined(separator: "\n").ranges(of: "@Test").count
    guard marks != reader.tests.count else { return unlimited }
    let advice = "@Test occurs \(marks) times, but \(reader.tests.count) test functions were found; simplify them"
    return unlimited + [Finding(path: file.path, line: 1, advice: advice)]
  }
}

/// Finds the test functions of a file and whether they have a time limit.
private struct TestReader {
  struct Test {
    /// The line of the brace that opens its body.
    var line: Int
    var isAsync: Bool
    var isLimited: Bool
  }

  private let code: String
  private(set) var tests: [Test] = []
  /// The text since the last brace.
  private var head = ""
  /// For each open brace, whether a time limit applies within it.
  private var limits: [Bool] = []
  private var parentheses = 0
  private var line = 1
  private var isQuoted = false

  /// - Parameter lines: the lines without comments and strings.
  init(_ lines: [String]) { code = lines.joined(separator: "\n") }

  mutating func run() {
    for character in code {
      if character == "\n" { line += 1 }
      // A name in backquotes may contain braces.
      if character == "`" { isQuoted.toggle() }
      guard !isQuoted else { continue }
      switch character {
      case "(", "[": parentheses += 1
      case ")", "]": parentheses -= 1
      case "{" where parentheses == 0:
        begin()
        continue
      case "}" where parentheses == 0:
        _ = limits.popLast()
        head = ""
        continue
      default: break
      }
      head.append(character)
    }
  }

  private mutating func begin() {
    let isLimited = limits.last == true || head.contains(".timeLimit(")
    if let mark = head.range(of: "@Test") {
      let words = String(head[mark.upperBound...]).identifiers
      tests.append(Test(line: line, isAsync: words.contains("async"), isLimited: isLimited))
    }
    limits.append(isLimited)
    head = ""
  }
}
