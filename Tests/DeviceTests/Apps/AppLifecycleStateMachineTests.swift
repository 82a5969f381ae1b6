// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let app = Address.app("iphone", "com.example.App")
private let widget = Address.widgetExtension("iphone", "com.example.App.Widget")
private let other = Address.app("iphone", "com.example.Other")

@Suite struct `Lifecycle of apps` {
  private typealias Action = AppLifecycleStateMachine.Action
  private var stateMachine = AppLifecycleStateMachine(apps: [
    InstalledApp(address: app, extensions: [widget]), InstalledApp(address: other, extensions: []),
  ])

  private let want = Action.asks(.process(.want(app, because: .foreground)))
  private let prevent = Action.asks(.preventLaunches([app, widget], why: "updated"))
  private let allow = Action.asks(.allowLaunches([app, widget]))

  @Test mutating func `an app that is opened is launched, and notified when it runs`() {
    #expect(stateMachine.handle(.opened(app)) == [want])
    #expect(stateMachine.handle(.awake(app)) == [.notify(app, isActive: true)])
    #expect(stateMachine.handle(.awake(app)) == [])
  }

  @Test mutating func `an app that leaves the foreground is notified and released`() {
    _ = stateMachine.handle(.opened(app))
    let release = Action.asks(.process(.release(app, because: .foreground)))
    #expect(stateMachine.handle(.leftForeground(app)) == [.notify(app, isActive: false), release])
    #expect(stateMachine.handle(.awake(app)) == [])
  }

  @Test mutating func `a force quit cancels an opening, and the transfers that the app began before its end`() {
    _ = stateMachine.handle(.opened(app))
    #expect(stateMachine.handle(.forceQuit(app)) == [])
    #expect(stateMachine.handle(.awake(app)) == [])
    #expect(
      stateMachine.handle(.instanceEnded(app, isQuit: true)) == [
        .stopNotifying(app), .asks(.cancelTransfers(app)),
      ])
    #expect(stateMachine.handle(.instanceEnded(app, isQuit: false)) == [.stopNotifying(app)])
  }

  @Test mutating func `an update moves the containers when none of the processes runs, and permits launches again`() {
    #expect(stateMachine.handle(.updateRequested(app)) == [prevent])
    #expect(stateMachine.handle(.updateRequested(app)) == [])
    #expect(stateMachine.handle(.launchesPrevented(widget)) == [])
    #expect(stateMachine.handle(.launchesPrevented(other)) == [])
    #expect(stateMachine.handle(.launchesPrevented(app)) == [.move(app: app, [app, widget])])
    #expect(stateMachine.handle(.moved(app: app, nil)) == [allow, .updateEnded(app, nil)])
    #expect(stateMachine.handle(.updateRequested(app)) == [prevent])
  }

  @Test mutating func `an update whose containers cannot be moved permits launches and fails`() {
    _ = stateMachine.handle(.updateRequested(app))
    _ = stateMachine.handle(.launchesPrevented(widget))
    _ = stateMachine.handle(.launchesPrevented(app))
    let error = BusError(.failed, "the disk is full")
    #expect(stateMachine.handle(.moved(app: app, error)) == [allow, .updateEnded(app, error)])
  }

  @Test mutating func `a host restart completes updates and force quits that it interrupted`() {
    let actions = stateMachine.handle(.began(moving: ["com.example.App.Widget"], quit: [other], inFront: []))
    #expect(
      actions == [.asks(.preventLaunches([widget], why: "updated")), .asks(.cancelTransfers(other))])
    #expect(stateMachine.handle(.launchesPrevented(widget)) == [.move(app: app, [widget])])
  }

  @Test mutating func `a host that starts notifies the app in the foreground again, once`() {
    #expect(stateMachine.handle(.began(moving: [], quit: [], inFront: [app])) == [])
    #expect(stateMachine.handle(.awake(other)) == [])
    #expect(stateMachine.handle(.awake(app)) == [.notify(app, isActive: true)])
    #expect(stateMachine.handle(.awake(app)) == [])
  }

  private static func notifiesActive(_ step: DeviceStep) -> Bool {
    step.actions.contains { if case .apps(let action) = $0 { action == .notify(app, isActive: true) } else { false } }
  }

  @Test func `a host notifies an app that the user opened before the earlier host was killed`() {
    // As the earlier host wrote it: spawned, in the foreground and not ready.
    var process = LaunchStateMachine.Process()
    process.state = .launching
    process.instance = ProcessInstance(generation: 1, pid: 101)
    process.assertions = [.foreground]
    var device = DeviceStateMachine {
      $0.launching = LaunchStateMachine(
        agents: [app: .agent("iphone", 1)], processes: [app: process], suspendAfter: 1)
      $0.apps = AppLifecycleStateMachine(apps: [InstalledApp(address: app, extensions: [])])
    }
    let now = Date(timeIntervalSince1970: 1_000_000_000)
    #expect(device.launching.frontApps == [app])
    _ = device.handle(.apps(.began(moving: [], quit: [], inFront: device.launching.frontApps)), now: now)
    let step = device.handle(.launching(.ready(app, generation: 1)), now: now)
    #expect(Self.notifiesActive(step))
  }

  @Test func `an opening that ends with its process does not count for a later launch in the background`() {
    var device = DeviceStateMachine {
      $0.launching = LaunchStateMachine(agents: [app: .agent("iphone", 1)], suspendAfter: 1)
      $0.apps = AppLifecycleStateMachine(apps: [InstalledApp(address: app, extensions: [])])
    }
    let now = Date(timeIntervalSince1970: 1_000_000_000)
    func handle(_ event: LaunchStateMachine.Event) -> DeviceStep { device.handle(.launching(event), now: now) }
    let former = ProcessInstance(generation: 1, pid: 101)
    _ = handle(.agentReported(.agent("iphone", 1), incarnation: UUID(), children: []))
    _ = device.handle(.apps(.opened(app)), now: now)
    _ = handle(.spawned(app, former))
    _ = handle(.exited(app, former, .signalled(signal: 9)))
    _ = handle(.process(.want(app, because: Assertion("events a"))))
    _ = handle(.spawned(app, ProcessInstance(generation: 2, pid: 102)))
    #expect(!Self.notifiesActive(handle(.ready(app, generation: 2))))
    #expect(device.launching.processes[app]?.state == .running)
  }

  @Test func `an app that the device does not have is refused with the names of the others`() {
    let error = #expect(throws: BusError.self) { try stateMachine.app("com.example.None") }
    #expect(error?.code == .noSuchApp)
    #expect(error?.message.contains("com.example.App, com.example.Other") == true)
  }
}
