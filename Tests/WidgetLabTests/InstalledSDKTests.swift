// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import WidgetLab

@Suite final class `The installed SDK` {
  private let folder: String
  private let facts = InstalledSDK.Facts(
    compiler: "Swift version 6.3.1 (swift-6.3.1-RELEASE)", target: "x86_64-unknown-linux-gnu",
    libraries: ["SwiftUI", "WidgetKit"], names: ["Archive", "SwiftUI", "WidgetKit"], hash: "abc")

  init() throws {
    folder =
      FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/widgetlab sdk-\(UUID().uuidString)"
    let sdk = folder + "/sdk/6.3.1"
    try FileManager.default.createDirectory(atPath: sdk + "/plugins", withIntermediateDirectories: true)
    try Data(JSONEncoder().encode(facts)).write(to: URL(fileURLWithPath: sdk + "/sdk.json"))
    try Data().write(to: URL(fileURLWithPath: sdk + "/plugins/Macros"))
    for name in InstalledSDK.responses {
      try "\"-I\"\n\"@SDK@/modules\"\n\"@FLAGS@/plugins/Macros#Macros\"\n".write(
        toFile: "\(sdk)/\(name).in", atomically: true, encoding: .utf8)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func find() throws -> InstalledSDK {
    try #require(InstalledSDK.find(ownPath: folder + "/libexec/widgetlab/widgetlab", environment: [:]).first)
  }

  @Test func `it is found beside the tool, and in the archive that is named`() throws {
    let sdk = try find()
    #expect(sdk.folder == folder + "/sdk/6.3.1")
    #expect(sdk.facts == facts)
    #expect(InstalledSDK.find(ownPath: "/clone/.build/debug/widgetlab", environment: [:]).isEmpty)
    #expect(InstalledSDK.find(ownPath: "/a/b/c", environment: ["WIDGETLAB_HOME": folder]).count == 1)
  }

  @Test func `another compiler or target is named`() throws {
    let sdk = try find()
    func obstacle(_ version: String, _ target: String) -> String? {
      sdk.obstacle(for: InstalledSDK.Compiler("Swift version \(version)\nTarget: \(target)\n"))
    }
    #expect(obstacle("6.3.1 (swift-6.3.1-RELEASE)", "x86_64-unknown-linux-gnu") == nil)
    #expect(obstacle("6.3.2 (swift-6.3.2-RELEASE)", "x86_64-unknown-linux-gnu")?.contains("6.3.2") == true)
    #expect(obstacle("6.3.1 (swift-6.3.1-RELEASE)", "aarch64-unknown-linux-gnu")?.contains("aarch64") == true)
  }

  @Test func `the flags have the paths of this machine, in a folder for this SDK and toolchain`() throws {
    let sdk = try find()
    let flags = try sdk.writeFlags(runtime: "/tool chain/linux", environment: [:])
    #expect(flags.hasPrefix(folder + "/sdk/6.3.1/flags/abc-"))
    let text = try String(contentsOfFile: flags + "/compile.rsp", encoding: .utf8)
    #expect(text == "\"-I\"\n\"\(folder)/sdk/6.3.1/modules\"\n\"\(flags)/plugins/Macros#Macros\"\n")
    let macro = try String(contentsOfFile: flags + "/plugins/Macros", encoding: .utf8)
    #expect(macro.contains("LD_LIBRARY_PATH='/tool chain/linux' exec '\(folder)/sdk/6.3.1/plugins/Macros'"))
    #expect(try sdk.writeFlags(runtime: "/other", environment: [:]) != flags)
  }

  @Test func `a quote in a path does not end its argument`() {
    #expect(InstalledSDK.filled("\"@SDK@/m\"", sdk: "/a\"b\\c", flags: "") == "\"/a\\\"b\\\\c/m\"")
  }

  @Test func `the tasks of a new package find the errors of a build`() throws {
    struct Tasks: Decodable {
      struct Task: Decodable { var problemMatcher: Matcher }
      struct Matcher: Decodable { var pattern: Pattern }
      struct Pattern: Decodable { var regexp: String }
      var tasks: [Task]
    }
    let files = try StarterPackage("Weather", WidgetLabPackage(try find(), flags: "/flags")).files
    let tasks = try JSONDecoder().decode(Tasks.self, from: Data(#require(files[".vscode/tasks.json"]).utf8)).tasks
    #expect(tasks.count == 3)
    for task in tasks {
      let line = "Sources/WeatherWidget/WeatherWidget.swift:3:5: error: cannot find 'Txt' in scope"
      let found = try #require(try Regex(task.problemMatcher.pattern.regexp).wholeMatch(in: line))
      #expect(found[1].substring == "Sources/WeatherWidget/WeatherWidget.swift" && found[2].substring == "3")
    }
  }

  @Test func `a new package names the flags, and has no dependency`() throws {
    let files = try StarterPackage("Weather", WidgetLabPackage(try find(), flags: "/flags")).files
    let manifest = try #require(files["Package.swift"])
    #expect(manifest.contains("\"/flags\"") && !manifest.contains(".package("))
    #expect(files["widgetlab.yaml"]?.contains("executable: WeatherWidget") == true)
    #expect(files["widgetlab.yaml"]?.contains("$schema=.vscode/widgetlab.schema.json") == true)
    #expect(files[".vscode/widgetlab.schema.json"] == ConfigurationSchema.text)
    #expect(throws: CommandError.self) { try StarterPackage("We ather", WidgetLabPackage(try find(), flags: "/flags")) }
  }
}
