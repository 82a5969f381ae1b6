// SPDX-License-Identifier: Apache-2.0

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
