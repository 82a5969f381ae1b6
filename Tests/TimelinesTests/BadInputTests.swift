import Archive
import Conversations
import Foundation
import Testing

@testable import Timelines

@Suite struct `what an extension gives` {
  private func kept(
    _ entries: [ArchivedEntry], _ limits: ArchiveLimits = ArchiveLimits()
  ) throws(TimelineFault) -> KeptTimeline {
    try KeptTimeline(entries, RequestTimeline.Reply(entries: entries, policy: .never), limits)
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

  @Test func `is sorted, and of several entries at one date the last counts`() throws {
    let kept = try kept([entry(600, "b"), entry(0, "a"), entry(600, "c")])
    #expect(kept.entries.map(\.upcoming.text) == [["a"], ["c"]])
  }

  @Test func `without an entry is refused`() { #expect(failure([])?.failure == .empty) }

  @Test func `has the same digest for the same views, whatever their dates`() throws {
    let first = try kept([entry(0, "a"), entry(600, "b")])
    #expect(try kept([entry(60, "a"), entry(900, "b")]).digest == first.digest)
    #expect(try kept([entry(60, "a"), entry(900, "c")]).digest != first.digest)
  }

  @Test(arguments: [400, 3])
  func `keeps so many entries as the setting says`(limit: Int) throws {
    let kept = try kept((0..<1000).map { entry(Double($0), "x") }, ArchiveLimits(entries: limit))
    #expect(kept.entries.count == limit)
    #expect(kept.note == "\(1000 - limit) entries over the limit of \(limit) are left out")
  }

  @Test(arguments: [4 << 20, 1 << 20])
  func `is refused over so many bytes as the setting says`(limit: Int) {
    let text = String(repeating: "x", count: 1 << 19)
    let limits = ArchiveLimits(bytes: limit)
    #expect(failure((0..<20).map { entry(Double($0), text) }, limits)?.reason.hasPrefix("bytes: ") == true)
    #expect(failure((0..<(limit >> 20)).map { entry(Double($0), text) }, limits) == nil)
  }

  @Test(arguments: [240, 5])
  func `is refused over so many views within views as the setting says`(limit: Int) {
    func nested(_ depth: Int) -> ArchivedEntry {
      let view = (1..<depth).reduce(ViewArchive.text("x")) { view, _ in ViewArchive("VStack", children: [view]) }
      return ArchivedEntry(date: origin, view: view)
    }
    let limits = ArchiveLimits(depth: limit)
    #expect(failure([nested(limit)], limits) == nil)
    #expect(failure([nested(limit + 1)], limits)?.failure == .tooLarge)
  }

  @Test(arguments: [2_121_055.2, 10_000])
  func `is refused with an image over the area of the setting`(limit: Double) {
    let limits = ArchiveLimits(imageArea: limit)
    func image(_ width: Double, _ height: Double) -> [ArchivedEntry] {
      let view = ViewArchive("Image", ["pixelWidth": .number(width), "pixelHeight": .number(height)])
      return [ArchivedEntry(date: origin, view: .group([view]))]
    }
    #expect(failure(image(1536, 2039), limits)?.reason.hasPrefix("imageArea: ") == true)
    #expect(failure(image(100, 100), limits) == nil)
  }
}

@Suite struct `the file of an answer` {
  private let folder = FileManager.default.temporaryDirectory.path + "/reply-\(UUID().uuidString)"

  private func read(_ name: String, _ data: Data?, limit: Int = 1 << 20) throws -> Result<Int, TimelineFault> {
    try FileManager.default.createDirectory(atPath: folder + "/in", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/" + name
    if let data { try data.write(to: URL(fileURLWithPath: path)) }
    if data == nil { symlink("/etc/passwd", path) }
    let result = Result { () throws(TimelineFault) -> Int in
      try ReplyFile.entries(at: path, in: folder + "/in", limit: limit).count
    }
    #expect(FileManager.default.fileExists(atPath: path) == !name.hasPrefix("in/"))
    return result
  }

  @Test func `is read and removed`() throws {
    let data = try BodyCoding.data([ArchivedEntry(date: origin, view: .text("x"))])
    #expect(try read("in/a.json", data) == .success(1))
  }

  @Test func `is not looked for outside of the extension's container, nor behind a link`() throws {
    #expect(try read("a.json", Data("[]".utf8)).failure?.reason.contains("not in the extension's container") == true)
    #expect(try read("in/a.json", nil).failure?.failure == .failed)
  }

  @Test func `is read no further than the limit`() throws {
    #expect(try read("in/a.json", Data(count: 10 << 20)).failure?.failure == .tooLarge)
  }

  @Test func `may hold a tree that no decoder follows to its end`() throws {
    let open = String(repeating: #"{"n":"VStack","c":["#, count: 10_000)
    let close = String(repeating: "]}", count: 10_000)
    let text = #"[{"date":0,"view":\#(open){"n":"Text"}\#(close)}]"#
    #expect(try read("in/a.json", Data(text.utf8)).failure?.failure == .failed)
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
