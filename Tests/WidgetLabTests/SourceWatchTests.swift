// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) final class `The watch of an author's files` {
  private let folder: String

  init() throws {
    folder =
      FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/widgetlab watch-\(UUID().uuidString)"
    try write("Sources/Weather.swift")
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func write(_ file: String, _ text: String = "") throws {
    let path = "\(folder)/\(file)"
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  private func next(_ watch: SourceWatch) async throws -> [String] {
    try #require(await watch.next()).map { String($0.dropFirst(folder.count + 1)) }
  }

  @Test func `a file that is written, replaced by renaming, or removed is a change`() async throws {
    let watch = SourceWatch([folder])
    try write("Sources/Weather.swift", "let degrees = 1")
    #expect(try await next(watch) == ["Sources/Weather.swift"])
    // Of the same size: an editor may keep the time, too.
    try write("Sources/.Weather.swift.new", "let degrees = 2")
    #expect(rename(folder + "/Sources/.Weather.swift.new", folder + "/Sources/Weather.swift") == 0)
    #expect(try await next(watch) == ["Sources/Weather.swift"])
    try FileManager.default.removeItem(atPath: folder + "/Sources/Weather.swift")
    #expect(try await next(watch) == ["Sources/Weather.swift"])
  }

  @Test func `a file in a new folder is a change, and so is a later one there`() async throws {
    let watch = SourceWatch([folder])
    try write("Sources/Views/Cloud.swift")
    #expect(try await next(watch) == ["Sources/Views/Cloud.swift"])
    try write("Sources/Views/Sun.swift")
    #expect(try await next(watch) == ["Sources/Views/Sun.swift"])
  }

  @Test func `what changes at once, also before the next wait, is one change`() async throws {
    let watch = SourceWatch([folder])
    let files = (10..<60).map { "Sources/File\($0).swift" }
    for file in files { try write(file) }
    #expect(try await next(watch) == files)
  }

  @Test func `only sources, resources and manifests count, and nothing hidden or excluded`() async throws {
    let watch = SourceWatch([folder], without: folder + "/Weather-WidgetLab")
    for file in [
      ".build/Weather.swift", "Weather-WidgetLab/Package.swift", "home.png", "Sources/.Weather.swift.swp",
      "Sources/Weather.swift~", "notes",
    ] { try write(file, "x") }
    try write("Assets.xcassets/Sun.imageset/sun.png")
    #expect(try await next(watch) == ["Assets.xcassets/Sun.imageset/sun.png"])
  }

  @Test func `a link to a folder above it is followed once`() async throws {
    try FileManager.default.createSymbolicLink(atPath: folder + "/Sources/loop", withDestinationPath: folder)
    let watch = SourceWatch([folder])
    #expect(await watch.count == 1)
  }

  @Test func `a cancelled wait returns`() async throws {
    let watch = SourceWatch([folder])
    let waiting = Task { await watch.next() }
    waiting.cancel()
    #expect(await waiting.value == nil)
  }
}
