// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The files of an author's project. Paths are absolute and have no `..`.
package protocol ProjectFiles: Sendable {
  /// The content of a file; `nil` when it cannot be read.
  func contents(_ path: String) -> Data?
  /// The names in a folder, sorted; `nil` when it is not a folder.
  func entries(of folder: String) -> [String]?
  /// The path without symbolic links.
  func resolved(_ path: String) -> String
}

extension ProjectFiles {
  func text(_ path: String) -> String? { contents(path).map { String(decoding: $0, as: UTF8.self) } }

  func isFolder(_ path: String) -> Bool { entries(of: path) != nil }

  /// Whether there is a file or a folder.
  func exists(_ path: String) -> Bool { isFolder(path) || contents(path) != nil }

  /// The keys of a property list in any format; `nil` when it is not one.
  func propertyList(_ path: String) -> [String: Any]? {
    guard let data = contents(path), data.count < 1 << 24 else { return nil }
    return (try? PropertyListSerialization.propertyList(from: data, format: nil)) as? [String: Any]
  }
}

/// The files of this machine.
package struct FilesOnDisk: ProjectFiles {
  package init() {}

  package func contents(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

  package func entries(of folder: String) -> [String]? {
    (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted()
  }

  package func resolved(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
}

/// Why a project cannot be used at all. What only a part of it lacks is a `ProjectNote`.
package struct ProjectError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  package enum Code: String, Sendable {
    case notFound = "not-found"
    case damaged
    case ambiguous
    /// A manifest of Tuist has to run first; the error's path names it.
    case unevaluated
    case noWidget = "no-widget"
  }

  package let code: Code
  package let what: String
  /// The file or the folder.
  package let path: String
  /// What the author can do.
  package let advice: String?

  init(_ code: Code, _ what: String, at path: String, advice: String? = nil) {
    self.code = code
    self.what = what
    self.path = path
    self.advice = advice
  }

  package var description: String { "\(path): \(what)" }
}

/// What a package of WidgetLab leaves out of a project, or replaces, with the reason.
package struct ProjectNote: Hashable, Sendable {
  /// The file, the module, the setting or the target.
  package let subject: String
  package let reason: String

  package init(_ subject: String, _ reason: String) {
    self.subject = subject
    self.reason = reason
  }
}

/// Computes with paths as texts, without a file system.
enum FilePath {
  /// An absolute path without `.`, `..` and double slashes.
  static func absolute(_ path: String, in folder: String) -> String {
    var parts: [Substring] = []
    let whole = path.hasPrefix("/") ? path : folder + "/" + path
    for part in whole.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  static func folder(_ path: String) -> String {
    let parts = path.split(separator: "/").dropLast()
    return "/" + parts.joined(separator: "/")
  }

  /// The text after the last dot of the name; empty without one.
  static func ending(_ path: String) -> String {
    let name = name(path)
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
    return String(name[name.index(after: dot)...]).lowercased()
  }

  /// The path without its last ending.
  static func stem(_ path: String) -> String {
    let name = name(path)
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
    return String(name[..<dot])
  }

  /// The folder that contains all paths.
  static func common(_ paths: [String]) -> String {
    guard var shared = paths.first.map({ folder($0).split(separator: "/") }) else { return "/" }
    for path in paths.dropFirst() {
      let other = folder(path).split(separator: "/")
      shared = zip(shared, other).prefix { $0 == $1 }.map(\.0)
    }
    return "/" + shared.joined(separator: "/")
  }

  /// The path from a folder to a file, with `..`.
  package static func relative(_ path: String, to folder: String) -> String {
    let (target, base) = (path.split(separator: "/"), folder.split(separator: "/"))
    let shared = zip(target, base).prefix { $0 == $1 }.count
    let up = Array(repeating: "..", count: base.count - shared)
    let rest = target.dropFirst(shared).map(String.init)
    return up.isEmpty && rest.isEmpty ? "." : (up + rest).joined(separator: "/")
  }
}

/// A pattern of paths: `*`, `?`, `[a-z]` and `{a,b}` within a part of a path, and `**` for any number of parts.
///
/// Source: Bash, *Pattern Matching*, with `globstar`.
struct GlobPattern {
  /// The alternatives of `{a,b}`, each as its parts.
  private let alternatives: [[[Character]]]
  /// The most alternatives.
  private static let most = 256

  init(_ pattern: String) {
    alternatives = Self.expand(pattern).map { text in
      text.split(separator: "/").filter { $0 != "." }.map(Array.init)
    }
  }

  /// Whether a relative path matches, or is in a folder that matches.
  func matches(_ path: String) -> Bool {
    let parts = path.split(separator: "/").map(Array.init)
    return alternatives.contains { pattern in
      (1...max(parts.count, 1)).contains { Self.matches(Array(parts.prefix($0)), pattern) }
    }
  }

  private static func expand(_ pattern: String) -> [String] {
    var done: [String] = []
    var open = [pattern]
    while let text = open.popLast(), done.count + open.count < most {
      guard let end = text.firstIndex(of: "}"), let start = text[..<end].lastIndex(of: "{") else {
        done.append(text)
        continue
      }
      let choices = text[text.index(after: start)..<end].split(separator: ",", omittingEmptySubsequences: false)
      open += choices.map { "\(text[..<start])\($0)\(text[text.index(after: end)...])" }
    }
    return done
  }

  /// Compares from part to part, with the set of patterns' positions that are reached.
  private static func matches(_ parts: [[Character]], _ pattern: [[Character]]) -> Bool {
    func closure(_ states: Set<Int>) -> Set<Int> {
      var result = states
      var queue = Array(states)
      while let state = queue.popLast() {
        guard state < pattern.count, pattern[state] == ["*", "*"], result.insert(state + 1).inserted else { continue }
        queue.append(state + 1)
      }
      return result
    }
    var states = closure([0])
    for part in parts {
      var next: Set<Int> = []
      for state in states where state < pattern.count {
        if pattern[state] == ["*", "*"] {
          next.insert(state)
        } else if matches(part[...], pattern[state][...]) {
          next.insert(state + 1)
        }
      }
      states = closure(next)
    }
    return states.contains(pattern.count)
  }

  private static func matches(_ name: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
    var (name, pattern) = (name, pattern)
    /// The last `*`: what follows it, and where it was tried.
    var star: (pattern: ArraySlice<Character>, name: ArraySlice<Character>)?
    while true {
      if let first = pattern.first, first == "*" {
        pattern = pattern.dropFirst()
        star = (pattern, name)
      } else if let character = name.first, let length = match(character, pattern) {
        name = name.dropFirst()
        pattern = pattern.dropFirst(length)
      } else if name.isEmpty, pattern.isEmpty {
        return true
      } else if let last = star, !last.name.isEmpty {
        star = (last.pattern, last.name.dropFirst())
        (pattern, name) = (last.pattern, last.name.dropFirst())
      } else {
        return false
      }
    }
  }

  /// - Returns: the length of the pattern's first element if it matches a character.
  private static func match(_ character: Character, _ pattern: ArraySlice<Character>) -> Int? {
    guard let first = pattern.first else { return nil }
    if first == "[", let end = pattern.dropFirst(2).firstIndex(of: "]") {
      var set = pattern[(pattern.startIndex + 1)..<end]
      let isNegated = set.first == "!" || set.first == "^"
      if isNegated { set = set.dropFirst() }
      var isIn = false
      while let lower = set.popFirst() {
        if set.first == "-", let upper = set.dropFirst().first {
          isIn = isIn || lower <= character && character <= upper
          set = set.dropFirst(2)
        } else {
          isIn = isIn || lower == character
        }
      }
      return isIn != isNegated ? end - pattern.startIndex + 1 : nil
    }
    return first == "?" || first == character ? 1 : nil
  }
}
