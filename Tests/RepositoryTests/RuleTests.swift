// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Each rule fails on a bad sample and passes on a good one.
@Suite struct `The repository rules` {
  private static let sourceSamples: [(rule: SourceRules.Rule, bad: String, line: Int, good: String)] = [
    (SourceRules.long, String(repeating: "\n", count: 901), 1, String(repeating: "\n", count: 900)),
    (SourceRules.long, function(lines: 70), 1, function(lines: 69)),
    (SourceRules.long, "  package init(a: Int) {" + String(repeating: "\n", count: 69) + "  }", 1, "init()"),
    (SourceRules.nothingPutOff, "let a = 1\n// TODO: more", 2, "let todo = \"TODO\""),
    (SourceRules.nothingPutOff, "/* one\nFIXME */", 2, "enum XXXL {}"),
    (SourceRules.noBannedCalls, "Thread.sleep(forTimeInterval: 1)", 1, "try await clock.sleep(for: .seconds(1))"),
    (SourceRules.noBannedCalls, "usleep(10)", 1, "// usleep(10)"),
    (SourceRules.noBannedCalls, "  sleep(1)", 1, "func sleep(for time: Duration) {}"),
    (SourceRules.noBannedCalls, "let a = try! b()", 1, "let a = try? b()"),
    (SourceRules.noBannedCalls, "let a = b as! C", 1, "let a = \"b as! C\""),
    (SourceRules.noBannedCalls, "final class A: @unchecked Sendable {}", 1, "final class A: Sendable {}"),
    (SourceRules.noBannedImports, "package import FoundationNetworking", 1, "import Foundation"),
    (SourceRules.noBannedImports, "@testable import XCTest", 1, "import Testing"),
    (SourceRules.missingFailsByName, "fatalError(\"Unimplemented\")", 1, "fatalError(\"no frame, but one was due\")"),
    (SourceRules.missingFailsByName, "fatalError()", 1, "throw Missing(\"unimplemented\")"),
    (SourceRules.tellingNames, "package actor SocketManager {", 1, "let a = FileManager.default"),
    (SourceRules.tellingNames, "enum Utils {}", 1, "struct Commonwealth {}"),
    (
      SourceRules.reasonsGiven, "nonisolated(unsafe) var a = 1", 1,
      "// set before any thread\nnonisolated(unsafe) var a = 1"
    ),
    (SourceRules.reasonsGiven, "try await Task.sleep(for: .seconds(1))", 1, "try await clock.advance(by: .seconds(1))"),
    (SourceRules.documented, "let a = 1\n\npackage struct A {}", 3, "/// What A is.\n@frozen\npackage struct A {}"),
    (
      SourceRules.timeLimited, "@Suite struct A {\n  @Test(arguments: [1].map { $0 })\n  func `a {`() async {}\n}", 3,
      limited
    ),
    (SourceRules.timeLimited, "@Test func a() async {}", 1, "@Test(.timeLimit(.minutes(1))) func a() async {}"),
    (
      SourceRules.timeLimited, "@Suite(.timeLimit(.minutes(1))) struct A {}\n@Test func a() async {}", 2,
      "@Test func a() {}"
    ),
    (
      SourceRules.endingWaits, "while a.isEmpty { await Task.yield() }", 1,
      "while a.isEmpty {\n  try Task.checkCancellation()\n  await Task.yield()\n}"
    ),
    (
      SourceRules.endingWaits, "let a = 1\nwhile await b.isEmpty {\n  c()\n}", 2,
      "while await b.isEmpty { try Task.checkCancellation() }\nwhile let c = await d.next() {}"
    ),
    (
      SourceRules.endingWaits, "repeat {\n  await Task.yield()\n} while a", 1,
      "repeat { await Task.yield() } while !Task.isCancelled"
    ),
    (SourceRules.endingWaits, "gate.wait()", 1, "gate.wait(timeout: .now() + 60)"),
    (SourceRules.endingWaits, "process.waitUntilExit()", 1, "await child.ending()"),
    (
      SourceRules.endingWaits, "await withCheckedContinuation { a = $0 }", 1,
      "await withTaskCancellationHandler {\n  await withCheckedContinuation { a = $0 }\n} onCancel: {}"
    ),
    (SourceRules.monotonicWaits, "gate.wait(wallTimeout: .now() + 1)", 1, "gate.wait(timeout: .now() + 1)"),
    (SourceRules.documented, "@MainActor public func a() {}", 1, "public import Foundation\npackage extension A {}"),
  ]

  @Test(arguments: sourceSamples.indices)
  func `a source rule fails on its bad sample and passes on its good one`(index: Int) {
    let (rule, bad, line, good) = Self.sourceSamples[index]
    #expect(rule(SourceFile("Tests/Sample.swift", bad)).map(\.line) == [line], "\(bad.prefix(60))")
    #expect(rule(SourceFile("Tests/Sample.swift", good)) == [], "\(good.prefix(60))")
  }

  @Test func `production code does not name a planted fault`() {
    let bad = "a()\nif PlantedFault.misrouted.isPlanted { return }"
    #expect(SourceRules.noMistakesOnPurpose(SourceFile("Sources/Device/A.swift", bad)).map(\.line) == [2])
    #expect(SourceRules.noMistakesOnPurpose(SourceFile("Sources/Device/A.swift", "import PlantedFaults")) != [])
    #expect(SourceRules.noMistakesOnPurpose(SourceFile("Sources/Testing/Faults/main.swift", bad)) == [])
    #expect(SourceRules.noMistakesOnPurpose(SourceFile("Tests/A.swift", bad)) == [])
  }

  @Test(arguments: ["let now = Date()", "let id = UUID()", "return sessions.keys.flatMap { propose($0) }"])
  func `a rule of the device that could decide differently is reported`(line: String) {
    #expect(SourceRules.equalSteps(SourceFile("Sources/Device/DeviceRules/A.swift", line)).map(\.line) == [1])
    #expect(SourceRules.equalSteps(SourceFile("Sources/APNs/PushRules/A.swift", line)).map(\.line) == [1])
    #expect(
      SourceRules.equalSteps(SourceFile("Sources/Proof/ModelChecking/Simulation/A.swift", line)).map(\.line) == [1])
    #expect(SourceRules.equalSteps(SourceFile("Sources/Device/Device/A.swift", line)) == [])
  }

  @Test func `a wait of a product is measured by a monotonic clock`() {
    let bad = "a()\n_ = gate.wait(timeout: .now() + 1)"
    #expect(SourceRules.monotonicWaits(SourceFile("Sources/SDK/A.swift", bad)).map(\.line) == [2])
    #expect(SourceRules.monotonicWaits(SourceFile("Sources/SDK/A.swift", "gate.wait(seconds: 1)")) == [])
    #expect(SourceRules.monotonicWaits(SourceFile("Tests/A.swift", bad)) == [])
  }

  @Test(arguments: PlainEnglish.phrases.map(\.phrase) + PlainEnglish.retired.map(\.name))
  func `a listed word or phrase is found in a sentence, and not in a longer word`(phrase: String) {
    #expect(PlainEnglish.findings(in: "a.md", "A\nbefore, \(phrase) after").map(\.line) == [2])
    #expect(PlainEnglish.advice(on: "un\(phrase)ing").isEmpty)
  }

  @Test func `every source rule has a bad sample`() {
    let products =
      ["Task { a() }", "import PlantedFaults"].map { SourceFile("Sources/A/Sample.swift", $0) }
      + [SourceFile("Sources/Device/DeviceRules/Sample.swift", "UUID()")]
    for (name, rule) in SourceRules.all {
      let isShown =
        Self.sourceSamples.contains { !rule(SourceFile("Tests/Sample.swift", $0.bad)).isEmpty }
        || products.contains { !rule($0).isEmpty }
      #expect(isShown, "\(name)")
    }
  }

  @Test func `some source rules depend on the name or folder of a file`() {
    #expect(SourceRules.tellingNames(SourceFile("Sources/A/SocketHelpers.swift", "")).count == 1)
    #expect(SourceRules.tellingNames(SourceFile("Sources/A/Socket.swift", "")).isEmpty)
    let mirror = "public struct A {}\npackage struct B {}"
    #expect(SourceRules.documented(SourceFile("Sources/SDK/A/B.swift", mirror)).map(\.line) == [2])
  }

  @Test func `code is distinguished from comments and strings`() {
    let file = SourceFile(
      "A.swift",
      ##"""
      let a = "x { \(b("y") + c) z" // d {
      let e = """
        f { "g"
        """ + h /* i /* j */ k */ + l
      let m = #"n \(o) \#(p) q"# + "\\"; r()
      """##)
    #expect(
      file.code.map(\.identifiers) == [
        ["let", "a", "b", "c"], ["let", "e"], [], ["h", "l"], ["let", "m", "p", "r"],
      ])
    #expect(file.prose[0].contains("// d {"))
    #expect(!file.prose[0].contains("x"))
  }

  @Test func `the length of a function excludes protocol requirements and counts after braces in its parameters`() {
    let requirement = "protocol A {\n  func a()\n  func b() -> Int\n}\n" + function(lines: 60)
    #expect(SourceRules.long(SourceFile("A.swift", requirement)).isEmpty)
    let braces = "func a(b: () -> Void = {}) {\n" + String(repeating: "  c { \"}\" }\n", count: 68) + "}"
    #expect(SourceRules.long(SourceFile("A.swift", braces)).map(\.line) == [1])
  }

  // MARK: Tasks

  @Test(arguments: [
    "func a() {\n  Task { b() }", "a()\nTask { b() }", "let a = b\nTask {\n  c()",
    "d { a in\nTask(priority: .low) { b() }",
    "switch a {\ncase .b(let c): Task { d(c) }", "if a {\nTask.detached { b() }",
    "let a = 1\n_ = Task.immediate { b() }",
    "}\nTask(executorPreference: a, operation: b)", "a\n  .b { await c() }\nTask { d() }",
  ])
  func `a task that nothing keeps is reported on its line`(text: String) {
    let line = 1 + (text.split(separator: "\n").firstIndex { $0.contains("Task") } ?? 0)
    for folder in ["Sources/A", "Sources/Testing/BusTesting"] {
      #expect(SourceRules.ownedTasks(SourceFile("\(folder)/B.swift", text)).map(\.line) == [line])
    }
    for folder in ["Tests/A", "Sources/Samples/A", "Sources/Testing/FixtureA"] {
      #expect(SourceRules.ownedTasks(SourceFile("\(folder)/B.swift", text)).isEmpty)
    }
  }

  @Test(arguments: [
    "let a = Task { b() }", "a =\n  Task { b() }", "a[b] = Task.detached { c() }", "return Task { a() }",
    "await Task { a() }.value", "a(Task { b() }, c: Task { d() })", "a = [\n  Task { b() },\n  Task { c() },\n]",
    "let a: Task<Void, Never> = b", "func a() -> Task<Void, Never> {", "try await Task.sleep(for: a)",
    "// Task { a() }",
    "let a = \"Task { b() }\"", "URLSessionTask(b) { c }", "a.Task { b() }", "self.a = b ?? Task { c() }",
  ])
  func `a task that is kept, and what is not the start of a task, is not reported`(text: String) {
    #expect(SourceRules.ownedTasks(SourceFile("Sources/A/B.swift", text)) == [])
  }

  @Test func `the list of tasks without an owner is short and current, and gives a reason for each`() throws {
    let list = SourceRules.unownedTasks
    #expect(list.map(\.count).reduce(0, +) <= SourceRules.unownedTaskLimit)
    #expect(Set(list.map(\.path)).count == list.count && list.allSatisfy { !$0.reason.isEmpty && $0.count > 0 })
    let tree = try Tree()
    for entry in list { #expect(tree.has(entry.path), "remove \(entry.path) from the list") }
    let entry = try #require(list.first)
    #expect(SourceRules.ownedTasks(SourceFile(entry.path, "")).map(\.line) == [1], "an entry that names too many tasks")
  }

  // MARK: The import table

  private static let sound = """
    let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
    let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
    func module(_ name: String) -> Target { .target(name: name) }
      .enableUpcomingFeature("ExistentialAny"),
      .systemLibrary(name: "CZeroMQ", path: "Sources/Bus/CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
      module("ZeroMQ", in: "Bus", ["CZeroMQ", "CPlatform"]), .target(name: "CPlatform", path: "Sources/Bus/CPlatform"),
      // module("Gone", in: "Bus"),
      module("MessageBus", in: "Bus", ["ZeroMQ", logging]),
      module("SwiftUI", in: "SDK", ["MessageBus"]),
      module("Timekeeping", in: "Model"),
      module("Launching", in: "Device", ["MessageBus", "Timekeeping", nioCore]),
      module(
        "Transfers", in: "Device",
        [
          "MessageBus", "Timekeeping",
        ]),
      module("DeviceRules", in: "Device", []),
      module("ModelChecking", in: "Proof", ["DeviceRules"]),
      module("Cluster", in: "Processes", ["MessageBus"]),
      module("HostSystem", in: "Processes", ["Cluster", "Launching"]),
      process("HostSystemMain", in: "Processes", ["HostSystem"]),
      process("WidgetExtension", in: "Samples", ["SwiftUI"]),
      process("Faults", in: "Testing", ["Cluster", "HostSystem"]),
      module("BusTesting", in: "Testing", ["MessageBus"]),
      tests("ProcessesTests", ["HostSystem"]),
    """

  /// A change of the valid manifest, and a text that the finding must contain.
  private static let manifestSamples: [(from: String, to: String, word: String)] = [
    ("\"Bus\", [\"ZeroMQ\", logging]", "\"Bus\", [\"SwiftUI\"]", "Bus may not import SwiftUI"),
    ("\"Bus\", [\"ZeroMQ\", logging]", "\"Bus\", [\"Timekeeping\"]", "Bus may not import Timekeeping"),
    ("\"SDK\", [\"MessageBus\"]", "\"SDK\", [\"Launching\"]", "SDK may not import Launching"),
    ("\"SDK\", [\"MessageBus\"]", "\"SDK\", [nioCore]", "links NIOCore"),
    ("[\"ZeroMQ\", logging]", "[\"ZeroMQ\", nioCore]", "WidgetExtension: links NIOCore"),
    ("\"Timekeeping\", nioCore]", "\"Transfers\"]", "Device may not import Transfers"),
    ("\"Device\", []", "\"Device\", [\"MessageBus\"]", "DeviceRules may not import MessageBus"),
    ("[\"Cluster\", \"Launching\"]", "[\"SwiftUI\"]", "Processes may not import SwiftUI"),
    ("[\"Cluster\", \"Launching\"]", "[\"WidgetExtension\"]", "a process may not be imported"),
    ("\"Processes\", [\"MessageBus\"]", "\"Processes\", [\"HostSystem\"]", "only HostSystemMain"),
    ("\"Samples\", [\"SwiftUI\"]", "\"Samples\", [\"MessageBus\"]", "may not import MessageBus"),
    ("\"Samples\", [\"SwiftUI\"]", "\"Samples\", [logging]", "remove Logging"),
    ("[\"Cluster\", \"HostSystem\"]", "[\"HostSystemMain\"]", "a process may not be imported"),
    ("ProcessesTests\", [\"HostSystem\"]", "ProcessesTests\", [\"HostSystemMain\"]", "static link"),
    ("ProcessesTests\", [\"HostSystem\"]", "DeviceTests\", [\"HostSystem\"]", "only HostSystemMain"),
    ("[\"HostSystem\"]),\n", "[\"LaunchService\"]),\n", "not a target of this package"),
    ("module(\"Timekeeping\"", "module(\"os\"", "choose another"),
    ("\"Bus\", [\"CZeroMQ\", \"CPlatform\"]", "\"Bus\", [.target(name: \"CZeroMQ\")]", "is not understood"),

    ("\"Processes\", [\"MessageBus\"]", "\"Processes\", [\"BusTesting\"]", "only a test target may import BusTesting"),
    ("\"Proof\", [\"DeviceRules\"]", "\"Proof\", [\"Launching\"]", "Proof may not import Launching"),
    ("[\"Cluster\", \"Launching\"]", "[\"ModelChecking\"]", "Processes may not import ModelChecking"),
    ("in: \"Testing\"", "in: \"Attic\"", "'Attic' is not in the import table"),
  ]

  @Test func `a valid manifest passes and is read completely`() {
    let manifest = Manifest(Self.sound)
    #expect(ImportTable.findings(in: manifest).isEmpty, "\(ImportTable.findings(in: manifest))")
    #expect(manifest.targets.count == 17)
    #expect(manifest.targets["Launching"]?.products == ["NIOCore"])
    #expect(manifest.targets["Transfers"]?.targets == ["MessageBus", "Timekeeping"])
    #expect(manifest.targets["MessageBus"]?.line == 8)
    #expect(manifest.closure(of: "WidgetExtension").products == ["Logging"])
  }

  @Test(arguments: manifestSamples.indices)
  func `a manifest that violates the import table is reported`(index: Int) {
    let (from, to, word) = Self.manifestSamples[index]
    #expect(Self.sound.contains(from), "the sample '\(from)' is out of date")
    let findings = ImportTable.findings(in: Manifest(Self.sound.replacing(from, with: to)))
    #expect(findings.contains { $0.advice.contains(word) }, "\(findings)")
  }

  @Test(arguments: [
    ("import Foundation\npackage import ZeroMQ\nimport Logging", nil),
    ("import SwiftUI", "Bus may not import SwiftUI"),
    ("import CZeroMQ", "add it to the dependencies"),
    ("import NIOCore", "does not declare"),
    ("import _FoundationICU", "only Layout may import"),
    ("@preconcurrency import struct NIOCore.ByteBuffer", "does not declare"),
  ])
  func `an import line needs a declared and allowed dependency`(text: String, word: String?) throws {
    let manifest = Manifest(Self.sound)
    let target = try #require(manifest.targets["MessageBus"])
    let findings = ImportTable.findings(in: SourceFile("Sources/Bus/MessageBus/A.swift", text), of: target, manifest)
    #expect(findings.count == (word == nil ? 0 : 1), "\(findings)")
    #expect(findings.allSatisfy { $0.advice.contains(word ?? "") })
  }

  // MARK: The tree

  @Test func `a path of one machine is reported in any file`() {
    for folder in ["work", "root", "opt/swift"] {
      #expect(TreeRules.noMachinePaths("a.md", "one\ncd /\(folder)/x").map(\.line) == [2])
      #expect(TreeRules.noMachinePaths("a.md", "$scratch/\(folder)/y").isEmpty)
    }
    #expect(TreeRules.noMachinePaths("a.md", "cd /\("work")ers").isEmpty)
  }

  @Test(arguments: [
    ("A.swift", "// SPDX-License-Identifier: Apache-2.0\n\nimport A", true),
    ("A.swift", "import A", false),
    ("A.swift", "\n\n\n// SPDX-License-Identifier: Apache-2.0", false),
    ("Package.swift", "// swift-tools-version: 6.3\n// SPDX-License-Identifier: Apache-2.0", true),
    ("scripts/a", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0", true),
    ("scripts/a", "#!/bin/sh\necho", false),
    ("scripts/a.py", "import a", false),
    ("a.md", "text", true),
  ])
  func `a source file or script without a licence identifier is reported`(path: String, text: String, isValid: Bool) {
    #expect(TreeRules.licensed(path, text).isEmpty == isValid)
  }

  @Test func `a symbol of a DocC catalog that its module does not declare is reported`() {
    let page = "# ``A``\n\n- ``Known``\n- ``Wrapper``\n- ``Missing``\n"
    let file = SourceFile("A/A.swift", "public struct Known {}\n@propertyWrapper public final class Wrapper {}")
    #expect(TreeRules.declared("A.md", page, in: [file]).map(\.line) == [5])
  }

  @Test func `a target without a folder or a mention and an unknown feature are reported`() {
    let manifest = Manifest(Self.sound)
    let folders = Set(manifest.targets.values.map(\.folder))
    #expect(TreeRules.housed(manifest, folders: folders).isEmpty)
    #expect(TreeRules.housed(manifest, folders: folders.subtracting(["Sources/Bus/ZeroMQ"])).map(\.line) == [6])
    #expect(
      TreeRules.housed(manifest, folders: folders.union(["Sources/Bus/Spare"])).map(\.path) == ["Sources/Bus/Spare"])
    let page = manifest.targets.keys.filter { $0 != "ZeroMQ" }.map { "`\($0)`" }.joined(separator: "\n")
    #expect(TreeRules.introduced(manifest, architecture: page, at: "a.md").map(\.line) == [6])
    #expect(TreeRules.introduced(manifest, architecture: page + "`ZeroMQ`", at: "a.md").isEmpty)
    #expect(TreeRules.known(manifest, supported: []).map(\.line) == [4])
    #expect(TreeRules.known(manifest, supported: ["ExistentialAny"]).isEmpty)
  }

  @Test func `a type with the name of its module is reported`() throws {
    let target = try #require(Manifest(Self.sound).targets["ZeroMQ"])
    #expect(TreeRules.noTypeLikeItsModule(SourceFile("A.swift", "package actor ZeroMQ {"), target).count == 1)
    #expect(
      TreeRules.noTypeLikeItsModule(SourceFile("A.swift", "  enum ZeroMQ {}\nenum ZeroMQError {}"), target).isEmpty)
  }

  @Test func `tracked files that belong to one machine are reported`() {
    let findings = TreeRules.untracked(["Package.swift", "Package.resolved", ".build-x/a", ".gitignore", "chaos-1.tar"])
    #expect(findings.map(\.path) == ["Package.resolved", ".build-x/a", "chaos-1.tar"])
  }
}

/// A test within a suite that has a time limit.
private let limited = """
  @Suite(.timeLimit(.minutes(1))) struct A {
    func b() {}
    @Suite struct C { @Test func `d }`() async throws {} }
  }
  """

/// A function with this number of lines, including its braces.
private func function(lines: Int) -> String {
  "func a() {" + String(repeating: "\n", count: lines - 1) + "}"
}
