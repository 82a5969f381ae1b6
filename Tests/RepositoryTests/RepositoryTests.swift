// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks the repository against the rules. RuleTests.swift shows that each rule can fail.
@Suite struct `The repository` {
  private let tree: Tree
  private let manifest: Manifest

  /// Read once for all tests.
  private static let shared = Result { Manifest(try Tree().read(Manifest.path)) }

  init() throws {
    tree = try Tree()
    manifest = try Self.shared.get()
  }

  @Test func `the manifest's targets, products and features are all read`() {
    #expect(manifest.targets.count > 20)
    #expect(!manifest.upcomingFeatures.isEmpty)
    #expect(manifest.targets.values.contains { !$0.products.isEmpty })
    expectNone(manifest.unread)
  }

  @Test func `the manifest's dependencies obey the import table`() {
    expectNone(ImportTable.findings(in: manifest))
  }

  @Test func `import lines have a declared dependency and obey the import table`() throws {
    for target in manifest.targets.values {
      for file in try tree.swiftFiles(below: target.folder) {
        #expect(
          target.kind != .target, "\(file.path): a Swift target must be declared with a function of the manifest")
        expectNone(ImportTable.findings(in: file, of: target, manifest))
        expectNone(TreeRules.noTypeLikeItsModule(file, target))
      }
    }
  }

  @Test(arguments: SourceRules.all.indices)
  func `every Swift file obeys the source rule`(index: Int) throws {
    let files = try tree.swiftFiles(below: "Sources") + tree.swiftFiles(below: "Tests")
    #expect(files.count > 20, "the files were not found")
    expectNone(files.flatMap(SourceRules.all[index].rule), SourceRules.all[index].name)
  }

  @Test(arguments: ["CONTRIBUTING.md", "Documentation/architecture.md"])
  func `a Swift file that a page for contributors names exists`(page: String) throws {
    let files = try tree.swiftFiles(below: "Sources") + tree.swiftFiles(below: "Tests")
    let known = Set(files.compactMap { $0.path.split(separator: "/").last }).union(["Package.swift", "GRDB.swift"])
    let named = try tree.read(page).matches(of: /[A-Za-z+]+\.swift\b/).map(\.output)
    #expect(!named.isEmpty)
    #expect(named.filter { !known.contains($0) } == [])
  }

  /// Otherwise `scripts/prove --mutations`, which takes hours, is the first to find out.
  @Test func `each planted mutation applies to the sources, without fuzz`() throws {
    let patches = try tree.files(below: "Sources/Proof/ModelChecking/Mutations", withSuffix: ".patch")
    #expect(patches.count > 30)
    for path in patches {
      let lines = try tree.read(path).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      let name = try #require(lines.first { $0.hasPrefix("+++ b/") }).dropFirst("+++ b/".count)
      let source = try tree.read(String(name))
      for hunk in lines.split(whereSeparator: { $0.hasPrefix("@@ ") }).dropFirst() {
        let former = hunk.filter { !$0.hasPrefix("+") }.map { $0.dropFirst() }.joined(separator: "\n")
        #expect(source.contains(former), "\(path): \(former)")
      }
    }
  }

  /// Advice: where a reader would look for what to divide. It never fails.
  @Test func `long files and functions are listed`() throws {
    let files = try tree.swiftFiles(below: "Sources") + tree.swiftFiles(below: "Tests")
    for finding in files.flatMap(SourceRules.long) { print("advice: \(finding)") }
  }

  @Test func `every symbol of a DocC catalog is declared in its module`() throws {
    let pages = try tree.files(below: "Sources", withSuffix: ".md").filter { $0.contains(".docc/") }
    #expect(pages.count >= 5, "the catalogs were not found")
    for page in pages {
      let module = page.split(separator: "/").dropLast(2).joined(separator: "/")
      expectNone(TreeRules.declared(page, try tree.read(page), in: try tree.swiftFiles(below: module)))
    }
  }

  @Test func `each target has a folder, and each folder belongs to a target`() throws {
    var folders: Set<String> = []
    for layer in try tree.folders(in: "Sources") { folders.formUnion(try tree.folders(in: layer)) }
    // The reference pictures are data.
    folders.formUnion(try tree.folders(in: "Tests").filter { $0 != "Tests/References" })
    expectNone(TreeRules.housed(manifest, folders: folders))
  }

  @Test func `every target is mentioned on the architecture page`() throws {
    let path = "Documentation/architecture.md"
    expectNone(TreeRules.introduced(manifest, architecture: (try? tree.read(path)) ?? "", at: path))
  }

  @Test func `the compiler supports every upcoming feature of the manifest`() throws {
    struct Answer: Decodable {
      struct Features: Decodable {
        var upcoming: [Feature]
      }
      struct Feature: Decodable {
        var name: String
      }
      var features: Features
    }
    guard let answer = try tree.run("swiftc", "-print-supported-features") else { return }
    let features = try JSONDecoder().decode(Answer.self, from: Data(answer.utf8)).features.upcoming
    expectNone(TreeRules.known(manifest, supported: Set(features.map(\.name))))
  }

  @Test func `no module that the limitations call missing is a product, and each that has an entry is one`() throws {
    #expect(manifest.libraries.count > 30)
    expectNone(TreeRules.modules(in: try tree.read("Documentation/limitations.md"), manifest.libraries))
    let page = "- **HealthKit:** none. `CloudKit` and `UIKit` do not exist."
    #expect(TreeRules.modules(in: page, ["HealthKit"]) == [])
    #expect(TreeRules.modules(in: page, ["UIKit"]).map(\.advice).count == 2)
  }

  @Test func `tracked files have a licence identifier and name nothing of one machine`() throws {
    guard tree.has(".git"), let list = try tree.run("git", "-c", "safe.directory=*", "ls-files", "-z") else { return }
    let tracked = list.split(separator: "\0").map(String.init).filter(tree.has)
    #expect(tracked.contains(Manifest.path))
    expectNone(TreeRules.untracked(tracked))
    for path in tracked {
      guard let text = try? tree.read(path) else { continue }  // not a text file
      expectNone(TreeRules.noMachinePaths(path, text))
      expectNone(TreeRules.licensed(path, text))
    }
  }

  @Test func `tracked files use no word of the former vocabulary`() throws {
    guard tree.has(".git"), let list = try tree.run("git", "-c", "safe.directory=*", "ls-files", "-z") else { return }
    let tracked = list.split(separator: "\0").map(String.init).filter(PlainEnglish.applies)
    #expect(tracked.contains("README.md"))
    for path in tracked where tree.has(path) {
      guard let text = try? tree.read(path) else { continue }  // not a text file
      expectNone(PlainEnglish.findings(in: path, text))
    }
  }

  private func expectNone(_ findings: [Finding], _ rule: String? = nil, at location: SourceLocation = #_sourceLocation)
  {
    for finding in findings {
      Issue.record("\(rule.map { $0 + ": " } ?? "")\(finding)", sourceLocation: location)
    }
  }
}

/// The repository that contains this file.
struct Tree {
  struct ToolFailure: Error, CustomStringConvertible {
    var description: String
  }

  let root: URL

  init() throws {
    root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
  }

  func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root.appending(path: path).path) }

  func read(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The non-empty folders directly in this one, relative to the root.
  func folders(in path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: path).path)
      .map { "\(path)/\($0)" }
      .filter { (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: $0).path).isEmpty) == false }
  }

  /// The Swift files below this folder of Sources or Tests.
  func swiftFiles(below path: String) throws -> [SourceFile] {
    try Tree.swiftFiles.get().filter { $0.path.hasPrefix(path + "/") }
  }

  /// The paths of the files with this suffix, relative to the root.
  func files(below path: String, withSuffix suffix: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: path).path).sorted()
      .filter { $0.hasSuffix(suffix) }.map { "\(path)/\($0)" }
  }

  /// Read once, because reading takes most of the time of these tests.
  private static let swiftFiles = Result { try Tree().readSwiftFiles(below: "Sources", "Tests") }

  private func readSwiftFiles(below folders: String...) throws -> [SourceFile] {
    try folders.flatMap { folder in
      try files(below: folder, withSuffix: ".swift").map { SourceFile($0, try read($0)) }
    }
  }

  /// The output of a tool, or nil if the tool is not in `PATH`.
  func run(_ tool: String, _ arguments: String...) throws -> String? {
    let search = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    guard let folder = search.first(where: { FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)") }) else {
      return nil
    }
    let process = Process()
    process.executableURL = URL(filePath: "\(folder)/\(tool)")
    process.arguments = arguments
    process.currentDirectoryURL = root
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ToolFailure(
        description: "\(tool) \(arguments.joined(separator: " ")) exited with \(process.terminationStatus)")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
