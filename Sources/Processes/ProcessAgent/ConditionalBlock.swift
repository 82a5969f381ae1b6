// SPDX-License-Identifier: Apache-2.0

/// A block of a Swift source file that is compiled for a phone and not for Linux, because of its `#if`, `#elseif` or
/// `#else`.
///
/// Source: *The Swift Programming Language*, Conditional Compilation Block.
struct ConditionalBlock: Equatable {
  /// The line of the directive, from 1.
  let line: Int
  /// The directive as it is written, such as `#if os(iOS)`.
  let directive: String

  /// Finds the outermost blocks that are left out in `source`.
  ///
  /// Conditions other than the platform and `canImport` of Apple's frameworks may be true or false. A chain with a branch
  /// for Linux is not reported, because its author knows about the difference.
  ///
  /// - Parameter modules: the names of the modules that are imported here although Apple's system has them.
  static func leftOut(of source: String, modules: Set<String> = []) -> [ConditionalBlock] {
    var finder = LeftOutBlockFinder(modules: modules)
    for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      finder.read(line, number: index + 1)
    }
    return finder.found.sorted { $0.line < $1.line }
  }
}

/// Reads a source file line by line.
private struct LeftOutBlockFinder {
  /// An `#if` with the branches that were read.
  private struct Chain {
    var isForLinux = false
    /// Whether a former branch is compiled.
    var before = PlatformCondition.Values(here: false, phone: false)
    var isLeftOut = false
    var directive: ConditionalBlock
    var hasCode = false
    var found: [ConditionalBlock] = []
  }

  let modules: Set<String>
  private(set) var found: [ConditionalBlock] = []
  private var chains: [Chain] = []
  private var isInText = false
  private var commentDepth = 0

  init(modules: Set<String>) { self.modules = modules }

  mutating func read(_ line: Substring, number: Int) {
    let code = codeOf(line)
    let trimmed = code.drop { $0 == " " || $0 == "\t" }
    let word = trimmed.prefix { $0 == "#" || $0.isLetter }
    let condition = trimmed.dropFirst(word.count)
    var directive: ConditionalBlock {
      ConditionalBlock(line: number, directive: String(trimmed.trimmingSuffix { $0.isWhitespace }))
    }
    switch word {
    case "#if":
      chains.append(Chain(directive: directive))
      begin(condition, directive)
    case "#elseif":
      endBranch()
      begin(condition, directive)
    case "#else":
      endBranch()
      begin("true", directive)
    case "#endif":
      endBranch()
      guard let chain = chains.popLast(), !chain.isForLinux else { return }
      // An outer block that is left out contains these.
      if chains.isEmpty { found += chain.found } else { chains[chains.count - 1].found += chain.found }
    default:
      guard !trimmed.allSatisfy(\.isWhitespace) else { return }
      for index in chains.indices { chains[index].hasCode = true }
    }
  }

  private mutating func begin(_ condition: Substring, _ directive: ConditionalBlock) {
    guard let last = chains.indices.last else { return }
    let condition = PlatformCondition(condition, modules: modules)
    let values = condition.values
    let before = chains[last].before
    let here = Kleene.and(Kleene.not(before.here), values.here)
    let phone = Kleene.and(Kleene.not(before.phone), values.phone)
    chains[last].isForLinux = chains[last].isForLinux || condition.namesLinux
    chains[last].isLeftOut = here == false && phone != false
    chains[last].before = PlatformCondition.Values(
      here: Kleene.or(before.here, values.here), phone: Kleene.or(before.phone, values.phone))
    chains[last].directive = directive
    chains[last].hasCode = false
  }

  private mutating func endBranch() {
    guard let last = chains.indices.last, chains[last].isLeftOut, chains[last].hasCode else { return }
    let directive = chains[last].directive
    chains[last].found.removeAll { $0.line > directive.line }
    chains[last].found.append(directive)
  }

  /// The line without comments, and empty within a text of several lines.
  private mutating func codeOf(_ line: Substring) -> Substring {
    var code = ""
    var rest = line
    while !rest.isEmpty {
      if isInText {
        guard let end = rest.firstRange(of: #"""""#) else { return code[...] }
        isInText = false
        rest = rest[end.upperBound...]
      } else if commentDepth > 0 {
        commentDepth += rest.hasPrefix("/*") ? 1 : rest.hasPrefix("*/") ? -1 : 0
        rest = rest.dropFirst(rest.hasPrefix("/*") || rest.hasPrefix("*/") ? 2 : 1)
      } else if rest.hasPrefix("//") {
        return code[...]
      } else if rest.hasPrefix("/*") {
        commentDepth = 1
        rest = rest.dropFirst(2)
      } else if rest.hasPrefix(#"""""#) {
        isInText = true
        code.append("\"")
        rest = rest.dropFirst(3)
      } else {
        code.append(rest.removeFirst())
      }
    }
    return code[...]
  }
}

extension Substring {
  fileprivate func trimmingSuffix(while isLeftOut: (Character) -> Bool) -> Substring {
    var rest = self
    while let last = rest.last, isLeftOut(last) { rest.removeLast() }
    return rest
  }
}
