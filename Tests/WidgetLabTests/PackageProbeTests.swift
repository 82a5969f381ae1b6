// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Foundation
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(2))) struct `The probe for Swift packages` {
  private func git(_ arguments: String..., in folder: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com"] + arguments
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "git \(arguments)")
  }

  @Test func `a package that SwiftPM can get is available in its checkout, and another one is not`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "probe-\(UUID().uuidString)").path
    let library = folder + "/Forecasts"
    try FileManager.default.createDirectory(
      atPath: library + "/Sources/Forecasts", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let manifest = """
      // swift-tools-version: 6.0
      import PackageDescription
      let package = Package(
        name: "Forecasts", products: [.library(name: "Forecasts", targets: ["Forecasts"])],
        targets: [.target(name: "Forecasts")])

      """
    try manifest.write(toFile: library + "/Package.swift", atomically: true, encoding: .utf8)
    try "".write(toFile: library + "/Sources/Forecasts/Forecasts.swift", atomically: true, encoding: .utf8)
    try git("init", "--quiet", in: library)
    try git("add", ".", in: library)
    try git("commit", "--quiet", "--message", "Add the library", in: library)
    try git("tag", "1.0.0", in: library)

    let probe = PackageProbe(folder: folder + "/.build/packages")
    func state(_ requirement: String) async -> PackageProbe.State {
      await probe.state(of: PackageProduct(name: "Forecasts", place: .remote(url: library, requirement: requirement)))
    }
    for _ in 1...2 {
      guard case .available(let checkout) = await state("from: \"1.0.0\"") else {
        Issue.record("the package is not available")
        return
      }
      #expect(FileManager.default.fileExists(atPath: checkout + "/Sources/Forecasts/Forecasts.swift"))
    }
    guard case .unavailable(let reason) = await state("from: \"2.0.0\"") else {
      Issue.record("a version that does not exist is available")
      return
    }
    #expect(reason.hasPrefix("SwiftPM cannot get \(library): see "))
  }
}
