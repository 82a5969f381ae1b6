// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import Testing

@testable import DeviceFleet

@Suite struct `The devices of a fleet` {
  private static let origin = Date(timeIntervalSince1970: 1_000_000)
  private static let all = FleetProfile.uses.map { "  \($0): 1" }.joined(separator: "\n")

  /// Devices with all tokens, to which nothing happens.
  private static func still(_ more: String = "uninstallsPerYear: 0") throws -> FleetStateMachine {
    let profile = try FleetProfile(
      yaml: """
        tokens:
        \(all)
        offline: {timesPerDay: 0}
        asleep: {timesPerDay: 0}
        \(more.contains("rotationsPerYear") ? "" : "rotationsPerYear: 0")
        liveActivities: {perDay: 0}
        \(more)
        """)
    return FleetStateMachine(FleetPlan(name: "load", seed: 1, devices: 3, profile: profile), origin: origin)
  }

  private static func push(
    _ use: PushTokenUse, type: PushType, payload: String = #"{"aps":{}}"#, priority: Int = 10, device: Int = 1,
    expiration: Date? = nil
  ) -> PushedNotification {
    PushedNotification(
      uniqueID: UUID(), apnsID: "1",
      subject: PushSubject(device: "load:\(device)", bundle: "com.example.app", use: use),
      type: type, priority: priority, collapseID: nil, payload: payload, acceptedAt: Date(timeIntervalSinceNow: -10),
      expiration: expiration, isFromStorage: false)
  }

  private static func confirm(_ machine: inout FleetStateMachine) {
    for token in machine.tokens(in: [.wanted, .ending]) {
      let cell = machine.cell(token)
      if machine.confirmed(token, cell) { machine.registered(token, serial: cell.serial) }
    }
  }

  @Test func `a token is wanted, issued and registered`() throws {
    var machine = try Self.still()
    #expect(machine.tally.state.wanted == 30)
    let token = TokenReference(1, slot: 0)
    let cell = machine.cell(token)
    #expect(machine.confirmed(token, cell) == true)
    #expect(machine.confirmed(token, cell) == false, "only once")
    #expect(machine.tally.state.issued == 1)
    machine.registered(token, serial: 5)
    #expect(machine.tally.state.registered == 0, "another token's registration")
    machine.registered(token, serial: 0)
    #expect(machine.tally.state.registered == 1)
  }

  @Test func `a rotated token is wanted again with the next serial number, and an earlier reply is ignored`() throws {
    var machine = try Self.still("rotationsPerYear: 1000000")
    Self.confirm(&machine)
    _ = machine.takeChanges()
    while machine.takeChangesOfTokens().isEmpty { _ = machine.advance(to: machine.nextTime) }
    let token = try #require(machine.tokens(in: [.wanted]).first)
    let cell = machine.cell(token)
    #expect(cell.serial == 1)
    #expect(machine.confirmed(token, TokenCell(.wanted, serial: 0)) == false)
    #expect(machine.confirmed(token, cell) == true)
  }

  @Test func `a removed app ends its tokens, and an installed one wants new ones`() throws {
    var machine = try Self.still("{uninstallsPerYear: 1000000, reinstallDays: 0.001}".inBraces)
    Self.confirm(&machine)
    while machine.tally.installed == 3 { _ = machine.advance(to: machine.nextTime) }
    #expect(machine.tally.state.ending == 10)
    let gone = try #require(machine.tokens(in: [.ending]).first)
    #expect(
      machine.receive(Self.push(.app, type: .alert, device: Int(gone.device)), gone.device, now: Self.origin)
        == .success("handled"))
    Self.confirm(&machine)
    #expect(machine.tally.state.ending == 0)
    #expect(
      machine.receive(Self.push(.app, type: .alert, device: Int(gone.device)), gone.device, now: Self.origin)
        == .failure(.init(code: .noSuchToken)))
    while machine.tally.installed != 3 { _ = machine.advance(to: machine.nextTime) }
    #expect(machine.cell(TokenReference(gone.device, slot: 0)).serial >= 1)
  }

  @Test func `a device that is offline, unknown or late refuses a notification`() throws {
    var machine = try Self.still()
    let push = Self.push(.app, type: .alert)
    machine.isCutOff = true
    #expect(machine.receive(push, 1, now: Self.origin) == .failure(.init(code: .offline)))
    machine.isCutOff = false
    #expect(machine.receive(push, 3, now: Self.origin) == .failure(.init(code: .noSuchToken)))
    let late = Self.push(.app, type: .alert, expiration: Date(timeIntervalSinceNow: -1))
    #expect(machine.receive(late, 1, now: Self.origin) == .failure(.init(code: .expired)))
    let unknown = Self.push(.liveActivity(4), type: .liveactivity)
    #expect(machine.receive(unknown, 1, now: Self.origin) == .failure(.init(code: .noSuchToken)))
  }

  @Test func `each push type has a device, and the state machine of the simulated device decides its outcome`() throws {
    var machine = try Self.still()
    let expected: [(PushTokenUse, PushType, String, String)] = [
      (.app, .alert, #"{"aps":{"alert":"x"}}"#, "handled"),
      (.app, .background, #"{"aps":{"content-available":1}}"#, "handled"),
      (.app, .background, #"{"aps":{}}"#, "discarded"),
      (.widgets, .widgets, #"{"aps":{"content-changed":true}}"#, "reloading"),
      (.widgets, .widgets, #"{"aps":{}}"#, "noContentChanged"),
      (.control(1), .controls, #"{"aps":{"content-changed":true}}"#, "reloading"),
      (.fleet(.complication), .complication, "{}", "handled"), (.fleet(.fileprovider), .fileprovider, "{}", "handled"),
      (.fleet(.location), .location, "{}", "handled"), (.fleet(.mdm), .mdm, "{}", "handled"),
      (.fleet(.pushtotalk), .pushtotalk, "{}", "handled"), (.fleet(.voip), .voip, "{}", "handled"),
      (
        .fleet(.liveActivityStart), .liveactivity,
        #"{"aps":{"event":"start","timestamp":1,"attributes-type":"A","attributes":{},"content-state":{},"alert":"x"}}"#,
        "started"
      ),
      (.liveActivity(1), .liveactivity, #"{"aps":{"event":"update","timestamp":2,"content-state":{}}}"#, "updated"),
      (.liveActivity(1), .liveactivity, #"{"aps":{"event":"end","timestamp":3}}"#, "ended"),
    ]
    for (use, type, payload, outcome) in expected {
      #expect(
        machine.receive(Self.push(use, type: type, payload: payload), 1, now: Self.origin) == .success(outcome),
        "\(type) \(payload)")
    }
    #expect(Set(expected.map(\.1)) == Set(PushType.allCases))
    #expect(machine.cell(TokenReference(1, activity: 1)).phase == .ending)
  }

  @Test func `when the push server has lost all tokens, all are wanted again`() throws {
    var machine = try Self.still()
    Self.confirm(&machine)
    machine.wantAllAgain()
    #expect(machine.tally.state.wanted == 30)
    #expect(machine.tally.state.registered == 0)
  }
}

extension FleetStateMachine {
  /// A time shortly after the next event.
  var nextTime: Date { origin.addingTimeInterval(Double(devices.next.min() ?? 0) / 10 + 0.1) }

  mutating func takeChangesOfTokens() -> [TokenReference] { takeChanges().tokens }
}

extension String {
  /// `{a: 1, b: 2}` as lines.
  fileprivate var inBraces: String {
    dropFirst().dropLast().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
  }
}
