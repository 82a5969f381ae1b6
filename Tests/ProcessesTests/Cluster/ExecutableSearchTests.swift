// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Cluster

/// A project and a tool in a temporary folder, with empty files as executables.
private struct Place {
  let root: String
  var project: String { root + "/project" }
  var configuration: String { project + "/widgetlab.yaml" }

  init(_ files: String...) throws {
    root = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/search-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: project, withIntermediateDirectories: true)
    for file in files { try make(file) }
  }

  /// - Parameter age: how many seconds ago the file was built.
  func make(_ file: String, age: Double = 0) throws {
    let path = "\(root)/\(file)"
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
  }

  func search(named: String? = nil, ownPath: String = "tool/widgetlab", home: String? = nil) -> ExecutableSearch {
    ExecutableSearch(
      configuration: configuration, named: named.map { "\(root)/\($0)" }, ownPath: "\(root)/\(ownPath)",
      environment: home.map { [ExecutableSearch.homeVariable: $0.isEmpty ? "" : "\(root)/\($0)"] } ?? [:])
  }

  func remove() { try? FileManager.default.removeItem(atPath: root) }
}

@Suite(.timeLimit(.minutes(1))) struct `The search for an executable` {
  /// The places in the order of the search.
  private static let order = [
    "author/Weather", "project/Weather", "project/.build/debug/Weather", "tool/Weather",
  ]

  @Test(arguments: order.indices)
  func `a plain executable name is found in the first place that has it`(first: Int) throws {
    let place = try Place()
    defer { place.remove() }
    for file in Self.order[first...] { try place.make(file) }
    #expect(place.search(named: "author").authored("Weather") == "\(place.root)/\(Self.order[first])")
  }

  @Test func `a missing executable is not found, and every searched place is listed`() throws {
    let place = try Place()
    defer { place.remove() }
    let search = place.search(named: "author")
    #expect(search.authored("Weather") == nil)
    #expect(
      search.places(of: "Weather")
        == [
          "author/Weather", "project/Weather", "project/.build/debug/Weather", "project/.build/release/Weather",
          "tool/Weather",
        ].map { "\(place.root)/\($0)" })
    #expect(search.places(of: "bin/Weather") == ["\(place.project)/bin/Weather"])
  }

  @Test func `of two builds of a project, the newer executable is taken`() throws {
    let place = try Place()
    defer { place.remove() }
    try place.make("project/.build/debug/Weather", age: 100)
    try place.make("project/.build/release/Weather", age: 10)
    #expect(place.search().authored("Weather") == "\(place.project)/.build/release/Weather")
    try place.make("project/.build/debug/Weather", age: 5)
    #expect(place.search().authored("Weather") == "\(place.project)/.build/debug/Weather")
  }

  @Test(arguments: [
    ("bin/Weather", "project/bin/Weather"), ("./Weather", "project/Weather"), ("../bin/Weather", "bin/Weather"),
  ])
  func `a path with a slash is relative to widgetlab.yaml and is searched nowhere else`(
    executable: String, file: String
  ) throws {
    let place = try Place("author/bin/Weather", "tool/bin/Weather", "author/Weather", "tool/Weather")
    defer { place.remove() }
    #expect(place.search(named: "author").authored(executable) == nil)
    try place.make(file)
    #expect(place.search(named: "author").authored(executable) == "\(place.root)/\(file)")
  }

  @Test func `an absolute path is taken unchanged`() throws {
    let place = try Place("elsewhere/Weather")
    defer { place.remove() }
    #expect(place.search().authored("\(place.root)/elsewhere/Weather") == "\(place.root)/elsewhere/Weather")
  }

  @Test func `a folder with the executable's name is skipped, as Xcode creates one beside the configuration`() throws {
    let place = try Place("project/Weather/Info.plist", "project/.build/debug/Weather")
    defer { place.remove() }
    #expect(place.search().authored("Weather") == "\(place.project)/.build/debug/Weather")
  }

  @Test func `a clone's sample is taken from the build of the running tool`() throws {
    let place = try Place("project/.build/release/widgetlab", "project/.build/release/sample")
    defer { place.remove() }
    try place.make("project/.build/debug/sample")
    let search = place.search(ownPath: "project/.build/release/widgetlab")
    #expect(search.authored("sample") == "\(place.project)/.build/release/sample")
  }

  // MARK: WidgetLab's own executables

  @Test func `the message bus is found beside the tool when --executables has only the author's executables`() throws {
    let place = try Place("author/Weather", "tool/message-bus")
    defer { place.remove() }
    let search = place.search(named: "author")
    #expect(search.standing("message-bus") == "\(place.root)/tool/message-bus")
    #expect(search.authored("Weather") == "\(place.root)/author/Weather")
  }

  @Test func `the message bus is taken from --executables when it is there`() throws {
    let place = try Place("author/message-bus", "tool/message-bus", "home/bin/message-bus")
    defer { place.remove() }
    #expect(place.search(named: "author", home: "home").standing("message-bus") == "\(place.root)/author/message-bus")
  }

  @Test func `a message bus in the project is never taken`() throws {
    let place = try Place("project/message-bus", "project/.build/debug/message-bus")
    defer { place.remove() }
    #expect(place.search().standing("message-bus") == nil)
    #expect(place.search().places(ofStanding: "message-bus") == ["\(place.root)/tool/message-bus"])
  }

  @Test(arguments: ["libexec/widgetlab", "bin", ".", ".build/debug", ".build/release"])
  func `executables are taken from an installation or a clone in WIDGETLAB_HOME`(folder: String) throws {
    let place = try Place("tool/message-bus", "home/\(folder)/message-bus", "home/\(folder)/sample")
    defer { place.remove() }
    let search = place.search(home: "home")
    let found = try #require(search.standing("message-bus"))
    #expect(URL(fileURLWithPath: found).standardizedFileURL.path == place.search(home: "home").standing("message-bus"))
    #expect(found.hasPrefix("\(place.root)/home/"))
    #expect(search.authored("sample")?.hasPrefix("\(place.root)/home/") == true)
  }

  @Test func `of two builds of a clone in WIDGETLAB_HOME, the newer executable is taken`() throws {
    let place = try Place()
    defer { place.remove() }
    try place.make("home/.build/debug/message-bus", age: 100)
    try place.make("home/.build/release/message-bus", age: 10)
    #expect(place.search(home: "home").standing("message-bus") == "\(place.root)/home/.build/release/message-bus")
  }

  @Test func `an empty WIDGETLAB_HOME is ignored`() throws {
    let place = try Place("tool/message-bus")
    defer { place.remove() }
    #expect(place.search(home: "").standing("message-bus") == "\(place.root)/tool/message-bus")
  }

  @Test func `a WIDGETLAB_HOME without a message bus is among the listed places`() throws {
    let place = try Place("tool/message-bus")
    defer { place.remove() }
    let search = place.search(home: "home")
    #expect(search.standing("message-bus") == nil)
    #expect(search.places(ofStanding: "message-bus").contains("\(place.root)/home/libexec/widgetlab/message-bus"))
  }
}
