// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import DeviceRules
import Foundation
import HeapModule
import Messages

/// Decides what happens to the devices of a fleet: their day, their tokens, and the notifications that they receive. A
/// value without clock or I/O; the service writes what changed before it announces it.
struct FleetStateMachine: Sendable {
  /// What has changed and must be announced.
  struct Changes: Sendable {
    /// Devices whose reach changed.
    var reached: [UInt32] = []
    /// Tokens that the push server must issue or end.
    var tokens: [TokenReference] = []
    var activities: Set<LiveActivityStateMachine.Key> = []

    var isEmpty: Bool { reached.isEmpty && tokens.isEmpty && activities.isEmpty }
  }

  /// Why a device does not take a notification.
  typealias Refusal = BusError.Code

  let plan: FleetPlan
  var devices: FleetDevices
  private(set) var live: LiveActivityStateMachine
  /// The phase of each activity's token. The others are in `devices`.
  private(set) var activityTokens: [LiveActivityStateMachine.Key: TokenPhase] = [:]
  /// The next events, by time and device.
  private var queue = Heap<UInt64>()
  /// The start of the first day.
  let origin: Date
  /// The operator took the network from all.
  var isCutOff = false
  private(set) var changes = Changes()
  private(set) var tally = FleetTally()

  /// A fleet on its first day, or with what the database has.
  ///
  /// - Parameter counted: what happened to Live Activities so far.
  init(
    _ plan: FleetPlan, origin: Date, devices: FleetDevices? = nil,
    activities: [LiveActivityStateMachine.Key: LiveActivityStateMachine.Activity] = [:],
    activityTokens: [LiveActivityStateMachine.Key: TokenPhase] = [:], counted: [String: Int] = [:]
  ) {
    self.plan = plan
    self.origin = origin
    self.devices = devices ?? FleetDevices(count: plan.devices)
    self.activityTokens = activityTokens
    live = LiveActivityStateMachine(rules: plan.profile.liveActivities, activities: activities)
    if devices == nil { begin() }
    queue = Heap(
      self.devices.next.enumerated().lazy.filter { $1 != .max }.map { UInt64($1) << 32 | UInt64($0) })
    tally.count(self.devices, activityTokens: activityTokens, counted: counted)
  }

  private mutating func begin() {
    let start = TokenReference.slot(of: .fleet(.liveActivityStart)) ?? 0
    for device in 0..<UInt32(plan.devices) {
      let (isOnline, isAwake) = plan.begins(device)
      var flags: DeviceFlags = .installed
      if isOnline { flags.insert(.online) }
      if isAwake { flags.insert(.awake) }
      if plan.has(start, device) { flags.insert(.active) }
      devices.flags[Int(device)] = flags
      for slot in 0..<FleetDevices.slots where plan.has(slot, device) {
        devices[device, slot] = TokenCell(.wanted, serial: 0)
      }
      plan(device, after: 0)
      devices.touch(device)
    }
  }

  /// Determines the next event of a device.
  private mutating func plan(_ device: UInt32, after time: Double) {
    let place = Int(device)
    let at = plan.next(device, number: devices.events[place], state: devices.flags[place], after: time)
    devices.next[place] = UInt32(saturating: at * 10)
  }

  mutating func takeChanges() -> Changes {
    defer { changes = Changes() }
    return changes
  }

  /// Whether a device can be reached.
  func isOnline(_ device: UInt32) -> Bool { !isCutOff && devices.flags[Int(device)].contains(.online) }

  // MARK: The day

  /// Handles what is due.
  ///
  /// - Parameter most: events at most; a caller with more to do calls again.
  /// - Returns: whether all is handled.
  mutating func advance(to now: Date, most: Int = 50_000) -> Bool {
    let limit = UInt64(saturating: max(0, min(now.timeIntervalSince(origin) * 10, Double(UInt32.max))))
    for (outcome, actions) in live.advance(to: now) {
      tally.count(outcome)
      perform(actions)
    }
    var count = 0
    while let first = queue.min, first >> 32 <= limit {
      guard count < most else { return false }
      count += 1
      queue.removeMin()
      happen(UInt32(truncatingIfNeeded: first), now)
    }
    return true
  }

  private mutating func happen(_ device: UInt32, _ now: Date) {
    let place = Int(device)
    let number = devices.events[place]
    let before = devices.flags[place]
    // The kind follows from the same draws as the time.
    let time = Double(devices.next[place]) / 10
    let event = plan.event(device, number: number, state: before, at: time)
    perform(event, device: device, number: number, now: now)
    devices.events[place] = number &+ 1
    tally.events += 1
    tally.move(from: before, to: devices.flags[place])
    plan(device, after: time)
    if devices.next[place] != .max { queue.insert(UInt64(devices.next[place]) << 32 | UInt64(device)) }
    devices.touch(device)
  }

  private mutating func perform(_ event: FleetEvent, device: UInt32, number: UInt32, now: Date) {
    let place = Int(device)
    switch event {
    case .goesOffline: change(place) { $0.remove(.online) }
    case .comesOnline: change(place) { $0.insert(.online) }
    case .fallsAsleep: change(place) { $0.remove(.awake) }
    case .wakes: change(place) { $0.insert(.awake) }
    case .rotatesToken:
      let slots = (0..<FleetDevices.slots).filter { devices[device, $0].phase.isHeld }
      guard !slots.isEmpty else { return }
      want(device, slots[plan.choose(device, number: number, of: slots.count)])
    case .uninstalls:
      devices.flags[place].remove(.installed)
      for slot in 0..<FleetDevices.slots where devices[device, slot].phase.isHeld {
        set(TokenReference(device, slot: slot), devices[device, slot].with(.ending))
        changes.tokens.append(TokenReference(device, slot: slot))
      }
      perform(live.removeAll(of: device))
    case .installs:
      devices.flags[place].insert(.installed)
      for slot in 0..<FleetDevices.slots where plan.has(slot, device) { want(device, slot) }
    case .startsActivity:
      let (outcome, actions) = live.start(nextActivity(device), now: now)
      tally.count(outcome)
      perform(actions)
    case .nothing: break
    }
  }

  private mutating func change(_ place: Int, _ change: (inout DeviceFlags) -> Void) {
    change(&devices.flags[place])
    changes.reached.append(UInt32(place))
  }

  /// A new token. The push server ends the one before it with the same request.
  private mutating func want(_ device: UInt32, _ slot: Int) {
    guard let next = devices[device, slot].next else { return }
    set(TokenReference(device, slot: slot), next)
    changes.tokens.append(TokenReference(device, slot: slot))
  }

  // MARK: Tokens

  /// The token of a reference.
  func cell(_ token: TokenReference) -> TokenCell {
    guard token.slot == TokenReference.activity else { return devices[token.device, Int(token.slot)] }
    let key = LiveActivityStateMachine.Key(device: token.device, number: token.number)
    return TokenCell(activityTokens[key] ?? .none, serial: 0)
  }

  private mutating func set(_ token: TokenReference, _ cell: TokenCell) {
    tally.move(from: self.cell(token).phase, to: cell.phase)
    guard token.slot == TokenReference.activity else {
      devices[token.device, Int(token.slot)] = cell
      return
    }
    let key = LiveActivityStateMachine.Key(device: token.device, number: token.number)
    activityTokens[key] = cell.phase == .none ? nil : cell.phase
    changes.activities.insert(key)
  }

  /// The push server has done what was requested of a token.
  ///
  /// - Returns: whether the backend must get the token now.
  mutating func confirmed(_ token: TokenReference, _ requested: TokenCell) -> Bool {
    // It was replaced or ended since the request, and is requested again.
    guard cell(token) == requested else { return false }
    switch requested.phase {
    case .wanted:
      set(token, requested.with(.issued))
      return true
    case .ending:
      set(token, requested.with(.none))
      return false
    case .none, .issued, .registered: return false
    }
  }

  /// The backend has a token, or has refused it.
  mutating func registered(_ token: TokenReference, serial: UInt16) {
    let cell = cell(token)
    guard cell.phase == .issued, cell.serial == serial else { return }
    set(token, cell.with(.registered))
  }

  /// The push server has lost all tokens.
  mutating func wantAllAgain() {
    for device in 0..<UInt32(devices.count) {
      for slot in 0..<FleetDevices.slots {
        let token = TokenReference(device, slot: slot)
        switch devices[device, slot].phase {
        case .issued, .registered: set(token, devices[device, slot].with(.wanted))
        case .ending: set(token, devices[device, slot].with(.none))
        case .none, .wanted: break
        }
      }
    }
    for (key, phase) in activityTokens {
      set(TokenReference(key.device, activity: key.number), TokenCell(phase == .ending ? .none : .wanted, serial: 0))
    }
  }

  /// The tokens in a phase.
  func tokens(in phases: Set<TokenPhase>) -> [TokenReference] {
    var foundTokens: [TokenReference] = []
    for device in 0..<UInt32(devices.count) {
      for slot in 0..<FleetDevices.slots where phases.contains(devices[device, slot].phase) {
        foundTokens.append(TokenReference(device, slot: slot))
      }
    }
    for (key, phase) in activityTokens.sorted(by: { ($0.key.device, $0.key.number) < ($1.key.device, $1.key.number) })
    where phases.contains(phase) { foundTokens.append(TokenReference(key.device, activity: key.number)) }
    return foundTokens
  }

  // MARK: Notifications

  /// A device receives a notification for the first time.
  ///
  /// - Returns: why the device does not take it, or what it did with it.
  mutating func receive(_ push: PushedNotification, _ device: UInt32, now: Date) -> Result<String, Refusal.Failure> {
    guard Int(device) < devices.count else { return .failure(.init(code: .noSuchToken)) }
    guard isOnline(device) else { return .failure(.init(code: .offline)) }
    if let expiration = push.expiration, push.acceptedAt < expiration, expiration <= Date() {
      return .failure(.init(code: .expired))
    }
    let use = push.subject.use
    if case .liveActivity(let number) = use {
      guard let number = UInt16(exactly: number) else { return .failure(.init(code: .noSuchToken)) }
      let key = LiveActivityStateMachine.Key(device: device, number: number)
      guard activityTokens[key] != nil else { return .failure(.init(code: .noSuchToken)) }
      devices.received[Int(device)] &+= 1
      return .success(perform(live.receive(push.payload, priority: push.priority, key, now: now), key))
    }
    guard let slot = TokenReference.slot(of: use), devices[device, slot].phase != .none else {
      return .failure(.init(code: .noSuchToken))
    }
    devices.received[Int(device)] &+= 1
    switch use {
    case .fleet(.liveActivityStart):
      let key = nextActivity(device)
      return .success(perform(live.receiveStart(push.payload, key, now: now), key))
    case .app, .widgets, .control: return .success(Self.outcome(of: push))
    case .liveActivity, .liveActivityStarts, .fleet: return .success(PushStep.Name.handled.rawValue)
    }
  }

  private mutating func perform(
    _ result: (LiveActivityStateMachine.Outcome, [LiveActivityStateMachine.Action]),
    _ key: LiveActivityStateMachine.Key
  ) -> String {
    changes.activities.insert(key)
    perform(result.1)
    return result.0.rawValue
  }

  /// What a device with this app does with a notification, by the state machine of the simulated device: it has one widget
  /// with a push handler, and one control.
  private static func outcome(of push: PushedNotification) -> String {
    var device = NotificationStateMachine(device: push.subject.device)
    if push.subject.use != .app {
      device.placements = [TokenKey(push.subject.bundle, push.subject.use): [1: "widget"]]
    }
    for action in device.handle(.received(push)) {
      switch action {
      case .step(_, let name, _): return name.rawValue
      case .asks(.reload): return PushStep.Name.reloading.rawValue
      case .asks, .ask: continue
      }
    }
    return PushStep.Name.handled.rawValue
  }

  // MARK: Live Activities

  private mutating func nextActivity(_ device: UInt32) -> LiveActivityStateMachine.Key {
    LiveActivityStateMachine.Key(device: device, number: devices.activities[Int(device)] &+ 1)
  }

  private mutating func perform(_ actions: [LiveActivityStateMachine.Action]) {
    for action in actions {
      switch action {
      case .began(let key):
        devices.activities[Int(key.device)] = key.number
        devices.touch(key.device)
        let token = TokenReference(key.device, activity: key.number)
        set(token, TokenCell(.wanted, serial: 0))
        changes.tokens.append(token)
      case .ended(let key):
        let token = TokenReference(key.device, activity: key.number)
        guard cell(token).phase.isHeld else { continue }
        set(token, TokenCell(.ending, serial: 0))
        changes.tokens.append(token)
      case .removed(let key): changes.activities.insert(key)
      }
    }
  }
}

extension TokenPhase {
  /// The device has the token, or waits for it.
  var isHeld: Bool { self == .wanted || self == .issued || self == .registered }
}

extension BusError.Code {
  /// A refusal of a notification.
  struct Failure: Error, Sendable, Hashable { let code: BusError.Code }
}

/// The numbers of devices and tokens in each state.
struct FleetTally: Sendable {
  private(set) var installed = 0
  private(set) var online = 0
  private(set) var awake = 0
  private(set) var tokens = [Int](repeating: 0, count: 5)
  /// What happened to Live Activities with time, by name.
  private(set) var activities: [String: Int] = [:]
  var events = 0

  mutating func count(
    _ devices: FleetDevices, activityTokens: [LiveActivityStateMachine.Key: TokenPhase], counted: [String: Int]
  ) {
    activities = counted
    tokens = Array(repeating: 0, count: 5)
    for flags in devices.flags { move(from: [], to: flags) }
    events = devices.events.reduce(0) { $0 + Int($1) }
    for device in 0..<UInt32(devices.count) {
      for slot in 0..<FleetDevices.slots { tokens[Int(devices[device, slot].phase.rawValue)] += 1 }
    }
    for phase in activityTokens.values { tokens[Int(phase.rawValue)] += 1 }
  }

  mutating func move(from formerFlags: DeviceFlags, to flags: DeviceFlags) {
    func step(_ flag: DeviceFlags) -> Int { (flags.contains(flag) ? 1 : 0) - (formerFlags.contains(flag) ? 1 : 0) }
    installed += step(.installed)
    online += step(.online)
    awake += step(.awake)
  }

  mutating func move(from formerPhase: TokenPhase, to phase: TokenPhase) {
    tokens[Int(formerPhase.rawValue)] -= 1
    tokens[Int(phase.rawValue)] += 1
  }

  mutating func count(_ outcome: LiveActivityStateMachine.Outcome) { activities[outcome.rawValue, default: 0] += 1 }

  var state: FleetState.Tokens {
    var state = FleetState.Tokens()
    state.wanted = tokens[Int(TokenPhase.wanted.rawValue)]
    state.issued = tokens[Int(TokenPhase.issued.rawValue)]
    state.registered = tokens[Int(TokenPhase.registered.rawValue)]
    state.ending = tokens[Int(TokenPhase.ending.rawValue)]
    return state
  }
}
