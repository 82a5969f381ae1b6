// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
package import PushRules

/// How often what is around a push server acts.
package struct PushScope: Sendable {
  /// Notifications that a provider sends.
  package var pushes: Int8 = 2
  /// Whether the last of them expires, and the first is for one attempt.
  package var hasExpiration = false
  package var isFirstForOnce = false
  /// Changes of the device's network and of its power.
  package var networkChanges: Int8 = 0
  package var powerChanges: Int8 = 0
  package var isOfLowPriority = false
  /// Exits of the device's host, and of the push server.
  package var hostExits: Int8 = 0
  package var serverExits: Int8 = 0
  /// Acknowledgements that are lost: the event is sent again.
  package var repetitions: Int8 = 0
  /// The last second of the search: later states are not followed.
  package var seconds = 12.0
  /// The token ends.
  package var endsToken = false
  /// The least time between two notifications of priority 5.
  package var interval = 0.0

  package init(_ set: (inout PushScope) -> Void) { set(&self) }
}

/// The push server's state machine with its disk, one device with its disk, and a provider.
///
/// A notification is on the disk before the provider has its response, and until the device acknowledged it; the device
/// acknowledges what is on its disk, and ignores what it has taken before (apns.md). The bus sends an event again until
/// it is acknowledged, to whichever instance of the host is connected (protocol.md).
package struct PushModel: Model {
  package struct State: Hashable, Sendable {
    package var machine: PushStateMachine
    /// What the server's disk keeps: by number, whether it is stored and not sent.
    var disk: [Int64: Bool] = [:]
    var isHostUp = true
    var isOnline = true
    var isAwake = true
    var generation: UInt32 = 1
    /// Whether the device's last state has not been reported to this server.
    var isReportDue = true
    /// Changes of the device's presence that the server has not learned.
    var isPresenceDue = false
    /// Events on their way to the device, until the server has their result.
    var events: Set<Int64> = []
    /// Results on their way: whether each was refused.
    var results: [Int64: Bool] = [:]
    /// What the device has taken.
    var taken: Set<Int64> = []
    /// The results that the delivery log has.
    var closed: [Int64: PushStep.Name] = [:]
    var accepted: Int64 = 0
    var isTokenEnded = false
    var now = 0.0
    var left: Left
    var objection: String?
    var met: Set<PushStep.Name> = []
  }

  struct Left: Hashable, Sendable {
    var pushes, networkChanges, powerChanges, hostExits, serverExits, repetitions: Int8
  }

  package enum Action: Hashable, Sendable, CustomStringConvertible {
    case providerSends, deviceReports, serverLearnsPresence
    case resultArrives(Int64)
    case timerFires, expires, tokenEnds
    case eventArrives(Int64)
    case acknowledgementIsLost(Int64)
    case networkChanges, powerChanges, hostExits, hostStarts, serverRestarts, idleIsForgotten

    package var description: String {
      switch self {
      case .providerSends: "a provider sends a notification"
      case .deviceReports: "the device reports whether it can be reached"
      case .serverLearnsPresence: "the server learns that the host has connected, or left"
      case .resultArrives(let number): "the server learns the result of \(number)"
      case .timerFires: "the next date of the state machine is reached"
      case .expires: "the end of the stored notification is reached"
      case .tokenEnds: "the token ends"
      case .eventArrives(let number): "notification \(number) arrives at the device"
      case .acknowledgementIsLost(let number): "notification \(number) arrives, and its acknowledgement is lost"
      case .networkChanges: "the device's network goes or returns"
      case .powerChanges: "the device falls asleep, or wakes"
      case .hostExits: "the host is killed"
      case .hostStarts: "the next host starts"
      case .serverRestarts: "the push server is killed, and the next one starts"
      case .idleIsForgotten: "the server removes the idle device from memory"
      }
    }
  }

  private static let device = "p"
  private static let subject = PushSubject(device: device, bundle: "a", use: .widgets)

  package let name: String
  package let about: String
  private let scope: PushScope

  package init(_ name: String, about: String, _ scope: PushScope) {
    self.name = name
    self.about = about
    self.scope = scope
  }

  private var settings: PushSettings {
    var settings = PushSettings()
    settings.retryAfter = 3
    settings.inFlight = 1
    settings.storageAge = 1_000
    settings.opportunities.priority5Interval = scope.interval
    return settings
  }

  package var initialState: State {
    State(
      machine: PushStateMachine(settings: settings),
      left: Left(
        pushes: scope.pushes, networkChanges: scope.networkChanges, powerChanges: scope.powerChanges,
        hostExits: scope.hostExits, serverExits: scope.serverExits, repetitions: scope.repetitions))
  }

  package func isProgress(_ action: Action) -> Bool {
    switch action {
    case .deviceReports, .serverLearnsPresence, .resultArrives, .timerFires, .eventArrives, .hostStarts, .expires: true
    // The network returns, and the device wakes.
    case .networkChanges, .powerChanges: true
    case .providerSends, .tokenEnds, .acknowledgementIsLost, .hostExits, .serverRestarts, .idleIsForgotten: false
    }
  }

  package func actions(in state: State) -> [Action] {
    var actions: [Action] = []
    let left = state.left
    if left.pushes > 0, !state.isTokenEnded { actions.append(.providerSends) }
    if state.isHostUp {
      if state.isReportDue { actions.append(.deviceReports) }
      for number in state.events.sorted() where state.results[number] == nil {
        actions.append(.eventArrives(number))
        if left.repetitions > 0 { actions.append(.acknowledgementIsLost(number)) }
      }
      if left.hostExits > 0 { actions.append(.hostExits) }
    } else {
      actions.append(.hostStarts)
    }
    if state.isPresenceDue { actions.append(.serverLearnsPresence) }
    for number in state.results.keys.sorted() { actions.append(.resultArrives(number)) }
    // A change back needs no permission: the network is not away forever.
    if !state.isOnline || left.networkChanges > 0 { actions.append(.networkChanges) }
    if !state.isAwake || left.powerChanges > 0 { actions.append(.powerChanges) }
    if left.serverExits > 0 { actions.append(.serverRestarts) }
    if let queue = state.machine.devices[Self.device] {
      var machine = state.machine
      if machine.nextInstant != nil { actions.append(.timerFires) }
      if let held = queue.queues[Self.subject]?.held, held.notification.expiration != nil { actions.append(.expires) }
      if state.machine.isIdle(Self.device), scope.serverExits > 0 { actions.append(.idleIsForgotten) }
    }
    if scope.endsToken, !state.isTokenEnded { actions.append(.tokenEnds) }
    return actions
  }

  package func next(_ state: State, _ action: Action, _ log: inout Log) -> State {
    var state = state
    state.met = []
    switch action {
    case .providerSends:
      state.left.pushes -= 1
      state.accepted += 1
      handle(.accepted(push(state.accepted, at: state.now)), &state, &log)
    case .deviceReports:
      state.isReportDue = false
      state.isPresenceDue = false
      handle(
        .reach(device: Self.device, isOnline: state.isOnline, isAwake: state.isAwake, generation: state.generation),
        &state, &log)
    case .serverLearnsPresence:
      state.isPresenceDue = false
      handle(
        .presence(device: Self.device, isPresent: state.isHostUp, generation: state.generation), &state, &log)
    case .eventArrives(let number): state.results[number] = !take(number, &state)
    case .acknowledgementIsLost(let number):
      state.left.repetitions -= 1
      _ = take(number, &state)
    case .resultArrives(let number):
      let isRefused = state.results.removeValue(forKey: number) ?? false
      state.events.remove(number)
      let id = Self.id(number)
      handle(
        isRefused ? .refused(id, of: Self.subject, why: "offline") : .acknowledged(id, of: Self.subject), &state, &log)
    case .networkChanges:
      if state.isOnline { state.left.networkChanges -= 1 }
      state.isOnline.toggle()
      state.isReportDue = true
    case .powerChanges:
      if state.isAwake { state.left.powerChanges -= 1 }
      state.isAwake.toggle()
      state.isReportDue = true
    case .hostExits:
      state.left.hostExits -= 1
      state.isHostUp = false
      state.isReportDue = false
      state.isPresenceDue = true
    case .hostStarts:
      state.isHostUp = true
      state.generation += 1
      state.isReportDue = true
      state.isPresenceDue = true
    case .serverRestarts:
      state.left.serverExits -= 1
      state.machine = PushStateMachine(settings: settings)
      state.events = []
      state.results = [:]
      // The device reports when the push server connects (`pushServerConnected`).
      state.isReportDue = state.isHostUp
      state.isPresenceDue = false
    case .idleIsForgotten: state.machine.unload([Self.device])
    case .timerFires:
      if let instant = state.machine.nextInstant {
        state.now = max(state.now, instant.timeIntervalSinceReferenceDate)
      }
      handle(.timerFired, &state, &log)
    case .expires:
      if let held = state.machine.devices[Self.device]?.queues[Self.subject]?.held {
        state.now = max(state.now, held.end(settings).timeIntervalSinceReferenceDate)
      }
      handle(.ended(Self.subject), &state, &log)
    case .tokenEnds:
      state.isTokenEnded = true
      handle(.tokenEnded("t", of: Self.subject), &state, &log)
    }
    return state
  }

  /// - Returns: whether the device takes it.
  private func take(_ number: Int64, _ state: inout State) -> Bool {
    guard state.isOnline else { return false }
    state.taken.insert(number)
    return true
  }

  private static func id(_ number: Int64) -> UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
  }

  private func push(_ number: Int64, at now: Double) -> StoredPush {
    let isForOnce = scope.isFirstForOnce && number == 1
    let expires = scope.hasExpiration && number == Int64(scope.pushes)
    return StoredPush(
      number: number,
      notification: PushedNotification(
        uniqueID: Self.id(number), apnsID: "", subject: Self.subject, type: .widgets,
        priority: scope.isOfLowPriority ? 5 : 10, collapseID: nil, payload: "",
        acceptedAt: Date(timeIntervalSinceReferenceDate: now),
        expiration: isForOnce
          ? Date(timeIntervalSince1970: 0) : expires ? Date(timeIntervalSinceReferenceDate: now + 5) : nil,
        isFromStorage: false), token: "t")
  }

  private func handle(_ event: PushStateMachine.Event, _ state: inout State, _ log: inout Log) {
    if let device = state.machine.missing(for: event) {
      let kept = state.disk.sorted { $0.key < $1.key }.map { number, isHeld in
        var push = push(number, at: 0)
        if isHeld { push = push.stored() }
        push.isHeld = isHeld
        return push
      }
      state.machine.load(device, kept)
      log.add("loads   \(kept.map(\.number))")
    }
    log.add("event   \(event)")
    for action in state.machine.handle(event, now: Date(timeIntervalSinceReferenceDate: state.now)) {
      log.add("action  \(action)")
      perform(action, &state)
    }
  }

  private func perform(_ action: PushStateMachine.Action, _ state: inout State) {
    switch action {
    case .keep(let push):
      if push.isForOnce { state.objection = "a notification for one attempt is kept" }
      state.disk[push.number] = push.notification.isFromStorage
    case .drop(let push):
      if state.closed[push.number] == nil { state.objection = "a notification is dropped without a result" }
      state.disk[push.number] = nil
    case .send(let notification):
      let number = Int64(notification.uniqueID.uuid.15)
      if !notification.isForOnce, state.disk[number] == nil {
        state.objection = "a notification is sent that is not kept"
      }
      if state.events.contains(number) { state.objection = "a notification is sent twice at once" }
      if state.closed[number] != nil { state.objection = "a notification is sent after its result" }
      state.events.insert(number)
      state.results[number] = nil
    case .step(let push, let name, _):
      state.met.insert(name)
      switch name {
      case .delivered, .superseded, .collapsed, .expired, .notStored, .tokenUnregistered:
        if state.closed.updateValue(name, forKey: push.number) != nil {
          state.objection = "a notification has two results"
        }
        if name == .delivered, !state.taken.contains(push.number) {
          state.objection = "a notification counts as delivered that the device does not have"
        }
        if name == .superseded, state.accepted == push.number {
          state.objection = "the newest notification is superseded"
        }
      case .sent: if push.notification.isFromStorage { state.disk[push.number] = false }
      case .storedOffline, .storedPower, .accepted, .refused, .noContentChanged, .noWidget, .reloading, .budget,
        .reloaded, .reloadFailed, .supersededOnDevice, .handled, .discarded:
        break
      }
    }
  }

  package var properties: [Property<State>] {
    var properties: [Property<State>] = [
      .always("a notification has one result, and is kept until then") { $0.objection == nil },
      .always("at most one notification waits for a device's acknowledgement") {
        ($0.machine.devices["p"]?.queues.values.first?.sentPushes.count { $0.isSent } ?? 0) <= 1
      },
      .always("every notification that has no result is kept") { state in
        state.accepted == 0
          || (1...state.accepted).allSatisfy {
            state.closed[$0] != nil || state.disk[$0] != nil || state.events.contains($0)
              || scope.isFirstForOnce && $0 == 1
          }
      },
      .eventually("every notification has its result") { state in
        state.accepted == 0
          || (1...state.accepted).allSatisfy {
            state.closed[$0] != nil || scope.isFirstForOnce && $0 == 1
          } && state.disk.isEmpty
      },
      .sometimes("a notification is delivered") { $0.met.contains(.delivered) },
      .sometimes("a notification is stored") { $0.met.contains(.storedOffline) },
    ]
    if scope.pushes > 1 { properties.append(.sometimes("one replaces another") { $0.met.contains(.superseded) }) }
    if scope.hasExpiration { properties.append(.sometimes("one expires") { $0.met.contains(.expired) }) }
    if scope.isFirstForOnce { properties.append(.sometimes("one attempt fails") { $0.met.contains(.notStored) }) }
    if scope.isOfLowPriority {
      properties.append(.sometimes("a sleeping device is spared") { $0.met.contains(.storedPower) })
    }
    if scope.endsToken { properties.append(.sometimes("a token ends") { $0.met.contains(.tokenUnregistered) }) }
    return properties
  }

  package func isWithinBoundary(_ state: State) -> Bool { state.now <= scope.seconds }

  package func representative(of state: State) -> State {
    var state = state
    state.met = []
    return state
  }
}
