// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import PushDelivery
@testable import PushRules

private let origin = Date(timeIntervalSince1970: 1_000_000_000)
private let widgets = PushSubject(device: "iphone", bundle: "com.example.A", use: .widgets)
private let app = PushSubject(device: "iphone", bundle: "com.example.A", use: .app)

private func push(
  _ number: Int64, for subject: PushSubject = widgets, priority: Int = 10, collapseID: String? = nil,
  expiration: Date? = nil, isFromStorage: Bool = false
) -> StoredPush {
  StoredPush(
    number: number,
    notification: PushedNotification(
      uniqueID: UUID(), apnsID: "id-\(number)", subject: subject, type: .widgets, priority: priority,
      collapseID: collapseID, payload: "{}", acceptedAt: origin, expiration: expiration, isFromStorage: isFromStorage),
    token: "00ff")
}

/// That of a control with this placement number.
private func control(_ number: Int) -> PushSubject {
  PushSubject(device: "iphone", bundle: "com.example.A", use: .control(number))
}

private struct PushStateMachineFixture {
  var stateMachine: PushStateMachine
  var now = origin

  init(inFlight: Int = 32) {
    var settings = PushSettings()
    settings.inFlight = inFlight
    stateMachine = PushStateMachine(settings: settings)
  }

  mutating func handle(_ event: PushStateMachine.Event) -> [PushStateMachine.Action] {
    stateMachine.handle(event, now: now)
  }

  @discardableResult
  mutating func reach(online: Bool = true, awake: Bool = true, generation: UInt32 = 1) -> [PushStateMachine.Action] {
    handle(.reach(device: "iphone", isOnline: online, isAwake: awake, generation: generation))
  }

  @discardableResult
  mutating func presence(_ isPresent: Bool, generation: UInt32 = 1) -> [PushStateMachine.Action] {
    handle(.presence(device: "iphone", isPresent: isPresent, generation: generation))
  }
}

extension [PushStateMachine.Action] {
  /// The steps with the numbers of their requests, such as `sent 1`.
  fileprivate var steps: [String] {
    compactMap { if case .step(let push, let name, _) = $0 { "\(name.rawValue) \(push.number)" } else { nil } }
  }

  fileprivate var sentIDs: [UUID] {
    compactMap { if case .send(let notification) = $0 { notification.uniqueID } else { nil } }
  }

  fileprivate var keptIDs: [UUID] { compactMap { if case .keep(let push) = $0 { push.id } else { nil } } }
  fileprivate var dropped: [UUID] { compactMap { if case .drop(let push) = $0 { push.id } else { nil } } }
}

@Suite struct `Accepted notifications` {
  @Test func `a notification is sent to a reachable device at once and stored until it is acknowledged`() {
    var fixture = PushStateMachineFixture()
    fixture.reach()
    let first = push(1)
    let actions = fixture.handle(.accepted(first))
    #expect(actions.steps == ["sent 1"] && actions.sentIDs == [first.id] && actions.keptIDs == [first.id])
    #expect(fixture.stateMachine.count == 1)
    let ended = fixture.handle(.acknowledged(first.id, of: widgets))
    #expect(ended.steps == ["delivered 1"] && ended.dropped == [first.id])
    #expect(fixture.stateMachine.count == 0)
    #expect(fixture.handle(.acknowledged(first.id, of: widgets)).isEmpty, "a second acknowledgement has no effect")
  }

  @Test(.rule("APNS-22"))
  func `only the newest notification is stored for an offline device, and each replaced one is reported`() {
    var fixture = PushStateMachineFixture()
    fixture.reach(online: false)
    let pushes = (1...3).map { push(Int64($0)) }
    #expect(fixture.handle(.accepted(pushes[0])).steps == ["storedOffline 1"])
    let second = fixture.handle(.accepted(pushes[1]))
    #expect(second.steps == ["superseded 1", "storedOffline 2"] && second.dropped == [pushes[0].id])
    #expect(fixture.handle(.accepted(pushes[2])).steps == ["superseded 2", "storedOffline 3"])
    let back = fixture.reach()
    #expect(back.steps == ["sent 3"] && back.sentIDs == [pushes[2].id])
    guard case .send(let notification)? = back.last else { return #expect(Bool(false), "nothing is sent") }
    #expect(notification.isFromStorage)
  }

  @Test(.rule("APNS-22"))
  func `a replaced notification is collapsed by one with its collapse id and superseded by any other`() {
    var fixture = PushStateMachineFixture()
    fixture.reach(online: false)
    _ = fixture.handle(.accepted(push(1, collapseID: "drink")))
    #expect(fixture.handle(.accepted(push(2, collapseID: "drink"))).steps == ["collapsed 1", "storedOffline 2"])
    #expect(fixture.handle(.accepted(push(3, collapseID: "meal"))).steps == ["superseded 2", "storedOffline 3"])
    #expect(fixture.handle(.accepted(push(4))).steps == ["superseded 3", "storedOffline 4"])
    #expect(fixture.handle(.accepted(push(5))).steps == ["superseded 4", "storedOffline 5"])
  }

  @Test(.rule("APNS-22")) func `the notifications of each control are stored separately`() {
    var fixture = PushStateMachineFixture()
    fixture.reach(online: false)
    for (number, subject) in [widgets, control(1), control(2)].enumerated() {
      let steps = fixture.handle(.accepted(push(Int64(number + 1), for: subject))).steps
      #expect(steps == ["storedOffline \(number + 1)"])
    }
    let second = fixture.handle(.accepted(push(4, for: control(1))))
    #expect(second.steps == ["superseded 2", "storedOffline 4"])
    #expect(Set(fixture.reach().steps) == ["sent 1", "sent 3", "sent 4"])
  }

  @Test(.rule("APNS-22")) func `the app's and the widgets' notifications are stored separately`() {
    var fixture = PushStateMachineFixture()
    fixture.reach(online: false)
    #expect(fixture.handle(.accepted(push(1))).steps == ["storedOffline 1"])
    #expect(fixture.handle(.accepted(push(2, for: app))).steps == ["storedOffline 2"])
    #expect(fixture.reach().steps == ["sent 2", "sent 1"])
  }

  @Test(.rule("APNS-28"))
  func `a notification with priority 10 wakes a sleeping device, and the others wait until it wakes`() {
    var fixture = PushStateMachineFixture()
    fixture.reach(awake: false)
    #expect(fixture.handle(.accepted(push(1, priority: 5))).steps == ["storedPower 1"])
    #expect(fixture.handle(.accepted(push(2, priority: 10))).steps == ["sent 2"])
    #expect(fixture.handle(.accepted(push(3, priority: 1))).steps == ["superseded 1", "storedPower 3"])
    #expect(fixture.reach().steps == ["sent 3"])
  }

  @Test(.rule("APNS-27")) func `a notification with expiration 0 is attempted once and never stored`() {
    var fixture = PushStateMachineFixture()
    let once = Date(timeIntervalSince1970: 0)
    let gone = push(1, expiration: once)
    let missed = fixture.handle(.accepted(gone))
    #expect(missed.steps == ["notStored 1"] && missed.keptIDs.isEmpty && fixture.stateMachine.count == 0)
    fixture.reach()
    let tried = fixture.handle(.accepted(push(2, expiration: once)))
    #expect(tried.steps == ["sent 2"] && tried.keptIDs.isEmpty)
  }

  @Test(.rule("APNS-25")) func `a stored notification is dropped at its expiration, after 30 days at the latest`() {
    var fixture = PushStateMachineFixture()
    fixture.reach(online: false)
    _ = fixture.handle(.accepted(push(1, expiration: origin.addingTimeInterval(60))))
    fixture.now += 59
    #expect(fixture.handle(.ended(widgets)).isEmpty)
    fixture.now += 1
    #expect(fixture.handle(.ended(widgets)).steps == ["expired 1"])
    #expect(fixture.handle(.ended(widgets)).isEmpty)
    _ = fixture.handle(.accepted(push(2, expiration: origin.addingTimeInterval(86_400 * 365))))
    #expect(fixture.handle(.accepted(push(3, expiration: origin))).steps == ["expired 3"])
    fixture.now += 86_400 * 30
    #expect(fixture.reach().steps == ["expired 2"], "a device that connects too late does not receive it")
  }

  @Test(.rule("APNS-29"), arguments: [2, 32])
  func `notifications in flight are limited, and the newest of the others waits for an acknowledgement`(
    inFlight: Int
  ) {
    var fixture = PushStateMachineFixture(inFlight: inFlight)
    fixture.reach()
    let pushes = (1...inFlight + 2).map { push(Int64($0)) }
    let sentSteps = pushes[..<inFlight].flatMap { fixture.handle(.accepted($0)) }.steps
    #expect(sentSteps == (1...inFlight).map { "sent \($0)" })
    let (third, fourth) = (inFlight + 1, inFlight + 2)
    #expect(fixture.handle(.accepted(pushes[inFlight])).steps == ["storedOffline \(third)"])
    let newest = fixture.handle(.accepted(pushes[inFlight + 1])).steps
    #expect(newest == ["superseded \(third)", "storedOffline \(fourth)"])
    #expect(fixture.handle(.acknowledged(pushes[0].id, of: widgets)).steps == ["delivered 1", "sent \(fourth)"])
  }

  @Test func `a refused notification is sent again when its device reports that it is reachable or a retry is due`() {
    var fixture = PushStateMachineFixture()
    fixture.reach()
    let first = push(1)
    _ = fixture.handle(.accepted(first))
    #expect(
      fixture.handle(.refused(first.id, of: widgets, why: "no network")).steps == ["storedOffline 1"])
    #expect(fixture.reach().steps == ["sent 1"])
    #expect(
      fixture.handle(.refused(first.id, of: widgets, why: "a full disk")).steps == ["storedOffline 1"])
    fixture.now += 30
    #expect(fixture.handle(.timerFired).steps == ["sent 1"])
    let second = push(2)
    _ = fixture.handle(.accepted(second))
    #expect(
      fixture.handle(.refused(second.id, of: widgets, why: "no network")).steps == ["storedOffline 2"])
    #expect(fixture.handle(.refused(first.id, of: widgets, why: "no network")).steps == ["superseded 1"])
  }

  @Test func `what is stored is sent after the delay when the refusal was the last reply that could send it`() {
    var fixture = PushStateMachineFixture(inFlight: 1)
    fixture.reach()
    let once = push(1, expiration: Date(timeIntervalSince1970: 0))
    _ = fixture.handle(.accepted(once))
    #expect(fixture.handle(.accepted(push(2))).steps == ["storedOffline 2"])
    #expect(fixture.handle(.refused(once.id, of: widgets, why: "a full disk")).steps == ["notStored 1"])
    #expect(fixture.stateMachine.nextInstant == origin.addingTimeInterval(30))
    fixture.now += 30
    #expect(fixture.handle(.timerFired).steps == ["sent 2"])
  }

  @Test func `a refusal does not delay what is stored while another reply of the device can send it`() {
    var fixture = PushStateMachineFixture(inFlight: 2)
    fixture.reach()
    let (once, second) = (push(1, expiration: Date(timeIntervalSince1970: 0)), push(2))
    for push in [once, second] { _ = fixture.handle(.accepted(push)) }
    #expect(fixture.handle(.accepted(push(3))).steps == ["storedOffline 3"])
    #expect(fixture.handle(.refused(once.id, of: widgets, why: "a full disk")).steps == ["notStored 1"])
    #expect(fixture.stateMachine.nextInstant == nil)
    #expect(fixture.handle(.acknowledged(second.id, of: widgets)).steps == ["delivered 2", "sent 3"])
  }

  @Test(arguments: [true, false])
  func `the delay after a refusal is not prolonged by the refusal of another one`(isForOnce: Bool) {
    var fixture = PushStateMachineFixture()
    fixture.reach()
    // The other one is attempted once, or is older than the stored one.
    let other = push(isForOnce ? 3 : 1, expiration: isForOnce ? Date(timeIntervalSince1970: 0) : nil)
    let stored = push(2)
    for push in [stored, other].sorted(by: { $0.number < $1.number }) { _ = fixture.handle(.accepted(push)) }
    #expect(fixture.handle(.refused(stored.id, of: widgets, why: "a full disk")).steps == ["storedOffline 2"])
    fixture.now += 10
    let steps = fixture.handle(.refused(other.id, of: widgets, why: "a full disk")).steps
    #expect(steps == [isForOnce ? "notStored 3" : "superseded 1"])
    #expect(fixture.stateMachine.nextInstant == origin.addingTimeInterval(30))
  }

  @Test func `a stored notification expires on time even when a retry was scheduled before`() {
    var fixture = PushStateMachineFixture()
    fixture.reach()
    let first = push(1, expiration: origin.addingTimeInterval(60))
    _ = fixture.handle(.accepted(first))
    _ = fixture.handle(.refused(first.id, of: widgets, why: "a full disk"))
    #expect(fixture.stateMachine.nextInstant == origin.addingTimeInterval(30))
    fixture.reach(online: false)
    #expect(fixture.stateMachine.nextInstant == nil, "no retry for an offline device")
    fixture.now += 60
    #expect(fixture.handle(.ended(widgets)).steps == ["expired 1"])
  }

  @Test func `a device that reconnects with its generation is reachable, and a new generation must report it first`() {
    var fixture = PushStateMachineFixture()
    fixture.reach(generation: 1)
    fixture.presence(false)
    #expect(fixture.handle(.accepted(push(1))).steps == ["storedOffline 1"])
    #expect(fixture.presence(true).steps == ["sent 1"])
    fixture.presence(false)
    #expect(fixture.handle(.accepted(push(2))).steps == ["storedOffline 2"])
    #expect(fixture.presence(true, generation: 2).isEmpty)
    #expect(fixture.reach(generation: 2).steps == ["sent 2"])
  }

  @Test func `a notification that the previous server may have sent is sent again first and is not replaced`() {
    var fixture = PushStateMachineFixture()
    fixture.stateMachine.load("iphone", [push(1), push(2, isFromStorage: true)])
    #expect(fixture.handle(.accepted(push(3))).steps == ["superseded 2", "storedOffline 3"])
    #expect(fixture.reach().steps == ["sent 1", "sent 3"])
  }

  @Test(.rule("APNS-32")) func `a notification that is stored for a token that ends is not delivered`() {
    var fixture = PushStateMachineFixture()
    fixture.reach(online: false)
    let first = push(1)
    _ = fixture.handle(.accepted(first))
    #expect(fixture.handle(.tokenEnded("another", of: widgets)).isEmpty)
    let ended = fixture.handle(.tokenEnded("00ff", of: widgets))
    #expect(ended.steps == ["tokenUnregistered 1"] && ended.dropped == [first.id])
    #expect(fixture.reach().isEmpty)
  }

  @Test func `of two stored notifications the previous server sent the former, and the newest may be replaced`() {
    var fixture = PushStateMachineFixture()
    fixture.stateMachine.load("iphone", [push(1, isFromStorage: true), push(2, isFromStorage: true)])
    #expect(fixture.handle(.accepted(push(3))).steps == ["superseded 2", "storedOffline 3"])
    #expect(fixture.reach().steps == ["sent 1", "sent 3"])
  }
}

@Suite struct `The memory of accepted notifications` {
  private func other(_ number: Int) -> PushSubject {
    PushSubject(device: "device-\(number)", bundle: "com.example.A", use: .widgets)
  }

  @Test(arguments: [0, 10, 10_000])
  func `a device that returns costs the work for what it has stored, however many wait for others`(others: Int) {
    var fixture = PushStateMachineFixture()
    for number in 0..<others { _ = fixture.handle(.accepted(push(Int64(number), for: other(number)))) }
    for (number, subject) in [widgets, app, control(1)].enumerated() {
      _ = fixture.handle(.accepted(push(Int64(others + number), for: subject)))
    }
    #expect(fixture.reach().sentIDs.count == 3)
    #expect(fixture.stateMachine.examined == 3)
  }

  @Test func `idle devices leave memory, and those with an unacknowledged notification or a due time stay`() {
    var settings = PushSettings()
    settings.idleDevices = 10
    var stateMachine = PushStateMachine(settings: settings)
    for device in ["iphone", "device-0"] {
      _ = stateMachine.handle(.reach(device: device, isOnline: true, isAwake: true, generation: 1), now: origin)
    }
    let (first, refused) = (push(1), push(2, for: other(0)))
    #expect(stateMachine.handle(.accepted(first), now: origin).sentIDs == [first.id])
    _ = stateMachine.handle(.accepted(refused), now: origin)
    _ = stateMachine.handle(.refused(refused.id, of: other(0), why: "a full disk"), now: origin)
    for number in 1...1000 {
      let push = push(Int64(number + 2), for: other(number))
      #expect(stateMachine.missing(for: .accepted(push)) == other(number).device)
      stateMachine.load(other(number).device, [])
      _ = stateMachine.handle(.accepted(push), now: origin)
      stateMachine.removeIdle()
      #expect(stateMachine.count <= 2 + 2 * settings.idleDevices)
    }
    #expect(stateMachine.missing(for: .tokenEnded("00ff", of: other(1))) == "device-1")
    #expect(stateMachine.missing(for: .ended(widgets)) == nil && stateMachine.missing(for: .ended(other(0))) == nil)
    #expect(stateMachine.handle(.acknowledged(first.id, of: widgets), now: origin).steps == ["delivered 1"])
    #expect(stateMachine.nextInstant == origin.addingTimeInterval(settings.retryAfter))
    #expect(stateMachine.handle(.timerFired, now: origin + settings.retryAfter).steps == ["sent 2"])
  }

  @Test func `what is kept for a device is loaded only when it can be reached`() {
    var fixture = PushStateMachineFixture()
    func missing(_ event: PushStateMachine.Event) -> String? { fixture.stateMachine.missing(for: event) }
    #expect(missing(.presence(device: "iphone", isPresent: true, generation: 1)) == nil)
    #expect(missing(.reach(device: "iphone", isOnline: false, isAwake: true, generation: 1)) == nil)
    #expect(missing(.reach(device: "iphone", isOnline: true, isAwake: false, generation: 1)) == "iphone")
    fixture.reach()
    #expect(missing(.presence(device: "iphone", isPresent: true, generation: 1)) == "iphone")
    #expect(missing(.presence(device: "iphone", isPresent: true, generation: 2)) == nil)
    #expect(missing(.presence(device: "iphone", isPresent: false, generation: 1)) == nil)
    fixture.stateMachine.load("iphone", [push(1)])
    #expect(missing(.presence(device: "iphone", isPresent: true, generation: 1)) == nil)
  }

  /// Another replica may have delivered what this one has in memory. The reach of another instance is not known yet.
  @Test func `a replica that becomes the owner again forgets a device whose host has restarted`() {
    var fixture = PushStateMachineFixture()
    fixture.reach()
    _ = fixture.handle(.accepted(push(1)))
    #expect(fixture.stateMachine.hasReach("iphone", generation: 1))
    #expect(!fixture.stateMachine.hasReach("iphone", generation: 2))
    fixture.presence(true, generation: 2)
    #expect(fixture.stateMachine.claimed(["iphone"]) == [])
    #expect(fixture.stateMachine.devices.isEmpty)
    #expect(fixture.reach(generation: 2).sentIDs == [])
  }
}
