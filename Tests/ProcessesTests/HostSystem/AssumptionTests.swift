// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import Device
import DeviceRules
import Foundation
import MessageBus
import Messages
import Testing
import Timekeeping

@testable import HostSystem

private let bundle = "com.example.App"
private let phoneApp = Address.app("iphone", bundle)
private let phoneWidget = Address.widgetExtension("iphone", "com.example.App.Widget")
private let phoneHost = Address.host("iphone")

/// What `Documentation/searches.md` assumes of the device, except for what tests of one service show.
@Suite(.timeLimit(.minutes(1))) struct `What the searches assume of a device` {
  private static let configuration = """
    device: {name: iphone, version: "26.0"}
    apps:
      - {bundle: com.example.App, executable: app, entitlements: {aps-environment: development}}
    extensions:
      - {bundle: com.example.App.Widget, executable: widget, entitlements: {aps-environment: development}}
    """

  @Test func `a device requests a list of children on each connection of an agent`() async throws {
    let fixture = try await DeviceFixture(Self.configuration)
    let device = try await fixture.host()
    let agent = fixture.bus.connection(try #require(await device.launcher.silentAgents.first))
    let incarnation = UUID()
    agent.onRequest(ListProcesses.self) { _, _ in ListProcesses.Reply(incarnation: incarnation, children: []) }
    try await fixture.connectThreeTimes(agent, ListProcesses.kind.answered(.ok))
    await fixture.end(device)
  }

  @Test func `a device reports whether it can be reached on each connection of the push server`() async throws {
    let fixture = try await DeviceFixture(Self.configuration)
    let device = try await fixture.host()
    let server = fixture.bus.connection(.pushServer)
    server.onEvent(DeviceReach.self) { _, _ in }
    try await fixture.connectThreeTimes(server, DeviceReach.kind.answered(.acknowledged))
    await fixture.end(device)
  }

  @Test(arguments: Wish.allCases)
  private func `what wants a process is stored, and wants the process again after a host restart`(wish: Wish)
    async throws
  {
    let fixture = try await DeviceFixture(Self.configuration)
    let first = try await fixture.host()
    try await wish.arise(on: first)
    try await wish.wants(on: first)
    await fixture.end(first)
    let second = try await fixture.host()
    try await wish.wants(on: second)
    await fixture.end(second)
  }
}

extension DeviceFixture {
  /// Connects a process three times, and waits each time until it has replied to the host. One reply more than the
  /// first connection needs could be left for the second one, and none for the third one.
  fileprivate func connectThreeTimes(_ connection: Connection, _ reply: Kind) async throws {
    for number in 1...3 {
      let count = UInt64(await bus.sentEnvelopes.count)
      if number == 1 { _ = try await connection.start() } else { await bus.connectAgain(connection.address) }
      _ = await bus.first {
        $0.header.sequence > count && $0.header.kind == reply && $0.header.source == connection.address
          && $0.header.destination == phoneHost
      }
      await bus.disconnect(connection.address)
    }
  }
}

/// A reason of each concern for which a process is launched.
private enum Wish: CaseIterable {
  case foreground, timeline, control, pushHandlers, notification, liveActivity

  private static let push = PushedNotification(
    uniqueID: UUID(), apnsID: "a", subject: PushSubject(device: "iphone", bundle: bundle, use: .app), type: .background,
    priority: 5, collapseID: nil, payload: #"{"aps":{"content-available":1}}"#, acceptedAt: Date(), expiration: nil,
    isFromStorage: false)

  private var process: Address {
    switch self {
    case .foreground, .notification: phoneApp
    case .timeline, .control, .pushHandlers, .liveActivity: phoneWidget
    }
  }

  private var assertion: Assertion {
    switch self {
    case .foreground: .foreground
    case .timeline, .control: TimelineStateMachine.assertion
    case .pushHandlers: TokenStateMachine.assertion
    case .notification: NotificationStateMachine.assertion(Self.push.uniqueID)
    case .liveActivity: "live activity"
    }
  }

  @DeviceActor func arise(on device: Device) async throws {
    var declaration = WidgetDeclaration(kind: "Cups")
    declaration.isControl = self == .control
    declaration.pushHandler = self == .pushHandlers ? "Handler" : nil
    let learned = DeviceEvent.gallery(.learned(phoneWidget, [declaration], .none))
    switch self {
    case .foreground: try device.open(bundle, .none)
    case .timeline: try device.core.record(learned)
    case .control:
      // A control is placed only after a launch of its app.
      let app = ChildProcess(address: phoneApp, generation: 1, pid: 1, isStopped: false)
      for agent in device.launcher.silentAgents {
        try device.core.record(.launching(.agentReported(agent, incarnation: UUID(), children: [app])))
      }
      try device.core.record(.launching(.ready(phoneApp, generation: 1)))
      try device.core.record(learned)
      let request = AddPlacement(widgetKind: "Cups", family: nil, location: .controlCenter)
      let _: PlacementReport = try device.core.ask(.gallery(.add(request, offer: nil, .none)))
    case .pushHandlers:
      try device.core.record(learned)
      try device.core.record(.tokens(.issued(TokenKey(bundle, .widgets), "aa")))
    case .notification: try await device.pushes.received(Self.push)
    case .liveActivity:
      let types = [ActivityDeclaration(attributesType: "Ride")]
      try device.core.record(.activities(.declared(bundle: phoneWidget.bundleIdentifier ?? "", types)))
      let request = RequestActivity(
        id: "a", attributesType: "Ride", attributes: "{}", content: ActivityContentRecord(state: "{}"))
      let _: AppActivities = try device.core.ask(.activities(.request(request, app: bundle, because: .user, .none)))
    }
  }

  /// Waits until the process is kept running for this reason.
  func wants(on device: Device) async throws {
    while await device.core.state.launching.processes[process]?.assertions.contains(assertion) != true {
      try Task.checkCancellation()
      await Task.yield()
    }
  }
}
