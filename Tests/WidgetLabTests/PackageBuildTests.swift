// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import WidgetLab

@Suite struct `Builds that pass over a change` {
  @Test func `an object that is older than its saved file is removed with what the driver remembers`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "build-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let built = Date(timeIntervalSince1970: 1_000_000_000)
    func write(_ name: String, _ date: Date) throws -> String {
      let path = "\(folder)/\(name)"
      let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
      try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
      try Data().write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
      return path
    }
    let objects = ".build/debug/Weather.build"
    let (one, two) = (try write("Sources/One.swift", built + 1), try write("Sources/Two.swift", built - 1))
    let ones = try write("\(objects)/Views/One.swift.o", built)
    let twos = try write("\(objects)/Two.swift.o", built)
    let priors = try write("\(objects)/primary.priors", built)
    let build = PackageBuild(isBuilt: true, summary: "", log: folder + "/.build/widgetlab-build.log")
    #expect(!build.forgetsObjects(of: [two, folder + "/Sources/Unknown.swift", folder + "/Package.swift"]))
    // Another target has a file of this name, which was compiled.
    let other = try write(".build/debug/Other.build/One.swift.o", built + 2)
    #expect(!build.forgetsObjects(of: [one]))
    try FileManager.default.removeItem(atPath: other)
    #expect(build.forgetsObjects(of: [one, two]))
    let left = [ones, twos, priors].filter(FileManager.default.fileExists)
    #expect(left == [twos])
  }
}
