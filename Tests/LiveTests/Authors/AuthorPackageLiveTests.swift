// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WidgetLabTesting

/// A package outside WidgetLab, as Documentation/authors.md describes it.
@Suite(.live, .timeLimit(.live)) struct `An author's own package` {
  private static let debug = ".build/debug/WeatherWidget"

  /// Longer than the time limit of the suite: no command may end by its timeout.
  private static let forever = ["--timeout", "36000"]

  @Test(arguments: ["WeatherWidget", "bin/WeatherWidget", "./WeatherWidget"])
  func `up runs a package from executables that are next to widgetlab.yaml`(executable: String) async throws {
    let package = try AuthorPackage(extension: executable, app: "WeatherApp")
    defer { package.remove() }
    try package.link("containing-app", as: ".build/release/WeatherApp")
    try package.link("FixtureWidgets", as: executable.contains("/") ? executable : Self.debug)
    try await package.up {
      for command in [["app", "open"], ["app", "background"]] {
        let answer = try await package.widgetlab(command)
        #expect(answer.status == 0, "\(command): \(answer)")
      }
      let gallery = try await package.widgetlab("gallery")
      #expect(gallery.status == 0 && gallery.output.contains("Plain"), "\(gallery)")
      let add = try await package.widgetlab("add", "Plain")
      #expect(add.status == 0, "\(add)")
      let screen = try await package.widgetlab("screen")
      #expect(screen.status == 0 && screen.output.contains("Plain"), "\(screen)")
    }
  }

  @Test func `up runs a package that has only its own executables in the folder of --executables`() async throws {
    let package = try AuthorPackage()
    defer { package.remove() }
    try package.link("FixtureWidgets", as: "build/WeatherWidget")
    try await package.up("--executables", package.folder + "/build") {
      let gallery = try await package.widgetlab("gallery")
      #expect(gallery.status == 0 && gallery.output.contains("Plain"), "\(gallery)")
    }
  }

  // MARK: Before anything is started

  @Test func `up refuses missing executables and lists each of them, the places searched and the build command`()
    async throws
  {
    let package = try AuthorPackage(app: "WeatherApp")
    defer { package.remove() }
    try package.write(Data("// swift-tools-version: 6.3\n".utf8), to: "Package.swift")
    let answer = try await package.widgetlab("up")
    #expect(answer.status == 78)
    for part in [
      "executable WeatherApp not found", "executable WeatherWidget not found", "\(package.folder)/\(Self.debug)",
      "\(package.folder)/.build/release/WeatherWidget", "swift build --product WeatherWidget",
    ] { #expect(answer.errors.contains(part), "\(answer.errors)") }
    #expect(!FileManager.default.fileExists(atPath: package.instance), "nothing was started")
  }

  @Test(arguments: [
    ("text", 0o755, "is not a program"), ("text", 0o644, "is not executable"), ("library", 0o755, "libn.so.6"),
    ("machine", 0o755, "is built for"),
  ])
  func `up refuses an executable that cannot be started and reports its path and the cause`(
    file: String, permissions: Int, words: String
  ) async throws {
    let package = try AuthorPackage()
    defer { package.remove() }
    try package.write(try Self.data(of: file), to: Self.debug, permissions: permissions)
    let answer = try await package.widgetlab("up")
    #expect(answer.status == 78)
    #expect(answer.errors.contains("\(package.folder)/\(Self.debug) "), "\(answer.errors)")
    #expect(answer.errors.contains(words), "\(answer.errors)")
    #expect(!FileManager.default.fileExists(atPath: package.instance), "nothing was started")
  }

  /// A file that cannot be started: a text, the shell for another machine, or the shell with a missing library.
  private static func data(of file: String) throws -> Data {
    guard file != "text" else { return Data("hello\n".utf8) }
    var shell = try Data(contentsOf: URL(fileURLWithPath: "/bin/sh"))
    if file == "machine" {
      shell[18] = shell[18] == 183 ? 62 : 183
    } else {
      let range = try #require(shell.range(of: Data("libc.so.6".utf8)))
      shell.replaceSubrange(range, with: Data("libn.so.6".utf8))
    }
    return shell
  }

  // MARK: While the cluster runs

  @Test func `each command reports an extension or an app that exits at launch, with the cause`() async throws {
    let package = try AuthorPackage(app: "WeatherApp")
    defer { package.remove() }
    let cause = "error while loading shared libraries: libnope.so: cannot open shared object file"
    try package.fail(Self.debug, saying: cause, code: 127)
    try package.fail(".build/debug/WeatherApp", saying: "main.swift:3: Fatal error: no city", code: 4)
    try await package.up {
      for command in [
        ["gallery"], ["reload", "--all"] + Self.forever, ["reload", "Weather"] + Self.forever, ["add", "Weather"],
        ["screen"], ["wait", "--for", "extension=running"] + Self.forever,
      ] {
        let answer = try await package.widgetlab(command)
        #expect(answer.status == 78, "\(command): \(answer)")
        for part in [
          "ended-at-launch", AuthorPackage.widget, "exit code 127", "\(package.folder)/\(Self.debug)", cause,
        ] {
          #expect(answer.errors.contains(part), "\(command): \(answer.errors)")
        }
      }
      let open = try await package.widgetlab("app", "open")
      #expect(open.status == 78, "\(open)")
      for part in ["ended-at-launch", "exit code 4", ".build/debug/WeatherApp", "Fatal error: no city"] {
        #expect(open.errors.contains(part), "\(open.errors)")
      }
    }
  }

  @Test
  func `each command reports a missing executable with its path, and works again when the file is back`() async throws {
    let package = try AuthorPackage()
    defer { package.remove() }
    try package.link("FixtureWidgets", as: Self.debug)
    try await package.up {
      unlink("\(package.folder)/\(Self.debug)")
      for command in [["reload", "--all"] + Self.forever, ["gallery"], ["add", "Plain"], ["screen"]] {
        let answer = try await package.widgetlab(command)
        #expect(answer.status == 78, "\(command): \(answer)")
        for part in ["no-such-executable", "\(package.folder)/\(Self.debug)", AuthorPackage.widget] {
          #expect(answer.errors.contains(part), "\(command): \(answer.errors)")
        }
      }
      try package.link("FixtureWidgets", as: Self.debug)
      let gallery = try await package.widgetlab("gallery")
      #expect(gallery.status == 0 && gallery.output.contains("Plain"), "\(gallery)")
      let screen = try await package.widgetlab("screen")
      #expect(screen.status == 0, "\(screen)")
    }
  }
}
