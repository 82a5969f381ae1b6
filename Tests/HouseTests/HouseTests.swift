import Foundation
import Testing

/// The tree as it stands, held against the rules. That each rule can fail is shown in RuleTests.swift.
@Suite struct `the house` {
  private let tree: Tree
  private let manifest: Manifest

  init() throws {
    tree = try Tree()
    manifest = Manifest(try tree.read(Manifest.path))
  }

  @Test func `the manifest is read whole`() {
    #expect(manifest.targets.count > 20)
    #expect(!manifest.upcomingFeatures.isEmpty)
    #expect(manifest.targets.values.contains { !$0.products.isEmpty })
    expectNone(manifest.unread)
  }

  @Test func `the manifest keeps the import table`() {
    expectNone(ImportTable.findings(in: manifest))
  }

  @Test func `import lines are declared and keep the import table`() throws {
    for target in manifest.targets.values {
      for file in try tree.swiftFiles(below: target.folder) {
        #expect(
          target.kind != .target, "\(file.path): Swift is declared by room(), process() or tests() in the manifest")
        expectNone(ImportTable.findings(in: file, of: target, manifest))
        expectNone(TreeRules.noTypeLikeItsModule(file, target))
      }
    }
  }

  @Test(arguments: SourceRules.all.indices)
  func `every Swift file keeps the rule`(index: Int) throws {
    let files = try tree.swiftFiles(below: "Sources") + tree.swiftFiles(below: "Tests")
    #expect(files.count > 20, "the files were not found")
    expectNone(files.flatMap(SourceRules.all[index].rule), SourceRules.all[index].name)
  }

  @Test func `folders and targets are one to one`() throws {
    var folders: Set<String> = []
    for wing in try tree.folders(in: "Sources") { folders.formUnion(try tree.folders(in: wing)) }
    folders.formUnion(try tree.folders(in: "Tests"))
    expectNone(TreeRules.housed(manifest, folders: folders))
  }

  @Test func `every target has a sentence in the architecture`() throws {
    let path = "Documentation/architecture.md"
    expectNone(TreeRules.introduced(manifest, architecture: (try? tree.read(path)) ?? "", at: path))
  }

  @Test func `the compiler knows every upcoming feature that is asked of it`() throws {
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

  @Test func `tracked files know nothing of the machine they were written on`() throws {
    guard tree.has(".git"), let list = try tree.run("git", "-c", "safe.directory=*", "ls-files", "-z") else { return }
    let tracked = list.split(separator: "\0").map(String.init).filter(tree.has)
    #expect(tracked.contains(Manifest.path))
    expectNone(TreeRules.untracked(tracked))
    for path in tracked {
      guard let text = try? tree.read(path) else { continue }  // not text
      expectNone(TreeRules.noMachinePaths(path, text))
    }
  }

  private func expectNone(_ findings: [Finding], _ rule: String? = nil, at location: SourceLocation = #_sourceLocation)
  {
    for finding in findings {
      Issue.record("\(rule.map { $0 + ": " } ?? "")\(finding)", sourceLocation: location)
    }
  }
}

/// The repository that this file lies in.
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

  /// The folders directly in this one that hold anything, relative to the root.
  func folders(in path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: path).path)
      .map { "\(path)/\($0)" }
      .filter { (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: $0).path).isEmpty) == false }
  }

  /// The Swift files in this folder of Sources or Tests.
  func swiftFiles(below path: String) throws -> [SourceFile] {
    try Tree.swiftFiles.get().filter { $0.path.hasPrefix(path + "/") }
  }

  /// Read once: most of the time of these tests goes into this.
  private static let swiftFiles = Result { try Tree().readSwiftFiles(below: "Sources", "Tests") }

  private func readSwiftFiles(below folders: String...) throws -> [SourceFile] {
    try folders.flatMap { folder in
      let names = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
      return try names.sorted().filter { $0.hasSuffix(".swift") }.map {
        SourceFile("\(folder)/\($0)", try read("\(folder)/\($0)"))
      }
    }
  }

  /// What a tool prints, or nil where the machine has no such tool.
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
        description: "\(tool) \(arguments.joined(separator: " ")) ended with \(process.terminationStatus)")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
