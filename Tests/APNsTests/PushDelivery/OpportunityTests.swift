// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import PushDelivery
@testable import PushRules

private let origin = Date(timeIntervalSince1970: 1_000_000_000)

/// When a device that can be reached accepts notifications of low priority.
@Suite struct `Opportunities of a device` {
  private struct Fixture {
    private var lastSubject = PushSubject(device: "iphone", bundle: "com.example.A", use: .app)
    var stateMachine: PushStateMachine
    var now = origin
    private var number: Int64 = 0
    private var last = UUID()
    /// What is on disk, by its number.
    private var kept: [Int64: StoredPush] = [:]

    init(_ change: (inout OpportunityPolicy) -> Void) {
      var settings = PushSettings()
      change(&settings.opportunities)
      stateMachine = PushStateMachine(settings: settings)
      _ = steps(Self.reach)
    }

    private static let reach = PushStateMachine.Event.reach(
      device: "iphone", isOnline: true, isAwake: true, generation: 1)

    /// Another instance of the push server reads what is on disk, and the device reports; returns the steps.
    mutating func restart() -> [String] {
      stateMachine = PushStateMachine(settings: stateMachine.settings)
      stateMachine.load("iphone", kept.values.sorted { $0.number < $1.number })
      return steps(Self.reach)
    }

    /// Accepts the next notification; returns the steps of all notifications with their numbers.
    mutating func accept(
      _ priority: Int, type: PushType = .widgets, app: String = "com.example.A", expiration: Date? = nil
    ) -> [String] {
      number += 1
      let use: PushTokenUse = type == .widgets ? .widgets : .app
      let notification = PushedNotification(
        uniqueID: UUID(), apnsID: "id-\(number)", subject: PushSubject(device: "iphone", bundle: app, use: use),
        type: type, priority: priority, collapseID: nil, payload: "{}", acceptedAt: now, expiration: expiration,
        isFromStorage: false)
      (last, lastSubject) = (notification.uniqueID, notification.subject)
      return steps(.accepted(StoredPush(number: number, notification: notification, token: "00")))
    }

    /// The device refuses the notification that was accepted last; returns the steps.
    mutating func refuse() -> [String] { steps(.refused(last, of: lastSubject, why: "it restarts")) }

    /// Passes to the next date; returns the steps.
    mutating func next() -> [String] {
      guard let instant = stateMachine.nextInstant else { return ["nothing is due"] }
      now = instant
      return steps(.timerFired)
    }

    private mutating func steps(_ event: PushStateMachine.Event) -> [String] {
      stateMachine.handle(event, now: now).compactMap { action in
        switch action {
        case .keep(let push): kept[push.number] = push
        case .drop(let push): kept[push.number] = nil
        case .step(let push, let name, _): return "\(name.rawValue) \(push.number)"
        case .send: break
        }
        return nil
      }
    }
  }

  @Test(.rule("APNS-48"), arguments: [60.0, 900])
  func `notifications of priority 5 that follow a burst wait and are delivered together`(priority5Interval: Double) {
    var fixture = Fixture { $0.priority5Interval = priority5Interval }
    #expect(fixture.accept(5) == ["sent 1"])
    fixture.now += 10
    #expect(fixture.accept(5) == ["storedPower 2"])
    fixture.now += 10
    #expect(fixture.accept(5, app: "com.example.B") == ["storedPower 3"])
    #expect(fixture.accept(5) == ["superseded 2", "storedPower 4"], "the newest counts")
    #expect(fixture.accept(10, type: .alert) == ["sent 5"], "priority 10 does not wait")
    #expect(fixture.next() == ["sent 4", "sent 3"])
    #expect(fixture.now == origin + priority5Interval)
  }

  @Test(.rule("APNS-48"), arguments: [60.0, 900])
  func `notifications of priority 1 have their own interval`(priority1Interval: Double) {
    var fixture = Fixture { $0.priority1Interval = priority1Interval }
    #expect(fixture.accept(1) == ["sent 1"])
    #expect(fixture.accept(5) == ["sent 2"] && fixture.accept(5) == ["sent 3"])
    fixture.now += 1
    #expect(fixture.accept(1) == ["storedPower 4"])
    #expect(fixture.next() == ["sent 4"])
    #expect(fixture.now == origin + priority1Interval)
    fixture.now += 2 * priority1Interval
    #expect(fixture.accept(1) == ["sent 5"])
  }

  @Test(.rule("APNS-49"), arguments: [1200.0, 1800])
  func `background notifications of an app are throttled, and the newest counts`(backgroundInterval: Double) {
    var fixture = Fixture { $0.backgroundInterval = backgroundInterval }
    #expect(fixture.accept(5, type: .background) == ["sent 1"])
    fixture.now += 1
    #expect(fixture.accept(5, type: .background) == ["storedPower 2"])
    #expect(fixture.accept(5, type: .background) == ["superseded 2", "storedPower 3"])
    #expect(fixture.accept(5, type: .background, app: "com.example.B") == ["sent 4"], "each app has its own")
    #expect(fixture.accept(5) == ["sent 5"], "widgets are not meant")
    #expect(fixture.next() == ["sent 3"])
    #expect(fixture.now == origin + backgroundInterval)
  }

  @Test(.rule("APNS-48", "APNS-49"), arguments: [PushType.background, .widgets])
  func `a notification that the device refused does not count, and is sent again without an interval`(type: PushType) {
    var fixture = Fixture {
      $0.backgroundInterval = 1800
      $0.priority5Interval = 1800
    }
    #expect(fixture.accept(5, type: type) == ["sent 1"])
    #expect(fixture.refuse() == ["storedOffline 1"])
    #expect(fixture.next() == ["sent 1"])
    #expect(fixture.now == origin + PushSettings().retryAfter)
  }

  @Test(.rule("APNS-48")) func `a restarted push server delivers at once what waits`() {
    var fixture = Fixture { $0.priority5Interval = 900 }
    #expect(fixture.accept(5) == ["sent 1"])
    fixture.now += 1
    #expect(fixture.accept(5) == ["storedPower 2"])
    #expect(fixture.restart() == ["sent 1", "sent 2"], "the first was not acknowledged")
  }

  @Test(.rule("APNS-48", "APNS-49")) func `with intervals of 0 nothing waits`() {
    var fixture = Fixture { _ in }
    for number in 1...3 { #expect(fixture.accept(5, type: .background) == ["sent \(number)"]) }
    for number in 4...6 { #expect(fixture.accept(1) == ["sent \(number)"]) }
  }

  @Test(.rule("APNS-48")) func `a notification with one attempt that would have to wait is not stored`() {
    var fixture = Fixture { $0.priority5Interval = 60 }
    _ = fixture.accept(5)
    fixture.now += 1
    #expect(fixture.accept(5, expiration: Date(timeIntervalSince1970: 0)) == ["notStored 2"])
    #expect(fixture.accept(5, expiration: fixture.now + 5) == ["storedPower 3"])
    #expect(fixture.next() == ["expired 3"])
  }
}
