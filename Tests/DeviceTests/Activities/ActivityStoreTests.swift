// SPDX-License-Identifier: Apache-2.0

import GRDB
import Stores
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

@Suite(.timeLimit(.minutes(1))) struct `The store of the activities` {
  /// The push of a change would arrive again if the host ended between the two.
  @Test func `a change of an activity is in the transaction of the push that causes it`() async throws {
    let database = try DatabaseQueue()
    try await database.write { try $0.execute(sql: "CREATE TABLE taken (id TEXT)") }
    let transactions = DeviceTransactions(
      database, clock: AdjustableClock(.running(ahead: 0)), broken: { Issue.record("\($0)") })
    let store = try ActivityStore(transactions)
    func rows() throws -> [Int?] {
      try database.unsafeReentrantRead { db in
        try ["taken", "activities"].map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") }
      }
    }
    // In one job of the executor, so that no transaction is made in between.
    try await Task { @DeviceActor in
      try transactions.write(.lasting) { try $0.run("INSERT INTO taken (id) VALUES ('push')") }
      try store.save(ActivityStateMachine.State())
      #expect(try rows() == [0, 0])
    }.value
    try await transactions.committed()
    #expect(try rows() == [1, 1])
  }
}
