// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import GRDB
import MessageBus
import Messages
import Testing
import Timekeeping

@Suite(.timeLimit(.minutes(1))) struct `Planted faults` {
  private let bus = InMemoryBus()
  private let agent = Address.agent("phone", 1)
  private let host = Address.host("phone")
  private let widget = Address.widgetExtension("phone", "com.example.App.Widget")

  @Test func `each planted fault has its own name, an executable and a sentence`() {
    let names = PlantedFault.allCases.map(\.name)
    #expect(Set(names).count == names.count)
    for fault in PlantedFault.allCases {
      #expect(PlantedFault(rawValue: fault.name) == fault)
      #expect(fault.summary.hasSuffix("."), "\(fault.name)")
      #expect(["host-system", "message-bus", "process-agent", "push-server"].contains(fault.executable))
    }
  }

  private func exits(_ fault: PlantedFault) async throws -> [UInt32] {
    let received = AsyncStream.makeStream(of: UInt32.self)
    let receiver = bus.connection(host)
    receiver.onEvent(ProcessExited.self) { event, _ in received.continuation.yield(event.generation) }
    _ = try await receiver.start()
    let connection = FaultyConnection(bus.connection(agent), fault)
    _ = try await connection.start()
    try await connection.deliver(
      ProcessExited(address: widget, generation: 7, pid: 1, ending: .exited(code: 0)), to: host)
    var foundFaults: [UInt32] = []
    for await generation in received.stream {
      foundFaults.append(generation)
      if foundFaults.count == (fault == .falsePid ? 1 : 2) { break }
    }
    await connection.leave()
    await receiver.leave()
    return foundFaults.sorted()
  }

  @Test(arguments: [(PlantedFault.falsePid, [7]), (.exitReportedTwice, [7, 7]), (.exitOfAnother, [7, 8])])
  func `a faulty connection reports exits as its fault says`(fault: PlantedFault, generations: [UInt32]) async throws {
    #expect(try await exits(fault) == generations)
  }

  @Test func `a host that forgets acknowledgements deletes no row`() throws {
    let database = try DatabaseQueue()
    try database.write { db in
      try db.execute(
        sql: """
          CREATE TABLE deliveries (id TEXT); CREATE TABLE tasks (id TEXT);
          INSERT INTO deliveries VALUES ('one'); INSERT INTO tasks VALUES ('one')
          """)
    }
    try FaultyDatabase.plant(.acknowledgementForgotten, in: database, TaskOwner())
    try database.write { try $0.execute(sql: "DELETE FROM deliveries; DELETE FROM tasks") }
    let counts = try database.read { db in
      try ["deliveries", "tasks"].map { try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \($0)") }
    }
    #expect(counts == [1, 1])
  }
}
