import Foundation

/// The rules that every Swift file of Sources and Tests keeps. Each takes a file and returns what breaks it.
enum SourceRules {
  typealias Rule = @Sendable (SourceFile) -> [Finding]

  static let lineLimit = 400
  static let functionLimit = 70

  /// Every rule under the name that a failure is reported with.
  static let all: [(name: String, rule: Rule)] = [
    ("files are short", shortFiles),
    ("functions are short", shortFunctions),
    ("nothing is put off", nothingPutOff),
    ("no banned calls", noBannedCalls),
    ("no banned imports", noBannedImports),
    ("what is missing fails by name", missingFailsByName),
    ("types say what they are", tellingNames),
    ("what is unsafe gives its reason", reasonsGiven),
    ("declarations for others are documented", documented),
    ("asynchronous tests have a time limit", timeLimited),
  ]

  static func shortFiles(_ file: SourceFile) -> [Finding] {
    guard file.lines.count > lineLimit else { return [] }
    let advice = "\(file.lines.count) lines, and \(lineLimit) is the limit; cut the file along its concerns"
    return [Finding(path: file.path, line: lineLimit + 1, advice: advice)]
  }

  static func shortFunctions(_ file: SourceFile) -> [Finding] {
    file.code.indices.compactMap { start in
      guard let end = endOfFunction(startingAt: start, in: file.code), end - start + 1 >= functionLimit else {
        return nil
      }
      let advice = "a function of \(end - start + 1) lines; \(functionLimit - 1) is the limit: give its parts names"
      return Finding(path: file.path, line: start + 1, advice: advice)
    }
  }

  /// The index of the line with the brace that closes the function beginning on this line; nil when none begins here or it
  /// has no body.
  private static func endOfFunction(startingAt start: Int, in code: [String]) -> Int? {
    let words = code[start].identifiers
    guard words.contains("func") || words.contains("deinit") || isInitializer(code[start]) else { return nil }
    var braces = 0
    var parentheses = 0
    for index in start..<code.count {
      let begins =
        index > start && code[index].identifiers.contains { ["func", "init", "var", "let", "case"].contains($0) }
      if begins, braces == 0, parentheses == 0 { return nil }
      for character in code[index] {
        switch character {
        case "(", "[": parentheses += 1
        case ")", "]": parentheses -= 1
        case "{" where braces > 0 || parentheses == 0: braces += 1
        case "}" where braces > 0:
          braces -= 1
          if braces == 0 { return index }
        case "}" where parentheses == 0: return nil
        default: break
        }
      }
    }
    return nil
  }

  private static func isInitializer(_ line: String) -> Bool {
    let modifiers: Set<Substring> = [
      "package", "public", "private", "fileprivate", "convenience", "required", "override", "nonisolated",
    ]
    let words = line.identifiers.drop { modifiers.contains($0) }
    return words.first == "init" && ["init(", "init?(", "init<"].contains { line.contains($0) }
      && !line.contains(".init")
  }

  static func nothingPutOff(_ file: SourceFile) -> [Finding] {
    file.findings(in: file.prose) { line in
      ["TODO", "FIXME", "XXX", "HACK"].first { line.hasPhrase($0) }
        .map { "\($0): do it now, or open an issue and say there what is missing" }
    }
  }

  private static let bannedCalls = [
    ("Thread.sleep", "await the event that you wait for"),
    ("usleep", "await the event that you wait for"),
    ("nanosleep", "await the event that you wait for"),
    ("sleep(", "await the event that you wait for"),
    ("try!", "throw the error on, or handle it"),
    ("as!", "ask with `as?` and say what happens otherwise"),
    ("@unchecked Sendable", "make it an actor or a value, or hold its state in a Mutex"),
  ]

  static func noBannedCalls(_ file: SourceFile) -> [Finding] {
    file.findings(in: file.code) { line in
      bannedCalls.first { call, _ in line.hasPhrase(call, notAfter: ".") && !line.contains("func \(call)") }
        .map { "\($0): \($1)" }
    }
  }

  private static let bannedImports = [
    "FoundationNetworking": "it needs libcurl in every process; URLSession is ours, and servers use AsyncHTTPClient",
    "XCTest": "tests are Swift Testing's, and scripts/test runs no other",
  ]

  static func noBannedImports(_ file: SourceFile) -> [Finding] {
    // In an author's target it is another name for our own module: the manifest says so.
    let isAuthored = file.path.hasPrefix("Sources/Trial/TrialExtension/")
    return file.findings(in: file.code) { line in
      ImportTable.importedModule(line).flatMap { module in
        isAuthored && module == "FoundationNetworking" ? nil : bannedImports[module].map { "import \(module): \($0)" }
      }
    }
  }

  /// A stub has to fail with the name of what is missing, and a stub that says so does not come into main at all.
  static func missingFailsByName(_ file: SourceFile) -> [Finding] {
    zip(file.code, file.lines).enumerated().compactMap { index, views in
      guard views.0.hasPhrase("fatalError(") || views.0.hasPhrase("preconditionFailure(") else { return nil }
      let words = views.1.lowercased()
      let isStub = ["unimplemented", "not implemented", "notimplemented", "not yet"].contains { words.contains($0) }
      let isMute = views.0.contains("fatalError()") || views.0.contains("preconditionFailure()")
      guard isStub || isMute else { return nil }
      let advice =
        isStub
        ? "an unfinished function; finish it, or leave it out so that its use does not compile"
        : "say what was found and what was expected"
      return Finding(path: file.path, line: index + 1, advice: advice)
    }
  }

  private static let emptyNames: Set<String> = [
    "Common", "Harness", "Helper", "Helpers", "Manager", "Managers", "Util", "Utils", "Utilities", "Utility",
  ]

  static func tellingNames(_ file: SourceFile) -> [Finding] {
    let keywords: Set<Substring> = ["actor", "class", "enum", "protocol", "struct", "typealias"]
    let stem = file.path.split(separator: "/").last?.split(separator: ".").first.map(String.init) ?? ""
    let inPath = emptyWord(in: stem).map {
      [Finding(path: file.path, line: 1, advice: "a file named \($0) may hold anything; name it after what it does")]
    }
    return (inPath ?? [])
      + file.findings(in: file.code) { line in
        let words = line.identifiers
        return zip(words, words.dropFirst()).lazy.filter { keywords.contains($0.0) }
          .compactMap { emptyWord(in: String($0.1)) }.first
          .map { "a type named \($0) may hold anything; name it after what it does" }
      }
  }

  /// The word of a name in camel case that says nothing.
  private static func emptyWord(in name: String) -> String? {
    name.split(separator: /(?=[A-Z])/).map(String.init).first { emptyNames.contains($0) }
  }

  static func reasonsGiven(_ file: SourceFile) -> [Finding] {
    zip(1..., file.code).compactMap { number, line in
      guard !file.hasComment(at: number) else { return nil }
      if line.contains("nonisolated(unsafe)") {
        let advice = "nonisolated(unsafe): say on the line or the one before why no two threads can meet here"
        return Finding(path: file.path, line: number, advice: advice)
      }
      if file.path.hasPrefix("Tests/"), line.hasPhrase("Task.sleep") {
        let advice =
          "Task.sleep in a test: await the event; if time itself is tested, say so on the line or the one before"
        return Finding(path: file.path, line: number, advice: advice)
      }
      return nil
    }
  }

  /// Top-level `package` and `public` declarations have a doc comment, with at most attributes between.
  static func documented(_ file: SourceFile) -> [Finding] {
    let exempt: Set<Substring> = ["extension", "import"]
    return zip(1..., file.code).compactMap { number, line in
      let words = line.identifiers
      guard !line.isIndented, line.hasPrefix("@") || line.hasPrefix("p") || line.hasPrefix("o"),
        words.contains(where: { ["open", "package", "public"].contains($0) }), !words.contains(where: exempt.contains)
      else { return nil }
      let above = file.lines[..<(number - 1)].last { !$0.hasPrefix("@") && !$0.hasPrefix("#if") && !$0.hasPrefix(")") }
      if above?.hasPrefix("///") == true { return nil }
      return Finding(
        path: file.path, line: number, advice: "other targets use this; say above it in `///` what it does")
    }
  }
}

/// The rules about the tree and not about one Swift file.
enum TreeRules {
  /// Folders that exist on one machine only, and so may stand in no file.
  private static let machinePaths = ["work", "root", "opt/swift"].map { "/" + $0 }

  /// Names of this machine in a file of any kind.
  static func noMachinePaths(_ path: String, _ text: String) -> [Finding] {
    guard machinePaths.contains(where: text.contains) else { return [] }
    return zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)).compactMap { number, line in
      let words = line.split { " \t\"'`=:,;()[]{}<>".contains($0) }
      let found = machinePaths.first { path in
        words.contains { $0 == path || $0.hasPrefix(path + "/") || path.count > 5 && $0.hasPrefix(path) }
      }
      return found.map {
        Finding(path: path, line: number, advice: "\($0) is a folder of one machine; derive it or make it a setting")
      }
    }
  }

  /// Every target is introduced, by its name in backticks, on the page that a newcomer reads first.
  static func introduced(_ manifest: Manifest, architecture: String, at path: String) -> [Finding] {
    manifest.targets.values.filter { $0.kind != .tests && !architecture.contains("`\($0.name)`") }
      .sorted { $0.line < $1.line }
      .map {
        Finding(path: Manifest.path, line: $0.line, advice: "\(path) has no sentence about `\($0.name)`; write one")
      }
  }

  /// Folders and targets are one to one; `folders` are those of Sources/*/ and Tests/ that hold something.
  static func housed(_ manifest: Manifest, folders: Set<String>) -> [Finding] {
    let homeless = manifest.targets.values.filter { !folders.contains($0.folder) }.sorted { $0.line < $1.line }
      .map { Finding(path: Manifest.path, line: $0.line, advice: "\($0.name) has no folder \($0.folder); add it") }
    let unknown = folders.subtracting(manifest.targets.values.map(\.folder)).sorted()
      .map { Finding(path: $0, line: 1, advice: "is no target of \(Manifest.path); declare it there, or delete it") }
    return homeless + unknown
  }

  /// A feature that the compiler does not know is passed over in silence; so it is asked.
  static func known(_ manifest: Manifest, supported: Set<String>) -> [Finding] {
    manifest.upcomingFeatures.filter { !supported.contains($0.name) }
      .map { Finding(path: Manifest.path, line: $0.line, advice: "this compiler knows no feature \($0.name); drop it") }
  }

  /// A library whose type is named like it cannot be named in full any more.
  static func noTypeLikeItsModule(_ file: SourceFile, _ target: Manifest.Target) -> [Finding] {
    guard target.kind == .room else { return [] }
    let keywords: Set<Substring> = ["actor", "class", "enum", "protocol", "struct", "typealias"]
    return file.findings(in: file.code) { line in
      let words = line.identifiers
      guard !line.isIndented,
        zip(words, words.dropFirst()).contains(where: { keywords.contains($0) && $1 == target.name })
      else { return nil }
      return "a type named like its module hides the module; rename it"
    }
  }

  /// Files that git may not follow.
  static func untracked(_ tracked: [String]) -> [Finding] {
    tracked.filter { $0 == "Package.resolved" || $0.hasPrefix(".build") || $0.hasPrefix(".widgetlab/") }
      .map { Finding(path: $0, line: 1, advice: "belongs to one machine; git rm --cached it") }
  }
}
