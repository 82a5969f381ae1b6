// SPDX-License-Identifier: Apache-2.0

import Foundation

extension SourceRules {
  /// A place where a task has no owner.
  struct UnownedTasks {
    var path: String
    /// The number of such tasks in the file.
    var count: Int
    var reason: String
  }

  static let unownedTaskLimit = 10

  /// The tasks that nothing can own. The list may only become shorter: an entry that names more tasks than the file has
  /// is a finding.
  static let unownedTasks = [
    UnownedTasks(
      path: "Sources/SDK/URLSessionAPI/InlineRun.swift", count: 1,
      reason: "runs an asynchronous method of the author's delegate, which ends when the author's code returns"),
    UnownedTasks(
      path: "Sources/SDK/UIKit/UIApplicationDelegate.swift", count: 1,
      reason: "runs the asynchronous form of an author's method, and calls the completion handler of the other form"),
    UnownedTasks(
      path: "Sources/SDK/UserNotifications/UNUserNotificationCenter.swift", count: 1,
      reason: "runs the asynchronous form of an author's method, and calls the completion handler of the other form"),
    UnownedTasks(
      path: "Sources/SDK/WidgetKit/AppIntentConfiguration.swift", count: 1,
      reason: "runs an author's provider, which ends when the author's code returns; the host limits the time"),
    UnownedTasks(
      path: "Sources/SDK/WidgetKit/ControlSource.swift", count: 1,
      reason: "runs an author's provider, which ends when the author's code returns; the host limits the time"),
    UnownedTasks(
      path: "Sources/Processes/ProcessAgent/Agent.swift", count: 1,
      reason: "waits until the connection has taken a child's output, and ends at the latest with the connection"),
  ]

  /// Every task is owned: a value keeps it, which cancels and awaits it. Samples and fixtures are authors' code.
  static func ownedTasks(_ file: SourceFile) -> [Finding] {
    guard file.path.hasPrefix("Sources/"),
      !["Sources/Samples/", "Sources/Testing/Fixture"].contains(where: file.path.hasPrefix)
    else { return [] }
    let lines = TaskReader(file.code).lines
    let allowed = unownedTasks.first { $0.path == file.path }?.count ?? 0
    guard lines.count != allowed else { return [] }
    guard lines.count > allowed else {
      let advice =
        "\(lines.count) tasks without an owner, and the list of TaskRule.swift has \(allowed): shorten the list"
      return [Finding(path: file.path, line: 1, advice: advice)]
    }
    return lines.map {
      Finding(
        path: file.path, line: $0,
        advice: "a task without an owner; start it with a TaskOwner, or keep it in a property and await its end")
    }
  }
}

/// Finds the statements of a file that start a task and drop it.
struct TaskReader {
  /// The lines on which such a statement begins.
  private(set) var lines: [Int] = []
  private let code: [Character]

  /// - Parameter lines: the lines without comments and strings.
  init(_ code: [String]) {
    guard code.contains(where: \.namesTask) else {
      self.code = []
      return
    }
    self.code = Array(code.joined(separator: "\n"))
    let name = Array("Task")
    var line = 1
    for index in self.code.indices {
      if self.code[index] == "\n" { line += 1 }
      guard self.code[index...].starts(with: name), startsTask(at: index), isDropped(at: index) else { continue }
      lines.append(line)
    }
  }

  /// Whether an expression that starts a task begins here, and not a type or a longer name.
  private func startsTask(at index: Int) -> Bool {
    if index > 0, code[index - 1].isNamePart || code[index - 1] == "." { return false }
    let rest = String(code[index...].prefix(40))
    return rest.prefixMatch(of: /Task(\.detached|\.immediate)?\s*[({]/) != nil
  }

  /// Whether the expression is a whole statement, so that nothing keeps its value. The last expression of a function or
  /// closure counts as one: a returned task needs the word `return`.
  private func isDropped(at index: Int) -> Bool {
    let before = code[..<index]
    guard let last = before.lastIndex(where: { !$0.isWhitespace }) else { return true }
    let isNewLine = before[last...].contains("\n")
    switch code[last] {
    case "=": return String(before[...last].suffix(8)).contains(/\b_ =$/)
    case ":": return isLabel(at: last)
    case ",", "(", "[", "?", "&", "|", ".", ">", "<": return false
    case let character where character.isNamePart:
      let word = before[...last].reversed().prefix { $0.isNamePart }.reversed()
      return isNewLine || !["return", "await", "try"].contains(String(word))
    default: return true
    }
  }

  /// Whether the colon ends a label of a `switch`.
  private func isLabel(at colon: Int) -> Bool {
    let begin = code[..<colon].lastIndex(of: "\n").map { $0 + 1 } ?? 0
    let words = String(code[begin..<colon]).identifiers
    return words.first == "case" || words.first == "default"
  }
}

extension Character {
  fileprivate var isNamePart: Bool { isLetter || isNumber || self == "_" }
}

extension String {
  /// Whether the text contains `Task`, also within a longer name. Faster than a search for characters.
  fileprivate var namesTask: Bool {
    let name = Array("Task".utf8)
    var found = 0
    for byte in utf8 {
      found = byte == name[found] ? found + 1 : byte == name[0] ? 1 : 0
      if found == name.count { return true }
    }
    return false
  }
}
