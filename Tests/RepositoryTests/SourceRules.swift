// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The rules that every Swift file of Sources and Tests obeys. Each takes a file and returns its violations.
enum SourceRules {
  typealias Rule = @Sendable (SourceFile) -> [Finding]

  /// Longer files and functions are reported, for a reader who looks for what to divide.
  static let longFile = 900
  static let longFunction = 70

  /// Every rule with the name that a failure prints.
  static let all: [(name: String, rule: Rule)] = [
    ("no postponed work", nothingPutOff),
    ("no banned calls", noBannedCalls),
    ("no banned imports", noBannedImports),
    ("no stubs, and every trap has a message", missingFailsByName),
    ("names of types and files are specific", tellingNames),
    ("unsafe code and sleeping tests give a reason", reasonsGiven),
    ("package and public declarations are documented", documented),
    ("asynchronous tests have a time limit", timeLimited),
    ("a time limit ends every wait of a test", endingWaits),
    ("no wait ends when a clock is set", monotonicWaits),
    ("every task has an owner", ownedTasks),
    ("production code has no mistakes on purpose", noMistakesOnPurpose),
    ("equal events give equal steps", equalSteps),
  ]

  /// What the device decides depends on its state, the event and the time that it is given. Foundation has clocks, files and
  /// random numbers, and a dictionary another order in each process.
  static func equalSteps(_ file: SourceFile) -> [Finding] {
    let folders = ["Sources/APNs/PushRules/", "Sources/Device/DeviceRules/", "Sources/Proof/ModelChecking/Simulation/"]
    guard folders.contains(where: file.path.hasPrefix) else { return [] }
    let banned = [
      "Date()", "Date.now", "Clock.now", "UUID()", ".random(", "FileManager", "ProcessInfo", "TimeZone.current",
      "Locale.current", "Calendar.current", "Mutex", "await ", "Task {", "getenv(",
    ]
    let unsorted = [".keys.flatMap", ".values.flatMap", ".all.flatMap"]
    return file.code.indices.compactMap { index in
      let line = file.code[index]
      if let word = banned.first(where: line.contains) {
        return Finding(
          path: file.path, line: index + 1, advice: "\(word) is no part of the state: it comes with the event")
      }
      guard unsorted.contains(where: line.contains) else { return nil }
      return Finding(path: file.path, line: index + 1, advice: "a dictionary has no order: sort before actions follow")
    }
  }

  /// A production executable cannot make a mistake of `PlantedFault`: its code does not name it.
  static func noMistakesOnPurpose(_ file: SourceFile) -> [Finding] {
    guard file.path.hasPrefix("Sources/"), !file.path.hasPrefix("Sources/Testing/") else { return [] }
    return file.findings(in: file.lines) { line in
      line.identifiers.contains { $0.hasPrefix("PlantedFault") }
        ? "only Sources/Testing makes mistakes on purpose: replace a part of the process in Faults" : nil
    }
  }

  /// Dispatch and Foundation wait for a time of the wall clock on Linux. Such a wait ends at once when that clock, or the
  /// clock of a device, is set forward.
  static func monotonicWaits(_ file: SourceFile) -> [Finding] {
    guard !file.path.hasPrefix("Sources/Testing/") else { return [] }
    // A test has its own time limit.
    let calls = [".wait(wallTimeout:", ".wait(until: Date"] + (file.path.hasPrefix("Tests/") ? [] : [".wait(timeout:"])
    return file.code.indices.filter { line in
      calls.contains { file.code[line].contains($0) }
    }.map { Finding(path: file.path, line: $0 + 1, advice: "use a MonotonicSemaphore") }
  }

  /// Long files and functions: advice, not a violation.
  static func long(_ file: SourceFile) -> [Finding] {
    var findings: [Finding] = []
    if file.lines.count > longFile {
      findings.append(Finding(path: file.path, line: 1, advice: "a file of \(file.lines.count) lines"))
    }
    for start in file.code.indices {
      guard let end = endOfFunction(startingAt: start, in: file.code), end - start + 1 >= longFunction else { continue }
      findings.append(Finding(path: file.path, line: start + 1, advice: "a function of \(end - start + 1) lines"))
    }
    return findings
  }

  /// The index of the line with the closing brace of the function that begins on this line. Nil if none begins here or
  /// the function has no body.
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
        .map { "\($0): finish the work, or describe it in an issue" }
    }
  }

  private static let bannedCalls = [
    ("Thread.sleep", "await the event instead"),
    ("usleep", "await the event instead"),
    ("nanosleep", "await the event instead"),
    ("sleep(", "await the event instead"),
    ("try!", "propagate the error, or handle it"),
    ("as!", "use `as?` and handle the failure"),
    ("@unchecked Sendable", "use an actor or a value type, or keep the state in a Mutex"),
  ]

  static func noBannedCalls(_ file: SourceFile) -> [Finding] {
    file.findings(in: file.code) { line in
      bannedCalls.first { call, _ in line.hasPhrase(call, notAfter: ".") && !line.contains("func \(call)") }
        .map { "\($0): \($1)" }
    }
  }

  private static let bannedImports = [
    "FoundationNetworking": "it needs libcurl in every process; use our URLSession, or AsyncHTTPClient in a server",
    "XCTest": "use Swift Testing; scripts/test runs no other tests",
  ]

  static func noBannedImports(_ file: SourceFile) -> [Finding] {
    // In an author's target the manifest makes it an alias of our own module.
    let isAuthored = file.path.hasPrefix("Sources/Testing/FixtureExtension/")
    return file.findings(in: file.code) { line in
      ImportTable.importedModule(line).flatMap { module in
        isAuthored && module == "FoundationNetworking" ? nil : bannedImports[module].map { "import \(module): \($0)" }
      }
    }
  }

  /// No stubs, and no trap without a message.
  static func missingFailsByName(_ file: SourceFile) -> [Finding] {
    zip(file.code, file.lines).enumerated().compactMap { index, views in
      guard views.0.hasPhrase("fatalError(") || views.0.hasPhrase("preconditionFailure(") else { return nil }
      let words = views.1.lowercased()
      let isStub = ["unimplemented", "not implemented", "notimplemented", "not yet"].contains { words.contains($0) }
      let isMute = views.0.contains("fatalError()") || views.0.contains("preconditionFailure()")
      guard isStub || isMute else { return nil }
      let advice =
        isStub
        ? "an unfinished function; finish it, or remove it so that its use does not compile"
        : "a trap without a message; state what was found and what was expected"
      return Finding(path: file.path, line: index + 1, advice: advice)
    }
  }

  private static let emptyNames: Set<String> = [
    "Common", "Harness", "Helper", "Helpers", "Manager", "Managers", "Util", "Utils", "Utilities", "Utility",
  ]

  /// Apple's names, which the SDK mirrors.
  private static let namesOfApple: Set<Substring> = [
    "AVAudioCommonFormat", "AlarmManager", "AppDependencyManager", "CLLocationManager", "CLLocationManagerDelegate",
    "CTFontManagerError", "CTFontManagerScope",
  ]

  static func tellingNames(_ file: SourceFile) -> [Finding] {
    let keywords: Set<Substring> = ["actor", "class", "enum", "protocol", "struct", "typealias"]
    let stem = file.path.split(separator: "/").last?.split(separator: ".").first.map(String.init) ?? ""
    let inPath = emptyWord(in: stem).map {
      [
        Finding(
          path: file.path, line: 1,
          advice: "\($0) in the name of a file is not specific; name the file after its purpose")
      ]
    }
    return (inPath ?? [])
      + file.findings(in: file.code) { line in
        let words = line.identifiers
        return zip(words, words.dropFirst()).lazy.filter { keywords.contains($0.0) && !namesOfApple.contains($0.1) }
          .compactMap { emptyWord(in: String($0.1)) }.first
          .map { "\($0) in the name of a type is not specific; name the type after its purpose" }
      }
  }

  /// The first word of a camel-case name that is not specific.
  private static func emptyWord(in name: String) -> String? {
    name.split(separator: /(?=[A-Z])/).map(String.init).first { emptyNames.contains($0) }
  }

  static func reasonsGiven(_ file: SourceFile) -> [Finding] {
    zip(1..., file.code).compactMap { number, line in
      guard !file.hasComment(at: number) else { return nil }
      if line.contains("nonisolated(unsafe)") {
        let advice = "nonisolated(unsafe): explain on this line or the line before why there is no data race"
        return Finding(path: file.path, line: number, advice: advice)
      }
      if file.path.hasPrefix("Tests/"), line.hasPhrase("Task.sleep") {
        let advice =
          "Task.sleep in a test: await the event; if the test needs the time, say why on this line or the one before"
        return Finding(path: file.path, line: number, advice: advice)
      }
      return nil
    }
  }

  /// Top-level `package` and `public` declarations have a doc comment, with at most attributes between. Public
  /// declarations of Sources/SDK are exempt: they mirror Apple's API. Its .swift-format turns off the same rule.
  static func documented(_ file: SourceFile) -> [Finding] {
    let levels: Set<Substring> =
      file.path.hasPrefix("Sources/SDK/") ? ["package"] : ["open", "package", "public"]
    let exempt: Set<Substring> = ["extension", "import"]
    return zip(1..., file.code).compactMap { number, line in
      let words = line.identifiers
      guard !line.isIndented, line.hasPrefix("@") || line.hasPrefix("p") || line.hasPrefix("o"),
        words.contains(where: levels.contains), !words.contains(where: exempt.contains)
      else { return nil }
      let above = file.lines[..<(number - 1)].last { !$0.hasPrefix("@") && !$0.hasPrefix("#if") && !$0.hasPrefix(")") }
      if above?.hasPrefix("///") == true { return nil }
      return Finding(
        path: file.path, line: number, advice: "other targets use this declaration; describe it in a `///` comment")
    }
  }
}

/// The rules for the whole repository.
enum TreeRules {
  /// Folders that exist on one machine only and must not occur in any file.
  private static let machinePaths = ["work", "root", "opt/swift"].map { "/" + $0 }

  /// Paths of one machine in a file of any kind.
  static func noMachinePaths(_ path: String, _ text: String) -> [Finding] {
    guard machinePaths.contains(where: text.contains) else { return [] }
    return zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)).compactMap { number, line in
      let words = line.split { " \t\"'`=:,;()[]{}<>".contains($0) }
      let foundPath = machinePaths.first { path in
        words.contains { $0 == path || $0.hasPrefix(path + "/") || path.count > 5 && $0.hasPrefix(path) }
      }
      return foundPath.map {
        Finding(
          path: path, line: number, advice: "\($0) exists on one machine only; derive the path or make it a setting")
      }
    }
  }

  /// The architecture page mentions every target by its name in backquotes.
  static func introduced(_ manifest: Manifest, architecture: String, at path: String) -> [Finding] {
    manifest.targets.values.filter { $0.kind != .tests && !architecture.contains("`\($0.name)`") }
      .sorted { $0.line < $1.line }
      .map {
        Finding(path: Manifest.path, line: $0.line, advice: "\(path) does not mention `\($0.name)`; describe it there")
      }
  }

  /// Each target has a folder, and each folder a target. `folders` are the non-empty ones of Sources/*/ and Tests/.
  static func housed(_ manifest: Manifest, folders: Set<String>) -> [Finding] {
    let homeless = manifest.targets.values.filter { !folders.contains($0.folder) }.sorted { $0.line < $1.line }
      .map { Finding(path: Manifest.path, line: $0.line, advice: "\($0.name) has no folder \($0.folder); create it") }
    let unknown = folders.subtracting(manifest.targets.values.map(\.folder)).sorted()
      .map {
        Finding(
          path: $0, line: 1, advice: "this folder is not a target of \(Manifest.path); declare it there, or delete it")
      }
    return homeless + unknown
  }

  /// The upcoming features that the compiler does not support. The compiler ignores unknown features without a warning.
  static func known(_ manifest: Manifest, supported: Set<String>) -> [Finding] {
    manifest.upcomingFeatures.filter { !supported.contains($0.name) }
      .map {
        Finding(
          path: Manifest.path, line: $0.line, advice: "this compiler does not support the feature \($0.name); remove it"
        )
      }
  }

  /// A type with the name of its module. It makes qualified names of the module impossible.
  static func noTypeLikeItsModule(_ file: SourceFile, _ target: Manifest.Target) -> [Finding] {
    guard target.kind == .module else { return [] }
    let keywords: Set<Substring> = ["actor", "class", "enum", "protocol", "struct", "typealias"]
    return file.findings(in: file.code) { line in
      let words = line.identifiers
      guard !line.isIndented,
        zip(words, words.dropFirst()).contains(where: { keywords.contains($0) && $1 == target.name })
      else { return nil }
      return "a type with the name of its module hides the module; rename it"
    }
  }

  /// What a build or a failed test leaves.
  private static let leftovers = [".tar", ".o", ".swiftdoc", ".swiftmodule", ".swiftsourceinfo", ".profraw"]

  /// Tracked files that git must not track.
  static func untracked(_ tracked: [String]) -> [Finding] {
    tracked.filter { path in
      path == "Package.resolved" || path.hasPrefix(".build") || path.hasPrefix(".widgetlab/")
        || leftovers.contains(where: path.hasSuffix)
    }
    .map { Finding(path: $0, line: 1, advice: "this file belongs to one machine; run `git rm --cached` on it") }
  }
}
