// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Cluster
import Foundation
import Glibc

/// What a machine forgets that loses power, or gets an older copy of a file: it happens while no process of the cluster
/// runs.
struct ClusterLoss: Sendable {
  /// The newest segment of the journal when this was made, and its length then.
  private let segment: (name: String, length: off_t)?
  private let journal: String
  /// The files of a database and its write-ahead log, and their content; empty when the journal loses its end.
  private let copies: [(path: String, content: Data)]

  /// From now on the journal's writes will be lost.
  init(ofJournal folder: String) {
    journal = folder
    copies = []
    let newest = JournalEnd(folder: folder).newest
    segment = newest.map { ($0, off_t(FileManager.default.size("\(folder)/\($0)"))) }
  }

  /// From now on the writes to the database of a process will be lost. The process must not run.
  init?(ofStore victim: ChaosVictim, _ instance: InstanceFolder) {
    let paths: [ChaosVictim: String] = [
      .host: instance.host + "/host.sqlite", .pushServer: instance.pushServer + "/push.sqlite",
    ]
    guard let path = paths[victim] else { return nil }
    journal = instance.journal
    segment = nil
    copies = [path, path + "-wal", path + ".opening"].compactMap { file in
      FileManager.default.contents(atPath: file).map { (file, $0) }
    }
    guard !copies.isEmpty else { return nil }
  }

  func happen() {
    if let segment {
      for name in JournalEnd(folder: journal).segments where name > segment.name { unlink("\(journal)/\(name)") }
      truncate("\(journal)/\(segment.name)", segment.length)
    }
    guard let database = copies.first?.path else { return }
    for suffix in ["-wal", "-shm"] { unlink(database + suffix) }
    for (path, content) in copies { try? content.write(to: URL(fileURLWithPath: path)) }
  }
}

extension FileManager {
  /// In bytes; 0 when there is no such file.
  fileprivate func size(_ path: String) -> Int {
    ((try? attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
  }
}

/// The end of the newest segment of a journal whose broker is dead.
struct JournalEnd {
  let folder: String

  /// The names of the segments, in order.
  var segments: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".journal") }.sorted()
  }

  var newest: String? { segments.last }

  /// Adds what a broker leaves that is interrupted in the middle of a write.
  func damage(_ damage: JournalDamage) {
    guard let newest else { return }
    let path = "\(folder)/\(newest)"
    switch damage {
    case .half: append(Self.head(length: 600) + Array(repeating: 0x20, count: 200), to: path)
    case .garbage: append(Self.head(length: 300) + Array(repeating: 0xff, count: 300), to: path)
    case .draft: _ = FileManager.default.createFile(atPath: path + ".draft", contents: Data())
    }
  }

  /// The head of a record: the length of its frame, and a checksum that matches nothing.
  private static func head(length: UInt32) -> [UInt8] {
    withUnsafeBytes(of: length.littleEndian) { Array($0) } + [0xde, 0xad, 0xbe, 0xef]
  }

  private func append(_ bytes: [UInt8], to path: String) {
    guard let file = FileHandle(forWritingAtPath: path) else { return }
    defer { try? file.close() }
    _ = try? file.seekToEnd()
    try? file.write(contentsOf: bytes)
  }
}
