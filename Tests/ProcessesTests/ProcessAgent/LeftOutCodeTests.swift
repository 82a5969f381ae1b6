// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import Messages
import Testing

@testable import ProcessAgent

/// Code that is compiled for a phone and not for Linux.
@Suite(.timeLimit(.minutes(1))) struct `Code that is left out` {
  @Test(
    .rule("DIAGNOSIS-12"),
    arguments: [
      ("os(iOS)", false, true), ("os(macOS)", false, false), ("!os(macOS)", true, true), ("!os(iOS)", true, false),
      ("os(iOS) || os(macOS)", false, true), ("os(iOS) && DEBUG", false, nil), ("DEBUG", nil, nil),
      ("DEBUG || os(iOS)", nil, true), ("!(os(macOS) || os(watchOS))", true, true), ("canImport(UIKit)", nil, nil),
      ("canImport(ActivityKit)", false, true), ("canImport(Charts)", nil, nil), ("canImport(os.signpost)", false, true),
      ("canImport(ActivityKit, _version: 1.0)", false, true), ("swift(>=6.0) && os( iOS )", false, nil),
      ("os(iOS)&&!targetEnvironment(macCatalyst)", false, true), ("true", true, true),
      ("false || os(iOS)", false, true),
      ("", nil, nil), ("((", nil, nil), ("os(iOS", false, true),
    ] as [(String, Bool?, Bool?)])
  func `a condition has a value here and one on a phone`(text: String, here: Bool?, phone: Bool?) {
    let values = PlatformCondition(text[...], modules: ["Charts"]).values
    #expect(values == PlatformCondition.Values(here: here, phone: phone))
  }

  @Test(.rule("DIAGNOSIS-12")) func `blocks of a source file that only a phone has are found with their lines`() {
    let source = """
      #if os(iOS)
        one()
      #else
        two()
      #endif
      // #if os(iOS)
      /* #if os(iOS) /* nested */
      #if os(iOS) */
      let text = \"\"\"
      #if os(iOS)
        a text
      #endif
      \"\"\"
      #if os(macOS)
        three()
      #elseif DEBUG
        four()
      #else  // a phone, and here
        five()
      #endif
      #if os(watchOS)
      #elseif !os(iOS)
        six()
      #else // a phone
        seven()
      #endif
      #if os(iOS)
        // nothing
      #endif
      #if DEBUG
        #if canImport(ActivityKit) // live
          eight()
        #endif
      #endif
      """
    #expect(
      ConditionalBlock.leftOut(of: source) == [
        ConditionalBlock(line: 1, directive: "#if os(iOS)"), ConditionalBlock(line: 24, directive: "#else"),
        ConditionalBlock(line: 31, directive: "#if canImport(ActivityKit)"),
      ])
  }

  @Test(.rule("DIAGNOSIS-12"), arguments: ["os(Linux)", "canImport(Glibc)", "canImport(FoundationNetworking)"])
  func `a chain with a branch for Linux is not reported`(condition: String) {
    #expect(ConditionalBlock.leftOut(of: "#if \(condition)\none()\n#else\ntwo()\n#endif").isEmpty)
    #expect(ConditionalBlock.leftOut(of: "#if os(iOS)\none()\n#elseif \(condition)\ntwo()\n#endif").isEmpty)
  }

  @Test(.rule("DIAGNOSIS-12")) func `a block within one that is left out is not reported again`() {
    let source = "#if os(iOS)\n#if canImport(ActivityKit)\none()\n#endif\ntwo()\n#endif"
    #expect(ConditionalBlock.leftOut(of: source).map(\.line) == [1])
  }

  @Test func `a damaged source file is read to its end`() {
    for source in ["#endif", "#else\none()", "#if os(iOS)\none()", "\"\"\"\n#if os(iOS)", "/*", "#if\n#elseif\n#endif"]
    {
      #expect(ConditionalBlock.leftOut(of: source).isEmpty)
    }
  }

  @Test(.rule("DIAGNOSIS-12"), arguments: [".build", ".build-thread"])
  func `an agent reports the left out code of an executable once for each of its builds`(scratch: String) async throws {
    try await withFixture { fixture in
      let package = try Package(in: fixture.folder, scratch: scratch)
      for _ in 1...2 { try await run(package.executable, fixture) }
      // The sources are read after the start of the process.
      _ = try await fixture.received(LeftOutCode.self) { $0.blocks.first?.line == 1 }
      // A changed executable is another build.
      try package.build(source: "one()\n#if canImport(ActivityKit)\ntwo()\n#endif", date: 2)
      try await run(package.executable, fixture)
      _ = try await fixture.received(LeftOutCode.self) { $0.blocks.first?.line == 2 }
      let reports = try await fixture.bus.sentEnvelopes.filter { $0.header.kind == LeftOutCode.kind }
        .map { try BodyCoding.decode(LeftOutCode.self, from: $0.body) }
      #expect(reports.map(\.address) == [AgentFixture.child, AgentFixture.child])
      #expect(reports.map(\.count) == [1, 1])
      #expect(
        reports.flatMap(\.blocks) == [
          LeftOutCode.Block(file: "Sources/Widget.swift", line: 1, directive: "#if os(iOS)"),
          LeftOutCode.Block(file: "Sources/Widget.swift", line: 2, directive: "#if canImport(ActivityKit)"),
        ])
    }
  }

  @Test(.rule("DIAGNOSIS-12")) func `an executable without sources beside it is not examined`() async throws {
    try await withFixture { fixture in
      _ = try await fixture.spawn("exit 0")
      _ = try await fixture.received(ProcessExited.self)
      #expect(BuiltSources(of: "\(fixture.folder)/bin/none").leftOut().isEmpty)
      #expect(await fixture.bus.sentEnvelopes.allSatisfy { $0.header.kind != LeftOutCode.kind })
    }
  }

  private func run(_ executable: String, _ fixture: AgentFixture) async throws {
    let reply = try await fixture.spawn(executable: executable)
    _ = try await fixture.received(ProcessExited.self) { $0.generation == reply.generation }
  }
}

/// A package as SwiftPM leaves it after a build, with a script as the executable.
private struct Package {
  private let folder: String
  /// Its name, as in `swift build --scratch-path`.
  private let scratch: String
  private let build: String
  var executable: String { build + "/Widget" }

  init(in parent: String, scratch: String) throws {
    self.scratch = scratch
    // The agent reports real paths.
    folder = URL(fileURLWithPath: parent).resolvingSymlinksInPath().path + "/package"
    build = "\(folder)/\(scratch)/debug"
    let names = ["Widget.product", "Target.build", "Other.build"].map { "\(scratch)/debug/\($0)" }
    for name in names + ["Sources"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    try write("\(build)/Target.build/Widget.swift.o\n", to: "\(scratch)/debug/Widget.product/Objects.LinkFileList")
    // Sources of a dependency, and of a target that is not linked, do not count.
    try write("#if os(iOS)\none()\n#endif", to: "\(scratch)/Dependency.swift")
    try write("#if os(iOS)\none()\n#endif", to: "Sources/Other.swift")
    try write("\(folder)/Sources/Other.swift\n", to: "\(scratch)/debug/Other.build/sources")
    try write(
      "\(folder)/\(scratch)/Dependency.swift\n'\(folder)/Sources/Widget.swift'\n",
      to: "\(scratch)/debug/Target.build/sources")
    try build(source: "#if os(iOS)\none()\n#endif", date: 1)
  }

  /// - Parameter date: of the executable, in seconds since 1970.
  func build(source: String, date: Double) throws {
    try write(source, to: "Sources/Widget.swift")
    try write("#!/bin/sh\n", to: "\(scratch)/debug/Widget")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700, .modificationDate: Date(timeIntervalSince1970: date)], ofItemAtPath: executable)
  }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
  }
}
