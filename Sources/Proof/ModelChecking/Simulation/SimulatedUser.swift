// SPDX-License-Identifier: Apache-2.0

import Archive
import ChaosCampaign
import DeviceRules
import Foundation
import Messages

/// The people and what they do: the user of the device, drawn as a day; the author's provider, which sends pushes; and who
/// pulls plugs.
final class SimulatedUser {
  private unowned let cluster: SimulatedCluster
  /// Whether new work begins. At the end of a simulation none does.
  private(set) var isActive = true
  private var operators = 0
  private var isLocked = false
  /// Pushes that were answered with 200, for questions about the log.
  private var answered: [UUID] = []

  private var time: VirtualTime { cluster.time }

  init(_ cluster: SimulatedCluster) { self.cluster = cluster }

  func begin(_ campaign: SimulatedCampaign?) {
    // The first launch of each product.
    after(Span.second) { [self] in open() }
    after(3 * Span.second) { [self] in reload() }
    guard let campaign else {
      act()
      return push()
    }
    for action in campaign.actions {
      after(SimulatedCampaign.begin + action.at) { [self] in
        if isActive { perform(action.what) }
      }
    }
  }

  private func perform(_ action: SimulatedCampaign.Action.What) {
    switch action {
    case .does(.openApp): send(OpenApp(bundle: bundle), to: cluster.hostAddress)
    case .does(.background): send(ChangeScreen(.look(.homeScreen)), to: cluster.hostAddress)
    case .does(.push): sendPush(isForWidgets: true, isByOperator: true)
    case .does(.drink): sendPush(isForWidgets: true, isByOperator: false)
    case .does(.reload), .does(.tap): reload()
    case .isOffline(let span):
      send(SetNetwork(state: NetworkState(path: .off)), to: cluster.hostAddress)
      after(span) { [self] in send(SetNetwork(state: NetworkState(path: .wifi)), to: cluster.hostAddress) }
    }
  }

  /// No new work begins, and nothing holds the old one up: the device is unlocked and online, and each owner of a session
  /// runs once more.
  func end() {
    isActive = false
    isLocked = true
    open()
    send(SetNetwork(state: NetworkState(path: .wifi)), to: cluster.hostAddress)
    send(SetPower(isAwake: true), to: cluster.hostAddress)
    // Later: an app whose extension has the session open cannot open it.
    after(2 * Span.minute) { [self] in reload() }
    askAboutPushes()
    send(DeviceStatus(), to: cluster.hostAddress)
  }

  private func after(_ span: Int64, _ act: @escaping () -> Void) {
    time.after(span, "user", "acts", act)
  }

  /// An hour of the night has a fifth of the actions of an hour of the day.
  private var pause: Int64 {
    let hour = (time.now / Span.hour) % 24
    let mean = (7..<23).contains(hour) ? 4 * Span.minute : 20 * Span.minute
    return 1 + Int64(time.dice.below(Int(2 * mean)))
  }

  private func act() {
    after(pause) { [self] in
      guard isActive else { return }
      choose()
      act()
    }
  }

  private func choose() {
    switch time.dice.below(24) {
    case 0..<4: open()
    case 4..<8:
      isLocked.toggle()
      send(ChangeScreen(isLocked ? .lock : .unlock), to: cluster.hostAddress)
    case 8..<11: send(ChangeScreen(.look(.homeScreen)), to: cluster.hostAddress)
    case 11..<14: network()
    case 14..<17: reload()
    case 17:
      send(SetPower(isAwake: false), to: cluster.hostAddress)
      after(1 + Int64(time.dice.below(Int(10 * Span.minute)))) { [self] in
        send(SetPower(isAwake: true), to: cluster.hostAddress)
      }
    case 18: send(ForceQuitApp(bundle: bundle), to: cluster.hostAddress)
    case 19: place()
    case 20: removeOne()
    case 21: send(ChangeScreen(.darken), to: cluster.hostAddress)
    case 22: rotate()
    default: send(DeviceStatus(), to: cluster.hostAddress)
    }
  }

  private var bundle: String { SimulatedCluster.app.bundleIdentifier ?? "" }

  private func open() {
    if isLocked {
      isLocked = false
      send(ChangeScreen(.unlock), to: cluster.hostAddress)
    }
    send(OpenApp(bundle: bundle), to: cluster.hostAddress)
    after(Span.second + Int64(time.dice.below(Int(5 * Span.minute)))) { [self] in
      send(ChangeScreen(.look(.homeScreen)), to: cluster.hostAddress)
    }
  }

  private func network() {
    send(SetNetwork(state: NetworkState(path: time.dice.isOne(in: 3) ? .cellular : .off)), to: cluster.hostAddress)
    after(Span.second + Int64(time.dice.below(Int(8 * Span.minute)))) { [self] in
      send(SetNetwork(state: NetworkState(path: .wifi)), to: cluster.hostAddress)
    }
  }

  private func reload() {
    let connection = operatorConnection()
    connection.deliver(ReloadTimelines(widgetKind: nil), to: cluster.hostAddress) { [self] _ in leave(connection) }
    patience(connection)
  }

  private func place() {
    let placements = cluster.host?.machine.gallery.state.placements.count ?? 0
    guard placements < 5 else { return }
    send(
      AddPlacement(
        widgetKind: SimulatedCluster.declarations[time.dice.below(2)].kind, family: .systemSmall, location: .homeScreen),
      to: cluster.hostAddress)
  }

  private func removeOne() {
    let placements = cluster.host?.machine.gallery.state.placements.map(\.id) ?? []
    guard placements.count > 2 else { return }
    send(RemovePlacement(placement: placements[time.dice.below(placements.count)]), to: cluster.hostAddress)
  }

  private func rotate() {
    send(
      ChangeToken(
        subject: PushSubject(device: SimulatedCluster.device, bundle: bundle, use: .widgets), change: .rotate),
      to: .pushServer)
  }

  // MARK: The provider

  private func push() {
    after(1 + Int64(time.dice.below(Int(12 * Span.minute)))) { [self] in
      guard isActive else { return }
      sendPush()
      push()
    }
  }

  private func sendPush() {
    let isForWidgets = !time.dice.isOne(in: 4)
    sendPush(isForWidgets: isForWidgets, isByOperator: nil)
  }

  /// - Parameter isByOperator: `nil`: drawn.
  private func sendPush(isForWidgets: Bool, isByOperator: Bool?) {
    let use: PushTokenUse = isForWidgets ? .widgets : .app
    guard
      let token = cluster.pushServerDisk.tokens[
        PushSubject(device: SimulatedCluster.device, bundle: bundle, use: use)]?.token
    else { return }
    var headers: [String: String] = [:]
    if time.dice.isOne(in: 4) { headers["apns-priority"] = "5" }
    if time.dice.isOne(in: 6) { headers["apns-collapse-id"] = "drinks" }
    let isByOperator = isByOperator ?? time.dice.isOne(in: 2)
    switch time.dice.below(8) {
    // Only of an operator's push does the journal have the request, and so that it is for one attempt.
    case 0 where isByOperator: headers["apns-expiration"] = "0"
    case 1: headers["apns-expiration"] = "\(time.now / Span.second + 30 + Int64(time.dice.below(300)))"
    default: break
    }
    let payload =
      isForWidgets ? #"{"aps":{"content-changed":true}}"# : #"{"aps":{"content-available":1}}"#
    if isByOperator {
      let connection = operatorConnection()
      connection.request(
        SendPush(token: token, subject: nil, headers: headers, payload: payload), to: .pushServer,
        within: 10 * Span.second, waits: false
      ) { [self] result in
        if case .success(let reply) = result, reply.status == 200 { remember(reply.uniqueID) }
        leave(connection)
      }
      patience(connection)
    } else {
      // HTTP/2, which the journal does not have.
      cluster.pushServer?.accept(token, payload, headers) { _, _ in }
    }
  }

  private func remember(_ id: UUID) {
    answered.append(id)
    if answered.count > 3 { answered.removeFirst() }
  }

  /// Asks the next host what it has.
  func askAboutTasks() {
    after(2 * Span.second) { [self] in send(DeviceStatus(), to: cluster.hostAddress) }
  }

  /// Asks the delivery log about the newest pushes: the notices of results may be lost.
  func askAboutPushes() {
    after(2 * Span.second) { [self] in
      send(ListPushes(limit: 16), to: .pushServer)
      for id in answered { send(ListPushes(uniqueID: id), to: .pushServer) }
    }
  }

  // MARK: Commands

  /// One run of the tool.
  private func operatorConnection() -> SimulatedConnection {
    operators += 1
    let connection = SimulatedConnection(
      .operator("\(operators)"), on: cluster.bus, pid: cluster.nextPid(), incarnation: time.dice.uuid())
    cluster.bus.connect(connection)
    return connection
  }

  func send<R: Request>(_ request: R, to destination: Address) {
    let connection = operatorConnection()
    connection.request(request, to: destination, within: 10 * Span.second, waits: false) { [self] _ in
      leave(connection)
    }
    patience(connection)
  }

  private func leave(_ connection: SimulatedConnection) {
    connection.request(Goodbye(), to: .messageBus, within: Span.second) { _ in connection.kill() }
  }

  /// A command that gets no reply ends.
  private func patience(_ connection: SimulatedConnection) {
    time.after(12 * Span.second, "user", "a command ends") { connection.kill() }
  }
}
