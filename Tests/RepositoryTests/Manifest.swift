// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The targets of Package.swift, read from its text. Running SwiftPM would take the package lock during a test run.
struct Manifest {
  struct Target {
    /// The functions of the manifest that declare a target. `target` is for C, to which the settings of `module` do not
    /// apply, and `macro` for compiler plugins.
    enum Kind: String { case module, process, tests, systemLibrary, target, macro }

    var kind: Kind
    var name: String
    /// The folder below `Sources`, or `Tests`.
    var layer: String
    /// The targets of this package that it depends on.
    var targets: [String] = []
    /// The products of other packages that it depends on. Each has the name of its module.
    var products: [String] = []
    /// Its line in Package.swift.
    var line: Int

    var folder: String {
      kind == .tests ? "Tests/\(name)" : "Sources/\(layer)/\(name)"
    }
  }

  static let path = "Package.swift"

  private(set) var targets: [String: Target] = [:]
  /// The libraries, each with the name of the module that authors import.
  private(set) var libraries: Set<String> = []
  private(set) var upcomingFeatures: [(name: String, line: Int)] = []
  /// The parts that this reader does not understand. They are errors, so that the check has no gap.
  private(set) var unread: [Finding] = []

  init(_ text: String) {
    // Comments are blanked here and strings are kept, because the names are in strings.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.drop { $0 == " " }.starts(with: "//") ? "" : String(line)
    }
    let text = lines.joined(separator: "\n")
    let products = Dictionary(
      text.matches(of: /let (\w+): Target\.Dependency = \.product\(\s*name: "(\w+)"/)
        .map { (String($0.1), String($0.2)) }, uniquingKeysWith: { $1 })
    libraries = Set(text.matches(of: /\.library\(name: "(\w+)"/).map { String($0.1) })
    upcomingFeatures = text.matches(of: /enableUpcomingFeature\("(\w+)"\)/).map { match in
      (String(match.1), Self.line(of: match.range.lowerBound, in: text))
    }
    for match in text.matches(of: /(func )?\.?\b(module|process|tests|systemLibrary|target|macro)\(/)
    // `.process(…)` is a resource rule and not a target.
    where match.1 == nil && !match.0.hasPrefix(".process")
      && !text[match.range.upperBound...].trimmingPrefix(/\s+/).starts(with: "name: name")
    {
      guard let kind = Target.Kind(rawValue: String(match.2)) else { continue }
      let line = Self.line(of: match.range.lowerBound, in: text)
      read(Self.inside(text[match.range.upperBound...]), kind: kind, line: line, products: products)
    }
  }

  private static func line(of index: String.Index, in text: String) -> Int {
    text[..<index].count { $0 == "\n" } + 1
  }

  /// The text up to the parenthesis that closes the one before it.
  private static func inside(_ text: Substring) -> Substring {
    var depth = 1
    return text.prefix { character in
      depth += character == "(" ? 1 : character == ")" ? -1 : 0
      return depth > 0
    }
  }

  private mutating func read(_ call: Substring, kind: Target.Kind, line: Int, products: [String: String]) {
    guard let name = call.firstMatch(of: /"(\w+)"/)?.1 else { return unread(line, String(call.prefix(40))) }
    let layer = call.firstMatch(of: /in: "(\w+)"/)?.1 ?? call.firstMatch(of: /path: "Sources\/(\w+)\//)?.1
    var target = Target(
      kind: kind, name: String(name), layer: kind == .tests ? "Tests" : String(layer ?? ""), line: line)
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
          '\(what)' is not understood; write targets in quotes and products as a constant \
          `let x: Target.Dependency = .product(name:package:)`, or extend Tests/RepositoryTests/Manifest.swift
          """))
  }

  /// All direct and indirect dependencies of a target: targets of this package and products of other packages.
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
  /// Libraries in the layer of the processes that every process and the fixtures may import.
  static let shared: Set<String> = ["Cluster", "StandingProcesses"]
  /// The executable that breaks processes on purpose.
  static let breaker = "Faults"
  /// The target without code that names the executables of the demo.
  static let demo = "DemoExecutables"
  /// Test doubles of production modules, and mistakes on purpose. Only test targets and `Faults` may import them.
  static let testDoubles: Set<String> = ["BusTesting"]
  /// What the device decides by, and the modules without I/O that it may import.
  static let rules = "DeviceRules"
  /// What the push server decides by.
  static let pushRules = "PushRules"
  static let values: Set<String> = ["Archive", "Messages"]
  /// Modules of the Swift toolchain and the system, which every target may import.
  static let system: Set<String> = [
    "CoreFoundation", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Observation", "RegexBuilder", "Swift",
    "Synchronization", "Testing",
  ]
  /// ICU of the Swift runtime. The underscore marks it as internal, so one target imports it, in one file.
  static let icu = (module: "_FoundationICU", target: "Layout")
  /// The tool, whose tests have a target; those of the other processes have one together. Only the tool reads projects.
  static let tool = "WidgetLab"
  static let projects = "AuthorProjects"
  static let testsOfProcesses = "ProcessesTests"
  /// Module names that other packages test with `canImport` and that change their behaviour.
  static let forbiddenModules: Set<String> = ["Combine", "CoreGraphics", "Network", "OSLog", "Security", "os"]
  /// Products that must not be linked into an author's process, which has to start in milliseconds.
  static let serverStack = ["AsyncHTTPClient", "GRDB", "Hummingbird", "JWTKit", "NIO", "X509"]

  /// Why `target` may not import `other`, or nil when it may.
  static func objection(_ target: Manifest.Target, imports other: Manifest.Target) -> String? {
    if target.name == other.name || other.kind == .systemLibrary && target.layer == other.layer { return nil }
    if other.kind == .tests { return "a test target may not be imported" }
    if testDoubles.contains(other.name), target.kind != .tests, target.name != breaker {
      return "only a test target may import \(other.name)"
    }
    if other.kind == .process {
      if target.name == demo { return nil }
      let advice = "a process may not be imported; start \(other.name) as an executable"
      guard target.kind == .tests else { return advice }
      return advice
        + ", or move its code to a library and test that: the flags of a static link do not fit a test bundle"
    }
    if other.layer == "Processes", !shared.contains(other.name) {
      let allowed: [String] =
        switch other.name {
        case projects: [tool, tool + "Tests"]
        case tool: [tool + "Main", tool + "Tests", breaker]
        default: [other.name + "Main", testsOfProcesses, breaker]
        }
      return allowed.contains(target.name) ? nil : "only \(allowed.joined(separator: ", ")) may import \(other.name)"
    }
    let allowed: Bool
    switch target.layer {
    case "Bus": allowed = other.layer == "Bus"
    case "Model": allowed = ["Bus", "Model"].contains(other.layer)
    case "SDK": allowed = ["SDK", "Bus", "Model"].contains(other.layer)
    case "Device" where target.name == rules: allowed = values.contains(other.name)
    case "Device": allowed = ["Bus", "Model"].contains(other.layer) || other.name == rules
    case "Observability": allowed = ["Observability", "Bus", "Model"].contains(other.layer)
    case "APNs" where target.name == pushRules: allowed = values.contains(other.name)
    case "APNs": allowed = ["APNs", "Bus", "Model"].contains(other.layer)
    case "Proof":
      allowed = ["Bus", "Observability", "Proof"].contains(other.layer) || [rules, pushRules].contains(other.name)
    case "Processes" where other.layer == "Proof": allowed = target.name == tool
    case "Processes":
      allowed = ["APNs", "Bus", "Device", "Model", "Observability", "Processes"].contains(other.layer)
    case "Samples": allowed = other.layer == "SDK" && target.name != "ProviderServer"
    case "Testing", "Tests": allowed = true
    default: return "the layer '\(target.layer)' is not in the import table"
    }
    let importer = [rules, pushRules].contains(target.name) ? target.name : target.layer
    return allowed ? nil : "\(importer) may not import \(other.name) of \(other.layer)"
  }

  /// The violations of the import table by the manifest's dependencies.
  static func findings(in manifest: Manifest) -> [Finding] {
    var findings = manifest.unread
    for target in manifest.targets.values.sorted(by: { $0.line < $1.line }) {
      func object(_ advice: String) {
        findings.append(Finding(path: Manifest.path, line: target.line, advice: "\(target.name): \(advice)"))
      }
      if forbiddenModules.contains(target.name) { object("no module may have this name; choose another one") }
      for name in target.targets {
        guard let other = manifest.targets[name] else {
          object("depends on \(name), which is not a target of this package")
          continue
        }
        if let objection = objection(target, imports: other) { object(objection + " (Documentation/architecture.md)") }
      }
      let isAuthored = target.layer == "Samples" && target.name != "ProviderServer"
      if isAuthored, let product = target.products.first {
        object("the sample may depend only on the SDK; remove \(product)")
      }
      if target.layer == "SDK" || isAuthored {
        let carried = manifest.closure(of: target.name).products.filter { product in
          serverStack.contains { product.hasPrefix($0) }
        }
        for product in carried.sorted() { object("links \(product); an author's process may not link a server stack") }
      }
    }
    return findings
  }

  /// The violations of the import table by the import lines of one file of the target.
  static func findings(in file: SourceFile, of target: Manifest.Target, _ manifest: Manifest) -> [Finding] {
    file.findings(in: file.code) { line in
      guard let module = importedModule(line), !system.contains(module), module != target.name else { return nil }
      if ["FoundationNetworking", "XCTest"].contains(module) { return nil }  // SourceRules reports these
      if module == icu.module {
        return target.name == icu.target ? nil : "only \(icu.target) may import \(module)"
      }
      guard let other = manifest.targets[module] else {
        return target.products.contains(module)
          ? nil : "imports \(module), which \(target.name) does not declare; add its product in Package.swift"
      }
      if let objection = objection(target, imports: other) { return objection + " (Documentation/architecture.md)" }
      return target.targets.contains(module)
        ? nil : "imports \(module); add it to the dependencies of \(target.name) in Package.swift"
    }
  }

  /// The module that a line of code imports, with any attributes and access level before `import`.
  static func importedModule(_ line: String) -> String? {
    guard line.hasPhrase("import"), !line.isIndented else { return nil }
    let words = line.identifiers
    guard let position = words.firstIndex(of: "import") else { return nil }
    let kinds: Set<Substring> = ["class", "enum", "func", "let", "protocol", "struct", "typealias", "var"]
    return words[(position + 1)...].first { !kinds.contains($0) }.map { aliases[$0] ?? String($0) }
  }

  /// The modules with an alias in the flags of authors' targets. Only such a target can import the alias.
  private static let aliases: [Substring: String] = [
    "Combine": "CombineAPI", "CoreGraphics": "CoreGraphicsAPI", "CryptoKit": "CryptoKitAPI", "Network": "NetworkAPI",
    "OSLog": "OSLogAPI", "Security": "SecurityAPI", "os": "OSAPI",
  ]
}
