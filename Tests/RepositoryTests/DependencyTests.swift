// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Every dependency of the manifest is used and documented.
@Suite struct `The dependencies` {
  private static let page = "Documentation/architecture.md"

  @Test func `each dependency of a target is imported by one of its files`() throws {
    let tree = try Tree()
    let manifest = Manifest(try tree.read(Manifest.path))
    for target in manifest.targets.values {
      let files = try tree.swiftFiles(below: target.folder)
      for finding in Dependencies.unused(by: target, files, manifest) { Issue.record("\(finding)") }
    }
  }

  @Test func `each package has a row in the dependency table with its benefit and its build time`() throws {
    let tree = try Tree()
    let findings = Dependencies.unexplained(try tree.read(Manifest.path), page: try tree.read(Self.page), at: Self.page)
    for finding in findings { Issue.record("\(finding)") }
  }

  @Test func `each package of the manifest has a pinned version`() throws {
    let tree = try Tree()
    let manifest = try tree.read(Manifest.path)
    let findings = try Dependencies.unpinned(manifest, by: try tree.read(Dependencies.pins))
    for finding in findings { Issue.record("\(finding)") }
  }

  // MARK: Bad samples of each rule

  private static let sample = Manifest(
    """
    let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
      module("ZeroMQ", in: "Bus", []), module("Journal", in: "Bus", []),
      module("MessageBus", in: "Bus", ["ZeroMQ", "Journal", logging]),
    """)

  @Test func `a dependency that no file imports is reported`() throws {
    let target = try #require(Self.sample.targets["MessageBus"])
    let all = SourceFile("A.swift", "package import ZeroMQ\n@testable import Logging\nimport struct Journal.Record")
    #expect(Dependencies.unused(by: target, [all], Self.sample).isEmpty)
    let two = SourceFile("A.swift", "import ZeroMQ\n// import Logging\nlet a = \"import Journal\"")
    let findings = Dependencies.unused(by: target, [two], Self.sample)
    #expect(findings.map { $0.advice.split(separator: " ").first } == ["Journal", "Logging"])
  }

  @Test func `a package without a complete row and a row without a package are reported`() {
    let manifest = ".package(url: \"https://github.com/apple/swift-log\", from: \"1.0.0\"),"
    let head = "## Dependencies\n\n| package | it saves | build |\n|---|---|---|\n"
    #expect(Dependencies.unexplained(manifest, page: head + "| swift-log | logging | 3 s |\n", at: "a.md").isEmpty)
    #expect(Dependencies.unexplained(manifest, page: head + "| swift-log | logging | |\n", at: "a.md").count == 1)
    #expect(Dependencies.unexplained(manifest, page: head, at: "a.md").count == 1)
    let gone = head + "| swift-log | logging | 3 s |\n| Yams | YAML | 9 s |\n"
    #expect(Dependencies.unexplained(manifest, page: gone, at: "a.md").map(\.line) == [6])
  }

  @Test func `a package without a pin and one whose pin is older than its range are reported`() throws {
    let manifest = """
      .package(url: "https://github.com/apple/swift-log", from: "1.10.0"),
      .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
      """
    let pin = { (version: String) in
      #"{"pins": [{"location": "https://github.com/apple/swift-log", "state": {"version": "\#(version)"}}]}"#
    }
    let found = { (version: String) in try Dependencies.unpinned(manifest, by: pin(version)).map(\.advice.first) }
    #expect(try found("1.10.0") == ["Y"])
    #expect(try found("1.9.9") == ["s", "Y"])
  }
}

/// The rules about dependencies.
enum Dependencies {
  /// The versions with which the scripts and the image build.
  static let pins = "scripts/dependencies.json"

  private struct Pins: Decodable {
    struct State: Decodable { let version: String }
    struct Pin: Decodable {
      let location: String
      let state: State
    }
    let pins: [Pin]
  }

  /// Packages of the manifest without a pinned version, or with one that the manifest does not allow.
  static func unpinned(_ manifest: String, by text: String) throws -> [Finding] {
    let pins = try JSONDecoder().decode(Pins.self, from: Data(text.utf8)).pins
    let versions = Dictionary(pins.map { ($0.location, $0.state.version) }) { first, _ in first }
    return manifest.matches(of: /\.package\(url: "([^"]+)", from: "([^"]+)"/).compactMap { match in
      let (location, least) = (String(match.1), String(match.2))
      if let version = versions[location], version.compare(least, options: .numeric) != .orderedAscending { return nil }
      let name = location.split(separator: "/").last ?? ""
      return Finding(
        path: Self.pins, line: 1, advice: "\(name) is not pinned to \(least) or later; run scripts/pin and commit it")
    }
  }

  /// Targets that are linked for their symbols and not imported.
  private static let linkedOnly: Set<String> = ["CAuthorProcess"]

  /// The dependencies of a target that none of its files imports.
  static func unused(by target: Manifest.Target, _ files: [SourceFile], _ manifest: Manifest) -> [Finding] {
    guard target.name != ImportTable.demo, !files.isEmpty else { return [] }
    let imported = Set(files.flatMap { $0.code.compactMap(ImportTable.importedModule) })
    return (target.targets + target.products).filter { name in
      !imported.contains(name) && !linkedOnly.contains(name) && manifest.targets[name]?.kind != .macro
    }.map {
      Finding(
        path: Manifest.path, line: target.line,
        advice: "\($0) is a dependency of \(target.name), but no file of \(target.folder) imports it; remove it")
    }
  }

  /// Packages of the manifest whose row of the dependency table is missing or incomplete, and rows without a package.
  /// The build time of a system library begins with `system`.
  static func unexplained(_ manifest: String, page: String, at path: String) -> [Finding] {
    let packages = manifest.matches(of: /\.package\(url: "[^"]*\/([^"\/]+?)(?:\.git)?"/).map { String($0.1) }
    var rows: [String: (line: Int, isComplete: Bool, isSystem: Bool)] = [:]
    var isTable = false
    for (number, line) in zip(1..., page.split(separator: "\n", omittingEmptySubsequences: false)) {
      if line.hasPrefix("#") { isTable = line.hasSuffix("Dependencies") }
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard isTable, cells.count >= 3, cells[0] != "package", !cells[0].hasPrefix("--") else { continue }
      for name in cells[0].split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
        rows[name] = (number, cells.allSatisfy { !$0.isEmpty }, cells[2].hasPrefix("system"))
      }
    }
    let missing = packages.filter { rows[$0]?.isComplete != true }.map {
      Finding(
        path: path, line: 1,
        advice: "\($0) has no complete row in the dependency table; add what it saves and its build time")
    }
    let gone = rows.filter { !packages.contains($0.key) && !$0.value.isSystem }.sorted { $0.key < $1.key }.map {
      Finding(path: path, line: $0.value.line, advice: "\($0.key) is not a package of \(Manifest.path); remove the row")
    }
    return missing + gone
  }
}
