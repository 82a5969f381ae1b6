import Foundation

/// What Package.swift says of our targets, read from its text: asking SwiftPM would take its lock in the middle of a test run.
struct Manifest {
  struct Target {
    /// The words of the manifest that make a target. `target` itself is for C, which the settings of `room` do not fit,
    /// and `macro` for what the compiler runs.
    enum Kind: String { case room, process, tests, systemLibrary, target, macro }

    var kind: Kind
    var name: String
    /// The folder below `Sources`, or `Tests`.
    var wing: String
    /// The targets of ours that it depends on.
    var targets: [String] = []
    /// The products of other packages that it depends on; each is named like its module.
    var products: [String] = []
    /// Where it stands in Package.swift.
    var line: Int

    var folder: String {
      kind == .tests ? "Tests/\(name)" : "Sources/\(wing)/\(name)"
    }
  }

  static let path = "Package.swift"

  private(set) var targets: [String: Target] = [:]
  private(set) var upcomingFeatures: [(name: String, line: Int)] = []
  /// What this reader did not understand, which is an error and not a gap in the check.
  private(set) var unread: [Finding] = []

  init(_ text: String) {
    // Comments are blanked by hand and strings are kept, since the names stand in strings.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.drop { $0 == " " }.starts(with: "//") ? "" : String(line)
    }
    let text = lines.joined(separator: "\n")
    let products = Dictionary(
      text.matches(of: /let (\w+): Target\.Dependency = \.product\(\s*name: "(\w+)"/)
        .map { (String($0.1), String($0.2)) }, uniquingKeysWith: { $1 })
    upcomingFeatures = text.matches(of: /enableUpcomingFeature\("(\w+)"\)/).map { match in
      (String(match.1), Self.line(of: match.range.lowerBound, in: text))
    }
    for match in text.matches(of: /(func )?\.?\b(room|process|tests|systemLibrary|target|macro)\(/)
    // `.process(…)` is a resource's rule, and no target.
    where match.1 == nil && !match.0.hasPrefix(".process")
      && !text[match.range.upperBound...].trimmingPrefix(/\s+/).starts(with: "name: name")
    {
      guard let kind = Target.Kind(rawValue: String(match.2)) else { continue }
      let line = Self.line(of: match.range.lowerBound, in: text)
      read(Self.inside(text[match.range.upperBound...]), kind, line: line, products)
    }
  }

  private static func line(of index: String.Index, in text: String) -> Int {
    text[..<index].count { $0 == "\n" } + 1
  }

  /// Up to the parenthesis that closes the one before the text.
  private static func inside(_ text: Substring) -> Substring {
    var depth = 1
    return text.prefix { character in
      depth += character == "(" ? 1 : character == ")" ? -1 : 0
      return depth > 0
    }
  }

  private mutating func read(_ call: Substring, _ kind: Target.Kind, line: Int, _ products: [String: String]) {
    guard let name = call.firstMatch(of: /"(\w+)"/)?.1 else { return unread(line, String(call.prefix(40))) }
    let wing = call.firstMatch(of: /in: "(\w+)"/)?.1 ?? call.firstMatch(of: /path: "Sources\/(\w+)\//)?.1
    var target = Target(kind: kind, name: String(name), wing: kind == .tests ? "Tests" : String(wing ?? ""), line: line)
    if kind != .systemLibrary, let list = call.firstMatch(of: /\[([^\]]*)\]/)?.1 {
      for entry in list.split(separator: ",").map({ String($0).trimmingCharacters(in: .whitespacesAndNewlines) })
      where !entry.isEmpty {
        if let ours = entry.wholeMatch(of: /"(\w+)"/)?.1 {
          target.targets.append(String(ours))
        } else if let product = products[entry] {
          target.products.append(product)
        } else {
          unread(line, entry)
        }
      }
    }
    targets[target.name] = target
  }

  private mutating func unread(_ line: Int, _ what: String) {
    unread.append(
      Finding(
        path: Self.path, line: line,
        advice: """
          '\(what)' is not understood; name targets in quotes and products by a constant \
          `let x: Target.Dependency = .product(name:package:)`, or teach Tests/HouseTests/Manifest.swift
          """))
  }

  /// Everything that a target brings with it: targets of ours and products of others.
  func closure(of name: String) -> (targets: Set<String>, products: Set<String>) {
    var seen: Set<String> = []
    var products: Set<String> = []
    var open = [name]
    while let next = open.popLast() {
      guard seen.insert(next).inserted, let target = targets[next] else { continue }
      products.formUnion(target.products)
      open += target.targets
    }
    return (seen, products)
  }
}

/// The import table of Documentation/architecture.md.
enum ImportTable {
  /// Libraries in the wing of the processes that every process and the trials may share.
  static let shared: Set<String> = ["Cluster"]
  /// The executable that breaks processes on purpose.
  static let breaker = "Faults"
  /// The target without code that names the executables of the demo.
  static let demo = "DemoExecutables"
  /// The one room that the other rooms, and the push server, stand on.
  static let ground = "Timekeeping"
  /// What comes with Swift and may be imported by anyone.
  static let system: Set<String> = [
    "CoreFoundation", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Observation", "RegexBuilder", "Swift",
    "Synchronization", "Testing",
  ]
  /// Names that other packages ask `canImport` for, and change their behaviour.
  static let forbiddenModules: Set<String> = ["Combine", "CoreGraphics", "OSLog", "os"]
  /// What must not be linked into an author's process, which has to start in milliseconds.
  static let serverStack = ["AsyncHTTPClient", "GRDB", "Hummingbird", "JWTKit", "NIO", "X509"]

  /// Why `target` may not import `other`, or nil when it may.
  static func objection(_ target: Manifest.Target, imports other: Manifest.Target) -> String? {
    if target.name == other.name || other.kind == .systemLibrary && target.wing == other.wing { return nil }
    if other.kind == .tests { return "nobody imports a test target" }
    if other.kind == .process {
      if target.name == demo { return nil }
      let advice = "nobody imports a process; start \(other.name) as an executable"
      guard target.kind == .tests else { return advice }
      return advice
        + ", or test a library that a \(other.name)Main starts: the flags of a static link break the tests' own"
    }
    if other.wing == "Processes", !shared.contains(other.name) {
      let allowed = [other.name + "Main", other.name + "Tests", breaker]
      return allowed.contains(target.name) ? nil : "only \(allowed.joined(separator: ", ")) may import \(other.name)"
    }
    let allowed: Bool
    switch target.wing {
    case "Bus": allowed = other.wing == "Bus"
    case "Authoring": allowed = ["Authoring", "Bus"].contains(other.wing)
    case "Device": allowed = other.wing == "Bus" || other.name == ground
    case "Push": allowed = ["Bus", "Push"].contains(other.wing) || other.name == ground
    case "Processes": allowed = ["Bus", "Device", "Processes", "Push"].contains(other.wing)
    case "CaffeineTracker": allowed = other.wing == "Authoring" && target.name != "ProviderServer"
    case "Trial", "Tests": allowed = true
    default: return "the wing '\(target.wing)' is not in the import table"
    }
    return allowed ? nil : "\(target.wing) may not import \(other.name) of \(other.wing)"
  }

  /// What the manifest's dependencies break.
  static func findings(in manifest: Manifest) -> [Finding] {
    var findings = manifest.unread
    for target in manifest.targets.values.sorted(by: { $0.line < $1.line }) {
      func object(_ advice: String) {
        findings.append(Finding(path: Manifest.path, line: target.line, advice: "\(target.name): \(advice)"))
      }
      if forbiddenModules.contains(target.name) { object("no module may have this name; choose another") }
      for name in target.targets {
        guard let other = manifest.targets[name] else {
          object("depends on \(name), which is no target of ours")
          continue
        }
        if let objection = objection(target, imports: other) { object(objection + " (Documentation/architecture.md)") }
      }
      let isAuthored = target.wing == "CaffeineTracker" && target.name != "ProviderServer"
      if isAuthored, let product = target.products.first { object("the sample needs only Authoring; drop \(product)") }
      if target.wing == "Authoring" || isAuthored {
        let carried = manifest.closure(of: target.name).products.filter { product in
          serverStack.contains { product.hasPrefix($0) }
        }
        for product in carried.sorted() { object("carries \(product); an author's process links no server stack") }
      }
    }
    return findings
  }

  /// What the import lines of one file break, given the target that the file belongs to.
  static func findings(in file: SourceFile, of target: Manifest.Target, _ manifest: Manifest) -> [Finding] {
    file.findings(in: file.code) { line in
      guard let module = importedModule(line), !system.contains(module), module != target.name else { return nil }
      if ["FoundationNetworking", "XCTest"].contains(module) { return nil }  // SourceRules has its own words for these
      guard let other = manifest.targets[module] else {
        return target.products.contains(module)
          ? nil : "imports \(module), which \(target.name) does not declare; add its product in Package.swift"
      }
      if let objection = objection(target, imports: other) { return objection + " (Documentation/architecture.md)" }
      return target.targets.contains(module)
        ? nil : "imports \(module); add it to the dependencies of \(target.name) in Package.swift"
    }
  }

  /// The module that a line of code imports, whatever stands before the word `import`.
  static func importedModule(_ line: String) -> String? {
    guard line.hasPhrase("import"), !line.isIndented else { return nil }
    let words = line.identifiers
    guard let position = words.firstIndex(of: "import") else { return nil }
    let kinds: Set<Substring> = ["class", "enum", "func", "let", "protocol", "struct", "typealias", "var"]
    return words[(position + 1)...].first { !kinds.contains($0) }.map(String.init)
  }
}
