// SPDX-License-Identifier: Apache-2.0

import GRDB
import Stores
import Testing
import Timekeeping

@testable import Activities

@Suite(.timeLimit(.minutes(1))) struct `The store of the activities` {
  /// The push of a change would arrive again if the host ended between the two.
  @Test func `what waits for the device's transaction is written before a change of an activity`() async throws {
    let database = try DatabaseQueue()
    try await database.write { try $0.execute(sql: "CREATE TABLE taken (id TEXT)") }
    let executor = ServiceExecutor("device")
    let transactions = DeviceTransactions(
      database, executor: executor, clock: AdjustableClock(.running(ahead: 0)), broken: { _ in })
    let store = try ActivityStore(transactions)
    // In one job of the executor, so that no transaction is made in between.
    let taken = try await Task(executorPreference: executor.taskExecutor) {
      try transactions.write(.lasting) { try $0.run("INSERT INTO taken (id) VALUES ('push')") }
      try store.save(ActivityStateMachine.State())
      return try database.unsafeReentrantRead { try Int.fetchOne($0, sql: "SELECT count(*) FROM taken") }
    }.value
    #expect(taken == 1)
  }
}
