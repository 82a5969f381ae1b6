// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
import Foundation
import MessageBus
package import Messages
package import Timekeeping

/// A service of the device: writes the changes of its state machines, and performs their actions.
@DeviceActor protocol DevicePart: AnyObject {
  /// The state machines whose changes it writes.
  nonisolated var concerns: Set<DeviceConcern> { get }
  /// Writes what the last step changed, with the device's next transaction. Nothing is sent before it is committed.
  func save(_ step: DeviceStep) throws
  /// After the actions of a step that changed something of it: resumes callers that wait.
  func settle()
}

extension DevicePart {
  func save(_ step: DeviceStep) {}
  func settle() {}
}

/// The device's state, and what makes it act: handles one event after the other, has the changes of each step written, and
/// then its actions performed. An event that follows from an action is handled after the step.
@DeviceActor package final class DeviceCore {
  package private(set) var state: DeviceStateMachine
  private let clock: any ControllableClock
  private let broken: @Sendable (String) -> Void
  private var inbox: [DeviceEvent] = []
  private var isHandling = false
  /// The reply to the event that was handled last, if it has one.
  private var reply: Result<DeviceReply, BusError>?
  /// Why nothing is handled or acknowledged any more: the state cannot be written, or the device ends.
  package private(set) var failure: BusError?
  private var isBroken = false
  /// Whether dates are reached.
  private var hasBegun = false
  private var alarm = StateMachineAlarm()
  private var parts: [any DevicePart] = []
  private weak var launcher: LaunchService?
  private weak var apps: AppLifecycleService?
  private weak var conditions: DeviceConditionsService?
  private weak var transfers: TransferService?
  private weak var timelines: TimelineService?
  private weak var pushes: PushService?
  private weak var gallery: GalleryService?
  private weak var activities: ActivityService?
  /// Performs what takes the device several steps.
  private var outside: (@DeviceActor (DeviceAction) -> Void)?
  /// Read each step before its actions are performed.
  private var observers: [@DeviceActor (DeviceStep) -> Void] = []

  /// - Parameters:
  ///   - clock: the device's clock.
  ///   - broken: called once when the state cannot be written.
  package nonisolated init(
    _ state: DeviceStateMachine, clock: any ControllableClock, broken: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.state = state
    self.clock = clock
    self.broken = broken
  }

  /// Adds a service, before the first event.
  package func connect(_ launcher: LaunchService) {
    self.launcher = launcher
    parts.append(launcher)
  }

  package func connect(_ apps: AppLifecycleService) {
    self.apps = apps
    parts.append(apps)
  }

  package func connect(_ conditions: DeviceConditionsService) {
    self.conditions = conditions
    parts.append(conditions)
  }

  package func connect(_ transfers: TransferService) {
    self.transfers = transfers
    parts.append(transfers.delivery)
  }

  package func connect(_ timelines: TimelineService) {
    self.timelines = timelines
    parts.append(timelines)
  }

  package func connect(_ pushes: PushService) {
    self.pushes = pushes
    parts.append(pushes)
  }

  package func connect(_ gallery: GalleryService) {
    self.gallery = gallery
    parts.append(gallery)
  }

  package func connect(_ activities: ActivityService) {
    self.activities = activities
    parts.append(activities)
  }

  /// Releases the services, which have left.
  package func disconnect() {
    parts = []
    outside = nil
  }

  package func performOutside(_ perform: @escaping @DeviceActor (DeviceAction) -> Void) { outside = perform }

  package func observe(_ observer: @escaping @DeviceActor (DeviceStep) -> Void) { observers.append(observer) }

  /// All services have resumed: from now on the device's dates are reached.
  package func begin() {
    hasBegun = true
    setAlarm()
  }

  // MARK: Events

  /// Handles an event, and what follows from it. After a failure it is not handled.
  package func handle(_ event: DeviceEvent) {
    inbox.append(event)
    guard !isHandling else { return }
    isHandling = true
    var next = 0
    while failure == nil, next < inbox.count {
      next += 1
      let step = state.handle(inbox[next - 1], now: clock.now)
      // The steps that follow are other events'.
      if next == 1 { reply = step.reply }
      take(step)
    }
    inbox = []
    isHandling = false
    setAlarm()
  }

  private func setAlarm() {
    let next = hasBegun && failure == nil ? state.nextInstant : nil
    alarm.set(next, on: clock) { [weak self] in await self?.alarmFired($0) }
  }

  private func alarmFired(_ instant: Date) {
    if alarm.takeFired(instant) { handle(.timerFired) }
  }

  /// Handles an event that its sender discards after the acknowledgement.
  ///
  /// - Throws: `failed` when it cannot be recorded, and `closed` when the device ends.
  package func record(_ event: DeviceEvent) throws(BusError) {
    handle(event)
    if let failure { throw failure }
  }

  /// Handles an event that has a reply.
  ///
  /// - Throws: the refusal; `failed` when it cannot be recorded, and `closed` when the device ends.
  package func ask(_ event: DeviceEvent) throws(BusError) -> DeviceReply {
    guard !isHandling else { throw Self.noReply }
    try record(event)
    guard let reply = reply.take() else { throw Self.noReply }
    return try reply.get()
  }

  /// An event without a reply was asked, or one during a step.
  static let noReply = BusError(.failed, "the device has no reply", isDefinite: true)

  /// From now on nothing is handled.
  package func stop() {
    if failure == nil { failure = BusError(.closed, "the device is shutting down", isDefinite: false) }
    alarm.cancel()
  }

  /// The state cannot be written: the host must exit.
  package func fail(_ reason: String) {
    guard !isBroken else { return }
    isBroken = true
    if failure == nil { failure = BusError(.failed, reason, isDefinite: false) }
    broken(reason)
    for part in parts { part.settle() }
  }

  /// Changes deliveries without an event: what is stored of them, and what the host knows at its start.
  func changeDelivery<Value>(_ body: (inout DeliveryStateMachine) throws -> Value) rethrows -> Value {
    try body(&state.delivery)
  }

  /// Sets the tokens of Live Activities before the first event, because each event releases what is not wanted.
  func setActivityTokens(_ tokens: Set<TokenKey>) { state.tokens.activities = tokens }

  /// The changes of timelines since the last call.
  func takeTimelineChanges() -> TimelineStateMachine.Changes { state.timelines.takeChanges() }

  // MARK: Steps

  private func take(_ step: DeviceStep) {
    do {
      for part in parts where !part.concerns.isDisjoint(with: step.changed) { try part.save(step) }
    } catch {
      return fail("the state of the device cannot be written: \(error)")
    }
    for observer in observers { observer(step) }
    for action in step.actions { perform(action) }
    for part in parts where !part.concerns.isDisjoint(with: step.changed) { part.settle() }
  }

  private func perform(_ action: DeviceAction) {
    switch action {
    case .launching(let action): launcher?.perform(action)
    case .apps(let action): apps?.perform(action)
    case .conditions(let action): conditions?.perform(action)
    case .settings(let action): conditions?.perform(action)
    case .loading(let action): transfers?.scheduler.perform(action)
    case .delivery(let action): transfers?.delivery.perform(action)
    case .timelines(let action): timelines?.perform(action)
    case .tokens(let action): pushes?.perform(action)
    case .notifications(let action): pushes?.perform(action)
    case .gallery(let action): gallery?.perform(action)
    case .activities(.started): outside?(action)
    case .activities(let action): activities?.perform(action)
    case .ask(let owner, let woken): transfers?.scheduler.awake(owner, woken: woken)
    case .sessionTaken(let taken, let session): transfers?.delivery.tell(taken, session)
    case .endTasks(let tasks, let app): transfers?.end(tasks, of: app)
    case .instanceEnded(let address, let deliveries):
      transfers?.delivery.removeCopies(of: address, deliveries)
      pushes?.cancelCalls(to: address)
      gallery?.stopLearning(address)
      activities?.ended(address)
      outside?(action)
    case .network(let state):
      transfers?.scheduler.setRate(state.rate)
      pushes?.setOnline(state.path != .off)
    }
  }
}
