// SPDX-License-Identifier: Apache-2.0

import DefaultsLog
import FidelityRules
import Foundation
import Messages
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A storage of cookies` {
  private let folder = FileManager.default.temporaryDirectory.path + "/cookies-\(UUID().uuidString)"
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  @Test(.rule("NETWORK-14"))
  func `cookies with an expiry date are shared by the storages of a container, all others are in memory`() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let url = try #require(URL(string: "https://figures.example/a"))
    let (first, second) = (CookieStorage(in: folder), CookieStorage(in: folder))
    first.store(["short=1", "long=1; Max-Age=100"], from: url, at: now)
    #expect(first.header(for: url, at: now) == "long=1; short=1")
    #expect(second.header(for: url, at: now) == "long=1")
    #expect(CookieStorage().header(for: url, at: now) == nil)
    #expect(second.header(for: url, at: now + 101) == nil)
    second.store(["long=2; Max-Age=100"], from: url, at: now)
    #expect(first.header(for: url, at: now) == "long=2; short=1")
    // A cookie replaces one of the same name, wherever that is.
    first.store(["long=3"], from: url, at: now)
    #expect(first.header(for: url, at: now) == "long=3; short=1")
    #expect(second.header(for: url, at: now) == nil)
    first.store(["long=4; Max-Age=100", "short=; Max-Age=0"], from: url, at: now)
    #expect(first.header(for: url, at: now) == "long=4" && second.header(for: url, at: now) == "long=4")
    second.clear()
    #expect(first.header(for: url, at: now) == nil)
  }

  @Test(.rule("NETWORK-14")) func `a file with many changes is compacted, and keeps the cookies`() async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let url = try #require(URL(string: "https://figures.example/a"))
    let storage = CookieStorage(in: folder)
    for count in 1...400 { storage.store(["long=\(count); Max-Age=100"], from: url, at: now) }
    let file = folder + "/Library/Cookies/Cookies.log"
    let size = try #require(FileManager.default.contents(atPath: file)?.count)
    // A file that is in use is not compacted. A process that another test starts has the lock until it executes its program.
    while try #require(FileManager.default.contents(atPath: file)?.count) >= size / 100 {
      CookieStorage.compact(in: folder)
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(storage.header(for: url, at: now) == "long=400")
  }

  @Test(.rule("NETWORK-14")) func `a container that an update has moved is not created again`() throws {
    let url = try #require(URL(string: "https://figures.example/a"))
    let storage = CookieStorage(in: folder)
    storage.store(["long=1; Max-Age=100"], from: url, at: now)
    #expect(!FileManager.default.fileExists(atPath: folder))
    #expect(storage.header(for: url, at: now) == nil)
  }

  @Test(.rule("NETWORK-14")) func `expired cookies are removed from the file`() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let url = try #require(URL(string: "https://figures.example/a"))
    let storage = CookieStorage(in: folder)
    for count in 1...50 { storage.store(["name\(count)=1; Max-Age=\(count)"], from: url, at: now) }
    storage.store(["last=1; Max-Age=100"], from: url, at: now + 60)
    #expect(storage.header(for: url, at: now) == "last=1")
  }
}
