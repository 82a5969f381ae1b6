// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let origin = TimelineSamples.origin

@Suite struct `Timelines of an extension` {
  private func kept(
    _ entries: [ArchivedEntry], _ limits: ArchiveLimits = ArchiveLimits()
  ) throws(TimelineFault) -> StoredTimeline {
    try StoredTimeline(entries, reply: RequestTimeline.Reply(entries: entries, policy: .never), limits: limits)
  }
  private func entry(_ seconds: Double, _ text: String) -> ArchivedEntry {
    ArchivedEntry(date: origin + seconds, view: .text(text))
  }
  private func failure(_ entries: [ArchivedEntry], _ limits: ArchiveLimits = ArchiveLimits()) -> TimelineFault? {
    do {
      _ = try kept(entries, limits)
      return nil
    } catch {
      return error
    }
  }

  @Test(.rule("TIMELINE-12"))
  func `entries are sorted by date, and the last of several entries with one date is kept`() throws {
    let kept = try kept([entry(600, "b"), entry(0, "a"), entry(600, "c")])
    #expect(kept.entries.map(\.upcoming.text) == [["a"], ["c"]])
  }

  @Test(.rule("TIMELINE-13")) func `a timeline without entries is refused`() { #expect(failure([])?.failure == .empty) }

  @Test func `the digest of a timeline depends on its views and not on their dates`() throws {
    let first = try kept([entry(0, "a"), entry(600, "b")])
    #expect(try kept([entry(60, "a"), entry(900, "b")]).digest == first.digest)
    #expect(try kept([entry(60, "a"), entry(900, "c")]).digest != first.digest)
  }

  @Test(.rule("TIMELINE-30"), arguments: [400, 3])
  func `a timeline keeps at most the configured number of entries`(limit: Int) throws {
    let kept = try kept((0..<1000).map { entry(Double($0), "x") }, ArchiveLimits(entries: limit))
    #expect(kept.entries.count == limit)
    #expect(kept.note == "\(1000 - limit) entries over the limit of \(limit) are left out")
  }

  @Test(.rule("TIMELINE-27"), arguments: [4 << 20, 1 << 20])
  func `a timeline over the configured size in bytes is refused`(limit: Int) {
    let text = String(repeating: "x", count: 1 << 19)
    let limits = ArchiveLimits(bytes: limit)
    #expect(failure((0..<20).map { entry(Double($0), text) }, limits)?.reason.hasPrefix("bytes: ") == true)
    #expect(failure((0..<(limit >> 20)).map { entry(Double($0), text) }, limits) == nil)
  }

  @Test(.rule("TIMELINE-28"), arguments: [240, 5])
  func `a timeline with views nested deeper than the configured limit is refused`(limit: Int) {
    func nested(_ depth: Int) -> ArchivedEntry {
      let view = (1..<depth).reduce(ViewArchive.text("x")) { view, _ in
        ViewArchive(.container(.vStack), children: [view])
      }
      return ArchivedEntry(date: origin, view: view)
    }
    let limits = ArchiveLimits(depth: limit)
    #expect(failure([nested(limit)], limits) == nil)
    #expect(failure([nested(limit + 1)], limits)?.failure == .tooLarge)
  }

  @Test(.rule("TIMELINE-29"), arguments: [2_121_055.2, 10_000])
  func `a timeline with an image over the configured area is refused`(limit: Double) {
    let limits = ArchiveLimits(imageArea: limit)
    func image(_ width: Double, _ height: Double) -> [ArchivedEntry] {
      let view = ViewArchive(.leaf(.image), [.pixelWidth: .number(width), .pixelHeight: .number(height)])
      return [ArchivedEntry(date: origin, view: .group([view]))]
    }
    #expect(failure(image(1536, 2039), limits)?.reason.hasPrefix("imageArea: ") == true)
    #expect(failure(image(100, 100), limits) == nil)
  }
}

@Suite struct `Reply files of an extension` {
  private let folder = FileManager.default.temporaryDirectory.path + "/reply-\(UUID().uuidString)"

  private func read(_ name: String, _ data: Data?, limit: Int = 1 << 20) throws -> Result<Int, TimelineFault> {
    try FileManager.default.createDirectory(atPath: folder + "/in", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/" + name
    if let data { try data.write(to: URL(fileURLWithPath: path)) }
    if data == nil { symlink("/etc/passwd", path) }
    let result = Result { () throws(TimelineFault) -> Int in
      try ReplyFile.content(at: path, in: folder + "/in", limit: limit).entries.count
    }
    #expect(FileManager.default.fileExists(atPath: path) == !name.hasPrefix("in/"))
    return result
  }

  @Test func `a reply file is read and removed`() throws {
    let data = try BodyCoding.data(TimelineFile(entries: [ArchivedEntry(date: origin, view: .text("x"))]))
    #expect(try read("in/a.json", data) == .success(1))
  }

  @Test func `a reply file outside of the extension's container or behind a link is not read`() throws {
    #expect(try read("a.json", Data("[]".utf8)).failure?.reason.contains("not in the extension's container") == true)
    #expect(try read("in/a.json", nil).failure?.failure == .failed)
  }

  @Test func `a reply file over the size limit is refused`() throws {
    #expect(try read("in/a.json", Data(count: 10 << 20)).failure?.failure == .tooLarge)
  }

  @Test(.rule("TIMELINE-28")) func `a reply file with a view tree that is too deep to decode is refused`() throws {
    let open = String(repeating: #"{"n":"VStack","c":["#, count: 10_000)
    let close = String(repeating: "]}", count: 10_000)
    let text = #"{"entries":[{"date":0,"view":\#(open){"n":"Text"}\#(close)}]}"#
    #expect(try read("in/a.json", Data(text.utf8)).failure?.failure == .failed)
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
