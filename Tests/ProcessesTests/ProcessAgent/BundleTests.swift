// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Glibc
import Testing

@testable import ProcessAgent

/// The bundles that the agent makes.
@Suite struct BundleTests {
  private let folder = FileManager.default.temporaryDirectory.path + "/bundle-\(UUID().uuidString)"

  private func with(_ body: (inout BundleFolder, DeviceFolder) throws -> Void) throws {
    let configuration = try ClusterConfiguration(
      yaml: """
        device: {name: phone}
        apps: [{bundle: com.a, executable: WeatherApp}]
        extensions:
          - {bundle: com.a.Widget, executable: bin/Weather, version: 2.0}
          - {bundle: com.b.Widget, executable: Alone}
        """)
    try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let device = InstanceFolder(folder + "/instance").device("phone")
    var bundles = BundleFolder(configuration, in: device)
    try body(&bundles, device)
  }

  private func write(_ text: String, to path: String) throws {
    let url = URL(fileURLWithPath: "\(folder)/bin/\(path)")
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  private func contents(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(.rule("BUNDLE-01", "BUNDLE-05"))
  func `a bundle has the property list, and links to the executable and its resources`() throws {
    try with { bundles, device in
      try write("1", to: "Weather")
      try write("note", to: "Package_Weather.resources/note.txt")
      try write("text", to: "Package_Weather.resources/de.lproj/Localizable.strings")
      try write("no", to: "Package_Weather.resources/Info.plist")
      try write("other", to: "Package_Other.resources/other.txt")
      let path = try #require(try bundles.make("com.a.Widget", executable: folder + "/bin/Weather"))
      let bundle = device.path + "/bundles/com.a/WeatherApp.app/PlugIns/Weather.appex"
      #expect(path == bundle + "/Weather" && contents(path) == "1")
      #expect(contents(bundle + "/note.txt") == "note" && contents(bundle + "/de.lproj/Localizable.strings") == "text")
      #expect(contents(bundle + "/Package_Other.resources/other.txt") == "other")
      #expect(contents(bundle + "/other.txt") == nil)
      #expect(contents(bundle + "/Info.plist")?.contains("<string>2.0</string>") == true)
      let app = device.path + "/bundles/com.a/WeatherApp.app/Info.plist"
      #expect(contents(app)?.contains("<string>com.a</string>") == true)
      let alone = try bundles.make("com.b.Widget", executable: folder + "/bin/Alone")
      #expect(alone == device.path + "/bundles/com.b.Widget/Alone.appex/Alone")
      #expect(try bundles.make("com.c", executable: folder + "/bin/Alone") == nil)
    }
  }

  @Test(.rule("BUNDLE-05")) func `a bundle that exists is brought up to date`() throws {
    try with { bundles, device in
      try write("old", to: "Package_Weather.resources/old.txt")
      let path = try #require(try bundles.make("com.a.Widget", executable: folder + "/bin/Weather"))
      let bundle = URL(fileURLWithPath: path).deletingLastPathComponent().path
      #expect(contents(bundle + "/old.txt") == "old")
      try FileManager.default.removeItem(atPath: folder + "/bin/Package_Weather.resources")
      try write("moved", to: "new/Weather")
      try write("new", to: "new/Package_Weather.resources/new.txt")
      #expect(try bundles.make("com.a.Widget", executable: folder + "/bin/new/Weather") == path)
      #expect(contents(path) == "moved" && contents(bundle + "/new.txt") == "new")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: bundle).sorted() == [
          "Info.plist", "Package_Weather.resources", "Weather", "new.txt",
        ])
    }
  }

  @Test(.rule("BUNDLE-05")) func `each change of a bundle or of its sources is found at the next launch`() throws {
    try with { bundles, _ in
      let files = FileManager.default
      let executable = folder + "/bin/Weather"
      try write("1", to: "Weather")
      try write("note", to: "Package_Weather.resources/note.txt")
      let path = try #require(try bundles.make("com.a.Widget", executable: executable))
      let bundle = URL(fileURLWithPath: path).deletingLastPathComponent().path
      try write("second", to: "Package_Weather.resources/second.txt")
      _ = try bundles.make("com.a.Widget", executable: executable)
      #expect(contents(bundle + "/second.txt") == "second")
      try write("other", to: "Package_Other.resources/other.txt")
      _ = try bundles.make("com.a.Widget", executable: executable)
      #expect(contents(bundle + "/Package_Other.resources/other.txt") == "other")
      try files.removeItem(atPath: path)
      _ = try bundles.make("com.a.Widget", executable: executable)
      #expect(contents(path) == "1")
      let properties = contents(bundle + "/Info.plist")
      try Data("lost".utf8).write(to: URL(fileURLWithPath: bundle + "/Info.plist"))
      _ = try bundles.make("com.a.Widget", executable: executable)
      #expect(contents(bundle + "/Info.plist") == properties)
      try files.removeItem(atPath: folder + "/instance")
      #expect(try bundles.make("com.a.Widget", executable: executable) == path)
      #expect(contents(path) == "1")
    }
  }

  @Test func `a bundle is not made again while nothing has changed`() throws {
    try with { bundles, _ in
      try write("1", to: "Weather")
      let path = try #require(try bundles.make("com.a.Widget", executable: folder + "/bin/Weather"))
      let file = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("Info.plist")
      var status = stat()
      #expect(stat(file.path, &status) == 0)
      let old = try Data(contentsOf: file)
      try Data(repeating: UInt8(ascii: "x"), count: old.count).write(to: file)
      // With its time of before, the file looks unchanged.
      let times = [status.st_atim, status.st_mtim]
      #expect(utimensat(AT_FDCWD, file.path, times, 0) == 0)
      _ = try bundles.make("com.a.Widget", executable: folder + "/bin/Weather")
      #expect(try Data(contentsOf: file).first == UInt8(ascii: "x"))
    }
  }

  @Test(.rule("BUNDLE-07"))
  func `a bundle has the resources that the configuration names, and one that does not exist is refused`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try write("1", to: "Weather")
    try write("target", to: "Package_Weather.resources/note.txt")
    try write("{}", to: "own/Assets.xcassets/Contents.json")
    try write("own", to: "own/note.txt")
    let device = InstanceFolder(folder + "/instance").device("phone")
    func make(_ resources: String) throws -> String? {
      let configuration = try ClusterConfiguration(
        yaml: """
          device: {name: phone}
          extensions: [{bundle: com.a.Widget, executable: bin/Weather, resources: [\(resources)]}]
          """, file: folder + "/widgetlab.yaml")
      var bundles = BundleFolder(configuration, in: device)
      return try bundles.make("com.a.Widget", executable: folder + "/bin/Weather")
    }
    let path = try #require(try make("bin/own/Assets.xcassets, \(folder)/bin/own/note.txt"))
    let bundle = URL(fileURLWithPath: path).deletingLastPathComponent().path
    #expect(contents(bundle + "/Assets.xcassets/Contents.json") == "{}" && contents(bundle + "/note.txt") == "own")
    _ = try make("")
    #expect(contents(bundle + "/Assets.xcassets/Contents.json") == nil && contents(bundle + "/note.txt") == "target")
    let missing = #expect(throws: ClusterError.self) { try make("bin/no.xcassets") }
    #expect(missing?.message.contains("\(folder)/bin/no.xcassets does not exist") == true)
    let both = "bin/own/note.txt, bin/Package_Weather.resources/note.txt"
    let twice = #expect(throws: ClusterError.self) { try make(both) }
    #expect(twice?.message.contains("two are named note.txt") == true)
  }
}
