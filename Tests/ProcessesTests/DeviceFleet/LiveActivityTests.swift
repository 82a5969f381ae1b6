// SPDX-License-Identifier: Apache-2.0

import Cluster
import DeviceRules
import FidelityRules
import Foundation
import Testing

@testable import DeviceFleet

@Suite struct `Live Activities of a fleet` {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)
  private static let key = LiveActivityStateMachine.Key(device: 4, number: 1)

  private static func update(_ more: String = "", timestamp: Int = 10) -> String {
    #"{"aps":{"event":"update","timestamp":\#(timestamp),"content-state":{}\#(more)}}"#
  }

  private static func begun(_ change: (inout FleetProfile.LiveActivities) -> Void = { _ in })
    -> LiveActivityStateMachine
  {
    var rules = FleetProfile.LiveActivities()
    change(&rules)
    var machine = LiveActivityStateMachine(rules: rules)
    #expect(machine.start(key, now: start).0 == .started)
    return machine
  }

  private static func after(_ hours: Double) -> Date { start.addingTimeInterval(hours * 3_600) }

  @Test(.rule("ACTIVITY-18")) func `a start needs attributes and an alert`() {
    var machine = LiveActivityStateMachine(rules: FleetProfile.LiveActivities())
    let without = #"{"aps":{"event":"start","timestamp":1,"content-state":{}}}"#
    #expect(machine.receiveStart(without, Self.key, now: Self.start) == (.ignored, []))
    #expect(machine.receiveStart("no JSON", Self.key, now: Self.start) == (.ignored, []))
    #expect(machine.receiveStart(Self.update(), Self.key, now: Self.start) == (.ignored, []))
    func with(_ more: String) -> String {
      #"{"aps":{"event":"start","timestamp":1,"content-state":{},"attributes-type":"A","attributes":{}\#(more)}}"#
    }
    #expect(machine.receiveStart(with(""), Self.key, now: Self.start) == (.ignored, []))
    #expect(
      machine.receiveStart(with(#","alert":{"title":"x"}"#), Self.key, now: Self.start) == (
        .started, [.began(Self.key)]
      ))
  }

  @Test func `a device has no more activities than its limit`() {
    var machine = Self.begun { $0.limit = 2 }
    #expect(machine.start(.init(device: 4, number: 2), now: Self.start).0 == .started)
    #expect(machine.start(.init(device: 4, number: 3), now: Self.start) == (.tooMany, []))
    #expect(machine.start(.init(device: 5, number: 1), now: Self.start).0 == .started)
    #expect(machine.numbers(of: 4) == [1, 2])
  }

  @Test func `an update with an older timestamp is ignored`() {
    var machine = Self.begun()
    #expect(machine.receive(Self.update(timestamp: 20), priority: 5, Self.key, now: Self.start).0 == .updated)
    #expect(machine.receive(Self.update(timestamp: 19), priority: 5, Self.key, now: Self.start).0 == .outOfOrder)
    #expect(machine.receive(Self.update(timestamp: 20), priority: 5, Self.key, now: Self.start).0 == .updated)
  }

  @Test func `priority 10 has a budget that refills, and priority 5 has none`() {
    var machine = Self.begun { $0.priority10PerHour = 2 }
    func update(_ priority: Int, _ now: Date) -> LiveActivityStateMachine.Outcome {
      machine.receive(Self.update(), priority: priority, Self.key, now: now).0
    }
    #expect(
      [update(10, Self.start), update(10, Self.start), update(10, Self.start)] == [.updated, .updated, .throttled])
    #expect(update(5, Self.start) == .updated)
    #expect(update(10, Self.after(0.4)) == .throttled)
    #expect(update(10, Self.after(0.5)) == .updated)
  }

  @Test func `an update that is throttled makes no other one out of order`() {
    var machine = Self.begun { $0.priority10PerHour = 1 }
    func update(_ priority: Int, timestamp: Int) -> LiveActivityStateMachine.Outcome {
      machine.receive(Self.update(timestamp: timestamp), priority: priority, Self.key, now: Self.start).0
    }
    #expect(update(10, timestamp: 10) == .updated)
    #expect(update(10, timestamp: 30) == .throttled)
    #expect(update(5, timestamp: 20) == .updated)
    #expect(update(5, timestamp: 19) == .outOfOrder)
  }

  @Test func `the stale date passes once, and an update sets another`() {
    var machine = Self.begun()
    let stale = #","stale-date":\#(Int(Self.after(1).timeIntervalSince1970))"#
    _ = machine.receive(Self.update(stale), priority: 5, Self.key, now: Self.start)
    #expect(machine.advance(to: Self.after(0.9)).isEmpty)
    #expect(machine.advance(to: Self.after(1)).map(\.0) == [.stale])
    #expect(machine.advance(to: Self.after(2)).isEmpty)
    #expect(machine.activities[Self.key]?.isStale == true)
    _ = machine.receive(Self.update(), priority: 5, Self.key, now: Self.after(2))
    #expect(machine.activities[Self.key]?.isStale == false)
  }

  @Test func `the system ends an activity after eight hours, and it leaves the Lock Screen four hours later`() {
    var machine = Self.begun()
    #expect(machine.advance(to: Self.after(7.99)).isEmpty)
    let ended = machine.advance(to: Self.after(8))
    #expect(ended.map(\.0) == [.endedBySystem])
    #expect(ended.flatMap(\.1) == [.ended(Self.key)])
    #expect(machine.receive(Self.update(), priority: 5, Self.key, now: Self.after(9)).0 == .afterEnd)
    #expect(machine.advance(to: Self.after(11.9)).isEmpty)
    #expect(machine.advance(to: Self.after(12)).flatMap(\.1) == [.removed(Self.key)])
    #expect(machine.activities.isEmpty)
    #expect(machine.numbers(of: 4) == [])
  }

  @Test func `an end has a dismissal date of at most four hours`() {
    func dismissed(_ hours: Double) -> Double? {
      var machine = Self.begun()
      let date = Int(Self.after(hours).timeIntervalSince1970)
      let payload = #"{"aps":{"event":"end","timestamp":11,"dismissal-date":\#(date)}}"#
      #expect(machine.receive(payload, priority: 10, Self.key, now: Self.start) == (.ended, [.ended(Self.key)]))
      return machine.activities[Self.key]?.dismissAt.map { $0.timeIntervalSince(Self.start) / 3_600 }
    }
    #expect(dismissed(1) == 1)
    #expect(dismissed(-1) == -1, "a date in the past removes it at once")
    #expect(dismissed(10) == 4)
  }

  @Test func `a removed app removes its activities, and ends the tokens of those that run`() {
    var machine = Self.begun()
    #expect(machine.removeAll(of: 4) == [.ended(Self.key), .removed(Self.key)])
    #expect(machine.removeAll(of: 4).isEmpty)
    #expect(machine.advance(to: Self.after(100)).isEmpty)
  }

  @Test func `activities from a database continue`() {
    let first = Self.begun()
    var second = LiveActivityStateMachine(rules: first.rules, activities: first.activities)
    #expect(second.numbers(of: 4) == [1])
    #expect(second.advance(to: Self.after(8)).map(\.0) == [.endedBySystem])
  }
}
