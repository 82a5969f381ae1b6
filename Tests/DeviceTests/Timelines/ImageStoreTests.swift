// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import GRDB
import Messages
import Stores
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let origin = TimelineSamples.origin

@Suite struct `Images of stored timelines` {
  private static func digest(_ data: Data) -> String { ContentDigest.hexadecimal(of: data) }

  private static func entry(_ seconds: Double, _ images: Data...) -> ArchivedEntry {
    let views = images.map { ViewArchive(.leaf(.image), [.image: .string(digest($0))]) }
    return ArchivedEntry(date: origin + seconds, view: .group(views))
  }

  private func timeline(
    _ entries: [ArchivedEntry], images: [Data], limits: ArchiveLimits = ArchiveLimits()
  ) throws -> StoredTimeline {
    let images = Dictionary(uniqueKeysWithValues: images.map { (Self.digest($0), $0) })
    return try StoredTimeline(
      entries, images: images, reply: RequestTimeline.Reply(entries: entries, policy: .never), limits: limits)
  }

  private func save(_ timeline: StoredTimeline, _ id: Int, in store: TimelineStore, now: Date = origin) throws {
    try store.set(timeline, of: id, shown: origin, now: now)
  }

  private func count(_ table: String, _ database: DatabaseQueue) throws -> Int {
    try database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(table)") ?? 0 }
  }

  @Test(.rule("PICTURE-74"))
  func `an image of many entries and placements is stored once, until the last of them is replaced`() throws {
    let database = try DatabaseQueue()
    let store = try TimelineStore(DeviceTransactions(immediate: database))
    let (first, second) = (Data("first".utf8), Data("second".utf8))
    try save(
      timeline(
        [Self.entry(0, first), Self.entry(60, first, second), Self.entry(120, first)], images: [first, second]), 1,
      in: store)
    try save(timeline([Self.entry(0, first)], images: [first]), 2, in: store)
    #expect(try count("images", database) == 2 && count("entryImages", database) == 5)
    let piece = try #require(try store.image(Self.digest(first), from: 2, limit: 2))
    #expect(piece.piece == Data("rs".utf8) && piece.count == 5)
    try save(timeline([Self.entry(0, second)], images: [second]), 1, in: store)
    #expect(try count("images", database) == 2 && count("entryImages", database) == 2)
    try save(timeline([Self.entry(0, second)], images: [second]), 2, in: store)
    #expect(try count("images", database) == 1)
    #expect(try store.image(Self.digest(first), from: 0, limit: 2) == nil)
    #expect(try store.image(Self.digest(second), from: 0, limit: 10)?.piece == second)
  }

  @Test(.rule("PICTURE-74")) func `the entry that stays visible until the next timeline begins keeps its images`()
    throws
  {
    let database = try DatabaseQueue()
    let store = try TimelineStore(DeviceTransactions(immediate: database))
    let (first, second) = (Data("first".utf8), Data("second".utf8))
    try save(timeline([Self.entry(0, first)], images: [first]), 1, in: store)
    try save(timeline([Self.entry(600, second)], images: [second]), 1, in: store)
    #expect(try count("images", database) == 2)
    #expect(try store.shown(1, origin)?.entry?.view.imageDigests == [Self.digest(first)])
    try save(timeline([Self.entry(0, second)], images: [second]), 1, in: store)
    #expect(try count("images", database) == 1)
  }

  @Test(.rule("PICTURE-75"))
  func `images with another digest, over the limits or without a view are refused or left out`() throws {
    let data = Data("bytes".utf8)
    let entries = [Self.entry(0, data)]
    let reply = RequestTimeline.Reply(entries: entries, policy: .never)
    func failure(_ images: [String: Data], _ limits: ArchiveLimits = ArchiveLimits()) -> TimelineFault? {
      do throws(TimelineFault) {
        _ = try StoredTimeline(entries, images: images, reply: reply, limits: limits)
        return nil
      } catch {
        return error
      }
    }
    #expect(failure([Self.digest(data): data]) == nil)
    #expect(failure([Self.digest(data): data + [0]])?.failure == .failed)
    #expect(failure([Self.digest(data): data], ArchiveLimits(bytes: 4))?.reason.hasPrefix("bytes: the images") == true)
    #expect(
      failure([Self.digest(data): data], ArchiveLimits(bytes: 40))?.reason.hasPrefix("bytes: the archive") == true)
    // The views say nothing about the size.
    let header: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
    let huge = Data(header + [0, 0, 6, 0, 0, 0, 7, 0xF7])
    #expect(failure([Self.digest(huge): huge])?.reason.hasPrefix("imageArea: ") == true)
    let kept = try timeline([Self.entry(0)], images: [data])
    #expect(kept.images.isEmpty && kept.entries[0].images.isEmpty)
    let missing = try timeline([Self.entry(0, data)], images: [])
    #expect(missing.entries[0].images.isEmpty, "its bytes were not sent")
  }
}
