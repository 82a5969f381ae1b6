// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Testing

/// The identity of a database, and how often it was opened.
@Suite struct StoreOpeningTests {
  @Test func `openings are counted until the database is removed, and a damaged count begins another one`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "opening-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let database = folder + "/host.sqlite"
    func isNew(_ opening: StoreOpening, after formerOpening: StoreOpening) -> Bool {
      opening.store != formerOpening.store && opening.opening == 1
    }

    let empty = try StoreOpening.next(of: database)
    #expect(empty.opening == 1)
    try Data([1]).write(to: URL(fileURLWithPath: database))
    for number in 2...11 {
      #expect(try StoreOpening.next(of: database) == StoreOpening(store: empty.store, opening: number))
    }
    // A process that is killed while it writes, or a full disk, must leave the former count: the file is replaced as a whole.
    try FileManager.default.linkItem(atPath: database + ".opening", toPath: folder + "/former")
    #expect(try StoreOpening.next(of: database).opening == 12)
    #expect(try String(contentsOfFile: folder + "/former", encoding: .utf8) == "\(empty.store.uuidString) 11\n")
    try Data("x 99999999999999999999\n".utf8).write(to: URL(fileURLWithPath: database + ".opening"))
    let damaged = try StoreOpening.next(of: database)
    #expect(isNew(damaged, after: empty))
    try FileManager.default.removeItem(atPath: database)
    #expect(isNew(try StoreOpening.next(of: database), after: damaged))
    #expect(throws: ClusterError.self) { try StoreOpening.next(of: folder + "/missing/host.sqlite") }
  }
}
