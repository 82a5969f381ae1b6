// SPDX-License-Identifier: Apache-2.0

import Device
import FidelityRules
import Foundation
import Messages
import Testing

@testable import DeviceRules

/// The decisions about Live Activities, without processes.
@Suite struct `The state machine of Live Activities` {
  private static let app = "com.example.Rides"
  private static let start = Date(timeIntervalSince1970: 1_772_344_800)

  private static func after(_ minutes: Double) -> Date { start.addingTimeInterval(minutes * 60) }

  private static func machine(_ limits: ActivityLimits = ActivityLimits()) -> ActivityStateMachine {
    var machine = ActivityStateMachine(
      apps: [
        InstalledApp(address: .app("iphone", app), extensions: [.widgetExtension("iphone", "\(app).Widget")])
      ], limits: limits)
    machine.declare("\(app).Widget", [ActivityDeclaration(attributesType: "Ride")])
    return machine
  }

  private static func request(_ id: String = "a", state: String = #"{"m":5}"#, stale: Date? = nil) -> RequestActivity {
    RequestActivity(
      id: id, attributesType: "Ride", attributes: #"{"rider":"Ada"}"#,
      content: ActivityContentRecord(state: state, staleDate: stale), usesToken: true)
  }

  /// The fields of a start.
  private static let ride = #""attributes-type":"Ride","attributes":{},"content-state":{},"alert":{"title":"x"}"#

  private static func push(
    _ event: String, use: PushTokenUse = .liveActivity(1), fields: String = #""content-state":{"m":4}"#,
    timestamp: Int = 1, priority: Int = 10, id: UUID = UUID()
  ) -> PushedNotification {
    PushedNotification(
      uniqueID: id, apnsID: "", subject: PushSubject(device: "iphone", bundle: app, use: use), type: .liveactivity,
      priority: priority, collapseID: nil,
      payload: #"{"aps":{"event":"\#(event)","timestamp":\#(timestamp),\#(fields)}}"#, acceptedAt: start,
      expiration: nil, isFromStorage: false)
  }

  private static func code(_ body: () throws -> Void) -> BusError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? BusError)?.code
    }
  }

  @Test(.rule("ACTIVITY-01")) func `a request with the id of an activity that exists changes nothing`() throws {
    var machine = Self.machine()
    for _ in 1...2 { try machine.request(Self.request(), app: Self.app, because: .app, now: Self.start) }
    #expect(machine.state.activities.count == 1 && machine.moved.map(\.change) == [.started])
    #expect(machine.withToken.map(\.number) == [1] && machine.startable == [Self.app: ["Ride"]])
  }

  @Test(.rule("ACTIVITY-17"))
  func `a request for an activity with a token fails without the entitlement, and is reported once`() throws {
    var device = DeviceStateMachine()
    let address = Address.app("iphone", Self.app)
    let apps = [InstalledApp(address: address, extensions: [], hasPushEntitlement: false)]
    device.activities = ActivityStateMachine(apps: apps)
    device.tokens = TokenStateMachine(products: [PushProduct(address: address, app: Self.app, environment: nil)])
    var reports: [PushWithheld] = []
    for _ in 1...2 {
      let event = ActivityEvent.request(Self.request(), app: Self.app, because: .app, .none)
      let step = device.handle(.activities(event), now: Self.start)
      #expect(Self.code { _ = try step.reply?.get() } == .noPushEntitlement)
      reports += step.actions.compactMap { if case .tokens(.withheld(let report)) = $0 { report } else { nil } }
    }
    #expect(reports == [PushWithheld(address: address, reason: .noEntitlement, handlers: ["pushTokenUpdates"])])
    var plain = Self.request()
    plain = RequestActivity(
      id: plain.id, attributesType: plain.attributesType, attributes: plain.attributes, content: plain.content)
    try device.activities.request(plain, app: Self.app, because: .app, now: Self.start)
    #expect(device.activities.state.activities.count == 1)
  }

  @Test(.rule("ACTIVITY-03")) func `attributes and content have 4096 bytes at most`() throws {
    for (count, code) in [(4_081, nil), (4_082, BusError.Code.activityTooLarge)] {
      // {"rider":"Ada"} has 15 bytes, and the quotes and braces of the state 8.
      let state = #"{"m":"\#(String(repeating: "x", count: count - 8))"}"#
      var machine = Self.machine()
      #expect(
        Self.code { try machine.request(Self.request(state: state), app: Self.app, because: .app, now: Self.start) }
          == code)
    }
    var machine = Self.machine()
    for state in ["[1]", "5", "no"] {
      #expect(
        Self.code { try machine.request(Self.request(state: state), app: Self.app, because: .app, now: Self.start) }
          == .badActivityContent)
    }
  }

  @Test(.rule("ACTIVITY-04")) func `an app has as many activities as the limit, ended ones included`() throws {
    var machine = Self.machine(ActivityLimits(atATime: 1))
    try machine.request(Self.request(), app: Self.app, because: .app, now: Self.start)
    try machine.change("a", .end(nil, .standard), of: Self.app, because: .app, now: Self.start)
    #expect(
      Self.code { try machine.request(Self.request("b"), app: Self.app, because: .app, now: Self.start) }
        == .tooManyActivities)
    machine.advance(to: Self.after(240))
    try machine.request(Self.request("b"), app: Self.app, because: .app, now: Self.after(240))
    #expect(machine.state.activities.map(\.number) == [2])
  }

  @Test(.rule("ACTIVITY-05", "ACTIVITY-07"))
  func `an activity becomes stale, ends after eight hours and leaves four hours later, also when time jumps`() throws {
    for steps in [[10.0, 480, 720], [10_000]] {
      var machine = Self.machine()
      try machine.request(Self.request(stale: Self.after(10)), app: Self.app, because: .app, now: Self.start)
      #expect(machine.next == Self.after(10))
      for step in steps { machine.advance(to: Self.after(step)) }
      let stale: [ActivityMoved.Change] = steps.count == 1 ? [] : [.stale]
      #expect(machine.moved.map(\.change) == [.started] + stale + [.ended, .dismissed])
      let ended = machine.moved.first { $0.change == .ended }?.activity
      #expect(ended?.endedAt == Self.after(480) && ended?.dismissAt == Self.after(720))
      #expect(machine.next == nil)
    }
  }

  @Test(.rule("ACTIVITY-06", "ACTIVITY-14"))
  func `a dismissal date is at most four hours after the end, and one in the past dismisses at once`() throws {
    let cases: [(ChangeActivity.Dismissal, Double?)] = [
      (.standard, 240), (.immediate, nil), (.after(Self.after(60)), 60), (.after(Self.after(600)), 240),
      (.after(Self.after(-5)), nil),
    ]
    for (dismissal, minutes) in cases {
      var machine = Self.machine()
      try machine.request(Self.request(), app: Self.app, because: .app, now: Self.start)
      try machine.change("1", .end(nil, dismissal), of: nil, because: .user, now: Self.start)
      #expect(machine.state.activities.first?.life.dismissAt == minutes.map(Self.after), "\(dismissal)")
    }
  }

  @Test func `the same notification again changes nothing, and costs nothing`() throws {
    var machine = Self.machine(ActivityLimits(priority10PerHour: 2))
    try machine.request(Self.request(), app: Self.app, because: .app, now: Self.start)
    let push = Self.push("update")
    #expect(machine.receive(push, now: Self.start)?.step == .handled)
    let state = machine.state
    #expect(machine.receive(push, now: Self.start)?.step == .handled)
    #expect(machine.state == state)
    let start = Self.push(
      "start", use: .liveActivityStarts("Ride"), fields: Self.ride
    )
    for _ in 1...2 { #expect(machine.receive(start, now: Self.start) == nil) }
    #expect(machine.archived(2, version: 1, note: nil, text: [])?.result.started == Self.app)
    #expect(machine.receive(start, now: Self.start)?.started == Self.app)
    #expect(machine.state.activities.count == 2)
  }

  @Test(.rule("ACTIVITY-14"))
  func `a notification is shown if it is newer than the content, and older than one that is not shown`() throws {
    var machine = Self.machine(ActivityLimits(priority10PerHour: 1))
    try machine.request(Self.request(), app: Self.app, because: .app, now: Self.start)
    func step(_ timestamp: Int, priority: Int) -> PushStep.Name? {
      machine.receive(Self.push("update", timestamp: timestamp, priority: priority), now: Self.start)?.step
    }
    #expect(step(10, priority: 10) == .handled)
    #expect(step(30, priority: 10) == .budget)
    #expect(step(20, priority: 5) == .handled)
    #expect(step(19, priority: 5) == .discarded)
  }

  @Test func `a start that is repeated after it was forgotten changes no other activity`() throws {
    var machine = Self.machine()
    let start = Self.push("start", use: .liveActivityStarts("Ride"), fields: Self.ride)
    #expect(machine.receive(start, now: Self.start) == nil)
    machine.archived(1, version: 1, note: nil, text: [])
    machine.state.starts = []
    try machine.request(Self.request(), app: Self.app, because: .app, now: Self.start)
    let other = machine.state.activities.last
    #expect(machine.receive(start, now: Self.start)?.step == .handled)
    #expect(machine.state.activities.last == other)
  }

  @Test(.rule("ACTIVITY-13", "ACTIVITY-14", "ACTIVITY-18"))
  func `a notification that does not fit is discarded with its reason`() throws {
    var machine = Self.machine()
    try machine.request(Self.request(), app: Self.app, because: .app, now: Self.start)
    let starts = PushTokenUse.liveActivityStarts("Ride")
    let cases: [(PushedNotification, String)] = [
      (Self.push("start"), "only the events update and end"), (Self.push("pause"), "only the events update and end"),
      (Self.push("update", use: .liveActivity(1), fields: #""x":1"#), "content-state is missing"),
      (Self.push("update", use: .liveActivity(9)), "has ended"),
      (Self.push("update", use: starts), "only the event start"),
      (Self.push("start", use: starts), "attributes-type is missing"),
      (Self.push("start", use: starts, fields: #""attributes-type":"Other""#), "attributes-type is Other"),
      (
        Self.push("start", use: starts, fields: #""attributes-type":"Ride","attributes":{}"#),
        "content-state is missing"
      ),
      (
        Self.push("start", use: starts, fields: #""attributes-type":"Ride","attributes":{},"content-state":{}"#),
        "alert is missing"
      ),
      (
        Self.push(
          "start", use: starts,
          fields: #""attributes-type":"Ride","attributes":{},"content-state":{},"alert":null"#),
        "alert is missing"
      ),
    ]
    for (push, reason) in cases {
      let result = machine.receive(push, now: Self.start)
      #expect(result?.step == .discarded && result?.detail.contains(reason) == true, "\(String(describing: result))")
    }
    #expect(machine.moved.map(\.change) == [.started])
  }

  /// A device with an app whose extension shows rides, and with the token that starts them.
  private static func device(_ limits: ActivityLimits = ActivityLimits()) -> DeviceStateMachine {
    var device = DeviceStateMachine()
    device.activities = machine(limits)
    let address = Address.app("iphone", app)
    device.tokens = TokenStateMachine(products: [PushProduct(address: address, app: app, environment: .development)])
    device.notifications = NotificationStateMachine(device: "iphone")
    device.run(.tokens(.activities(device.activityTokens)), start)
    device.run(.tokens(.issued(TokenKey(app, .liveActivityStarts("Ride")), "01")), start)
    return device
  }

  private static func steps(_ step: DeviceStep) -> [String] {
    step.actions.compactMap { action in
      if case .notifications(.step(_, let name, let detail)) = action { "\(name) \(detail ?? "")" } else { nil }
    }
  }

  @Test(.rule("ACTIVITY-19"), arguments: [false, true])
  func `a start is handled when the extension has decoded it, and otherwise nothing is shown`(isUndecodable: Bool) {
    var device = Self.device(ActivityLimits(tokensNeedConsent: false))
    let start = Self.push("start", use: .liveActivityStarts("Ride"), fields: Self.ride)
    #expect(Self.steps(device.handle(.notifications([.received(start)]), now: Self.start)) == [])
    #expect(device.activities.all.activities.isEmpty && device.activities.withToken.isEmpty)
    let event = ActivityEvent.archived(
      1, version: 1, note: isUndecodable ? "no JSON of Ride" : nil, isUndecodable: isUndecodable, text: [])
    let step = device.handle(.activities(event), now: Self.start)
    #expect(Self.steps(step) == [isUndecodable ? "discarded no JSON of Ride" : "handled started"])
    #expect(device.activities.all.activities.count == (isUndecodable ? 0 : 1))
    #expect(device.activities.withToken.count == (isUndecodable ? 0 : 1))
    #expect(device.activities.state.activities.count == device.activities.all.activities.count)
  }

  @Test(.rule("ACTIVITY-20")) func `a token that starts activities is replaced when it has started one`() {
    var device = Self.device()
    let key = TokenKey(Self.app, .liveActivityStarts("Ride"))
    #expect(device.tokens.token(key) == "01")
    let start = Self.push("start", use: key.use, fields: Self.ride)
    _ = device.handle(.notifications([.received(start)]), now: Self.start)
    #expect(device.tokens.token(key) == "01")
    _ = device.handle(
      .activities(.archived(1, version: 1, note: nil, isUndecodable: false, text: [])), now: Self.start)
    #expect(device.tokens.state.tokens[key]?.phase == .releasing)
    #expect(device.activities.activities(of: Self.app).startTokens.isEmpty)
    _ = device.handle(.tokens(.released(key)), now: Self.start)
    #expect(device.tokens.state.tokens[key]?.phase == .asking)
    _ = device.handle(.tokens(.issued(key, "02")), now: Self.start)
    #expect(device.activities.activities(of: Self.app).startTokens == ["Ride": "02"])
  }

  @Test(.rule("ACTIVITY-21"), arguments: [true, false])
  func `an activity that a push started has no token until the user has allowed those of the app`(needsConsent: Bool) {
    var device = Self.device(ActivityLimits(tokensNeedConsent: needsConsent))
    func start() -> Set<TokenKey> {
      let number = device.activities.state.lastNumber + 1
      let push = Self.push("start", use: .liveActivityStarts("Ride"), fields: Self.ride)
      _ = device.handle(.notifications([.received(push)]), now: Self.start)
      _ = device.handle(
        .activities(.archived(number, version: 1, note: nil, isUndecodable: false, text: [])), now: Self.start)
      return device.activityTokens.filter { $0.use == .liveActivity(number) }
    }
    func launches(_ isAllowed: Bool) -> Int {
      let event = ActivityEvent.allow(AllowActivities(app: Self.app, isAllowed: isAllowed), .none)
      let actions = device.handle(.activities(event), now: Self.start).actions
      return actions.count { if case .activities(.started) = $0 { true } else { false } }
    }
    #expect(start().isEmpty == needsConsent)
    // The app's own request is no push.
    let own = ActivityEvent.request(Self.request(), app: Self.app, because: .app, .none)
    _ = device.handle(.activities(own), now: Self.start)
    #expect(device.activityTokens.contains(TokenKey(Self.app, .liveActivity(2))))
    #expect(device.activities.all.activities.map(\.awaitsConsent) == [needsConsent, false])
    // The app is launched once, and gets the token.
    #expect(launches(true) == (needsConsent ? 1 : 0))
    #expect(launches(true) == 0)
    #expect(device.activityTokens.contains(TokenKey(Self.app, .liveActivity(1))))
    // The user is asked once.
    #expect(!start().isEmpty)
    #expect(launches(false) == 0 && device.activities.all.activities.isEmpty && device.activityTokens.isEmpty)
    #expect(launches(true) == 0 && !start().isEmpty)
  }

  @Test(.rule("ACTIVITY-11")) func `a forbidden app loses its activities, and starts none until it is allowed`() throws
  {
    var machine = Self.machine()
    try machine.request(Self.request(), app: Self.app, because: .app, now: Self.start)
    machine.allow(Self.app, isAllowed: false, now: Self.start)
    #expect(machine.state.activities.isEmpty && machine.startable.isEmpty)
    #expect(!machine.activities(of: Self.app).areEnabled)
    #expect(
      Self.code { try machine.request(Self.request("b"), app: Self.app, because: .app, now: Self.start) }
        == .activitiesDenied)
    machine.allow(Self.app, isAllowed: true, now: Self.start)
    try machine.request(Self.request("b"), app: Self.app, because: .app, now: Self.start)
    #expect(machine.startable == [Self.app: ["Ride"]])
    let plain = ActivityStateMachine(
      apps: [InstalledApp(address: .app("iphone", Self.app), extensions: [], supportsActivities: false)])
    #expect(!plain.activities(of: Self.app).areEnabled)
  }

  @Test(.rule("ACTIVITY-11")) func `a forbidden app has no token that starts activities until it is allowed`() {
    var device = Self.device()
    let key = TokenKey(Self.app, .liveActivityStarts("Ride"))
    func allow(_ isAllowed: Bool) {
      let event = ActivityEvent.allow(AllowActivities(app: Self.app, isAllowed: isAllowed), .none)
      _ = device.handle(.activities(event), now: Self.start)
    }
    allow(false)
    #expect(device.tokens.state.tokens[key]?.phase == .releasing)
    #expect(device.activities.activities(of: Self.app).startTokens.isEmpty)
    _ = device.handle(.tokens(.released(key)), now: Self.start)
    #expect(device.tokens.state.tokens[key] == nil)
    allow(true)
    #expect(device.tokens.state.tokens[key]?.phase == .asking)
    _ = device.handle(.tokens(.issued(key, "02")), now: Self.start)
    #expect(device.activities.activities(of: Self.app).startTokens == ["Ride": "02"])
  }

  @Test(.rule("ACTIVITY-02")) func `each content and staleness has a version, which is archived once`() throws {
    var machine = Self.machine()
    try machine.request(Self.request(stale: Self.after(1)), app: Self.app, because: .app, now: Self.start)
    machine.archived(1, version: 1, note: nil, text: ["5"])
    machine.advance(to: Self.after(1))
    #expect(machine.activity(1)?.version == 2 && machine.activity(1)?.archived == 1)
    machine.archived(1, version: 2, note: "no", text: [])
    #expect(machine.moved.last?.change == .notArchived && machine.moved.last?.text == ["no"])
    try machine.change(
      "a", .update(ActivityContentRecord(state: "{}")), of: Self.app, because: .app, now: Self.after(2))
    #expect(machine.activity(1)?.version == 3 && machine.activity(1)?.record.phase == .active)
    machine.archived(1, version: 3, note: nil, text: [])
    // After a change of settings.
    machine.archiveAgain()
    #expect(machine.activity(1)?.version == 4 && machine.activity(1)?.archived == 3)
    #expect(machine.widgetExtension(of: Self.app, showing: "Ride") == "\(Self.app).Widget")
  }
}
