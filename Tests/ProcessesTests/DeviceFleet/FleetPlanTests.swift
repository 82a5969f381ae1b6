// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import Testing

@testable import DeviceFleet

@Suite struct `The plan of a fleet` {
  private static func plan(_ seed: UInt64 = 7, name: String = "load", devices: Int = 200) -> FleetPlan {
    FleetPlan(name: name, seed: seed, devices: devices, profile: FleetProfile())
  }

  /// A text of all events until a time.
  private static func events(_ plan: FleetPlan, steps: [Double]) -> [UInt8] {
    let origin = Date(timeIntervalSince1970: 1_000)
    var machine = FleetStateMachine(plan, origin: origin)
    for step in steps {
      while !machine.advance(to: origin.addingTimeInterval(step), most: 13) {}
      _ = machine.takeChanges()
    }
    return (0..<UInt32(machine.devices.rows)).flatMap { machine.devices.row($0) }
  }

  @Test func `the same seed, name and profile give the same day, however often it is looked at`() {
    let day = 86_400.0
    let once = Self.events(Self.plan(), steps: [day])
    let often = Self.events(Self.plan(), steps: stride(from: 0, through: day, by: 60).map { $0 })
    #expect(once == often)
    #expect(once != Self.events(Self.plan(8), steps: [day]))
    #expect(once != Self.events(Self.plan(name: "other"), steps: [day]))
  }

  @Test func `a day has about as many events as the profile states`() {
    let plan = Self.plan(devices: 2_000)
    let origin = Date(timeIntervalSince1970: 0)
    var machine = FleetStateMachine(plan, origin: origin)
    var reached = 0
    while !machine.advance(to: origin.addingTimeInterval(86_400)) { reached += machine.takeChanges().reached.count }
    reached += machine.takeChanges().reached.count
    let absences = plan.profile.offline.timesPerDay + plan.profile.asleep.timesPerDay
    let each = Double(reached) / 2_000 / 2
    // An absent device does not leave again, so the number is below the rate.
    #expect(each > absences * 0.6 && each < absences * 1.05, "\(each) absences of \(absences)")
  }

  @Test func `the shares of tokens are those of the profile`() {
    let plan = Self.plan(devices: 20_000)
    for (slot, use) in FleetProfile.uses.enumerated() {
      let share = Double((0..<20_000).count { plan.has(slot, $0) }) / 20_000
      #expect(abs(share - (plan.profile.tokens[use] ?? 0)) < 0.02, "\(use): \(share)")
    }
  }

  @Test func `a device without rates has no events`() throws {
    let profile = try FleetProfile(
      yaml: """
        offline: {timesPerDay: 0, minutes: 1}
        asleep: {timesPerDay: 0, minutes: 1}
        rotationsPerYear: 0
        uninstallsPerYear: 0
        liveActivities: {perDay: 0}
        """)
    var machine = FleetStateMachine(
      FleetPlan(name: "still", seed: 1, devices: 10, profile: profile), origin: Date(timeIntervalSince1970: 0))
    #expect(machine.advance(to: Date(timeIntervalSince1970: 1e9)) == true)
    #expect(machine.tally.events == 0)
    #expect(machine.tally.online == 10)
  }

  @Test func `a row of devices is read as it was written`() {
    let plan = Self.plan(devices: 130)
    var machine = FleetStateMachine(plan, origin: Date(timeIntervalSince1970: 0))
    _ = machine.advance(to: Date(timeIntervalSince1970: 50_000))
    var copy = FleetDevices(count: 130)
    #expect(copy.rows == 3)
    for row in 0..<UInt32(copy.rows) { #expect(copy.read(row: row, machine.devices.row(row)) == true) }
    #expect((0..<3).allSatisfy { copy.row($0) == machine.devices.row($0) })
    #expect(copy.read(row: 2, machine.devices.row(0)) == false, "the last row is shorter")
    #expect(copy.read(row: 3, []) == false)
  }

  @Test func `a device that continues from its row has the same future`() {
    let plan = Self.plan()
    let origin = Date(timeIntervalSince1970: 0)
    var first = FleetStateMachine(plan, origin: origin)
    _ = first.advance(to: origin.addingTimeInterval(30_000))
    var devices = FleetDevices(count: 200)
    for row in 0..<UInt32(devices.rows) { _ = devices.read(row: row, first.devices.row(row)) }
    var second = FleetStateMachine(plan, origin: origin, devices: devices)
    for machine in [0, 1] {
      let end = origin.addingTimeInterval(90_000)
      if machine == 0 { while !first.advance(to: end) {} } else { while !second.advance(to: end) {} }
    }
    #expect((0..<4).allSatisfy { first.devices.row($0) == second.devices.row($0) })
    #expect(first.tally.online == second.tally.online)
  }
}
