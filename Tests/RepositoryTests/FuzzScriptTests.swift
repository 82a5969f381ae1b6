// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `scripts/fuzz` compiles its modules without SwiftPM, and only long tests run it.
@Suite struct `The script of the fuzzers` {
  @Test func `the modules that its modules import are compiled before them`() throws {
    let tree = try Tree()
    let manifest = Manifest(try tree.read(Manifest.path))
    for finding in try FuzzScript(try tree.read(FuzzScript.path)).missing(manifest, tree) { Issue.record("\(finding)") }
  }

  @Test func `modules, and the imports of files that are left out, are read from the script`() {
    let script = FuzzScript(
      """
      if needs a; then module Archive; fi
        module APNs {A,B}.swift
        module Cluster $(grep -LE '^(package )?import (Logging|ZeroMQ)' ./*.swift)
      module() { # a function
      """)
    #expect(script.modules.map(\.name) == ["Archive", "Cluster"])
    #expect(script.modules.map(\.without) == [[], ["Logging", "ZeroMQ"]])
  }
}

/// The modules that `scripts/fuzz` compiles, in its order. Those with a list of files are left out.
struct FuzzScript {
  static let path = "scripts/fuzz"
  let modules: [(name: String, without: Set<String>, line: Int)]

  init(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    modules = zip(1..., lines).compactMap { number, line in
      guard let match = line.firstMatch(of: /(?:^|then) *module (\w+)(.*)/) else { return nil }
      // What follows the command on its line is of another one.
      let files = match.2.trimmingPrefix(/;.*/)
      // The pattern may be on the next line.
      let next = files.contains("$(") && lines.count > number ? lines[number] : ""
      guard let pattern = (files + next).firstMatch(of: /import \(([\w|]+)\)/) else {
        return files.isEmpty ? (String(match.1), [], number) : nil
      }
      return (String(match.1), Set(pattern.1.split(separator: "|").map(String.init)), number)
    }
  }

  /// The imports of modules of this project that are not compiled before the module that needs them.
  func missing(_ manifest: Manifest, _ tree: Tree) throws -> [Finding] {
    // The script gives all of them the C module.
    var compiled: Set = ["CPlatform"]
    var findings: [Finding] = []
    for module in modules {
      guard let target = manifest.targets[module.name] else {
        findings.append(Finding(path: Self.path, line: module.line, advice: "there is no module \(module.name)"))
        continue
      }
      for file in try tree.swiftFiles(below: target.folder) {
        let imported = Set(file.code.compactMap(ImportTable.importedModule))
        guard imported.isDisjoint(with: module.without) else { continue }
        let unknown = imported.filter { manifest.targets[$0] != nil && !compiled.contains($0) }
        findings += unknown.map {
          Finding(path: Self.path, line: module.line, advice: "compile \($0), which \(file.path) imports, before it")
        }
      }
      compiled.insert(module.name)
    }
    return findings
  }
}
