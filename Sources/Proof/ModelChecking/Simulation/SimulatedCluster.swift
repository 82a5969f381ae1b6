// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import Foundation
import Messages

/// A process that a simulation kills.
package enum SimulatedVictim: String, CaseIterable, Sendable {
  case widgetExtension = "extension"
  case app
  case agent
  case host
  case pushServer = "push-server"
  case messageBus = "message-bus"
}

/// One device with its agents, an app with its extension, a push server and the message bus, on virtual time.
final class SimulatedCluster {
  static let device = "phone"
  static let app = Address.app(device, "com.example.Lab")
  static let widget = Address.widgetExtension(device, "com.example.Lab.Widget")
  static let agents = [app: Address.agent(device, 1), widget: Address.agent(device, 2)]
  static let products = [
    PushProduct(address: app, app: "com.example.Lab", environment: .development),
    PushProduct(address: widget, app: "com.example.Lab", environment: .development),
  ]
  static let families = AppFamilies(apps: ["com.example.Lab"])
  static let declarations: [WidgetDeclaration] = ["Drinks", "Level"].map { kind in
    var declaration = WidgetDeclaration(kind: kind)
    declaration.families = [.systemSmall]
    if kind == "Drinks" { declaration.pushHandler = "Drinks" }
    return declaration
  }

  /// The limiter and the pauses of deliveries end within a quarter of an hour, so that all work ends soon after the last
  /// disturbance.
  static var transferSettings: TransferSettings {
    var settings = TransferSettings()
    settings.limiterMax = 900
    settings.redeliveries = 3
    return settings
  }

  let time: VirtualTime
  let mistake: SimulatedMistake?
  private let campaign: SimulatedCampaign?
  private(set) var bus: SimulatedBus
  let hostAddress = Address.host(SimulatedCluster.device)
  let hostDisk: HostDisk
  let pushServerDisk: PushServerDisk
  private(set) var host: SimulatedHost?
  private(set) var pushServer: SimulatedPushServer?
  private var agents: [Address: SimulatedAgent] = [:]
  private(set) lazy var user = SimulatedUser(self)
  /// The files in the owners' containers: length and SHA-256, and those of each delivery.
  var files: [String: (bytes: Int64, sha256: String)] = [:]
  var copies: [UUID: [String]] = [:]
  private var lastPid: Int32 = 1_000
  private(set) var kills: [SimulatedVictim: Int] = [:]
  var decisions = 0
  var commits = 0

  /// - Parameters:
  ///   - campaign: what the user does; `nil`: what the dice choose.
  ///   - record: receives each envelope of the journal.
  init(
    _ dice: Dice, _ mistake: SimulatedMistake?, campaign: SimulatedCampaign? = nil,
    record: @escaping (Envelope) -> Void
  ) {
    self.campaign = campaign
    time = VirtualTime(dice)
    self.mistake = mistake
    bus = SimulatedBus(time, mistake, record: record)
    hostDisk = HostDisk(identity: time.dice.uuid(), mistake)
    pushServerDisk = PushServerDisk(identity: time.dice.uuid())
  }

  func nextPid() -> Int32 {
    lastPid += 1
    return lastPid
  }

  func start() {
    bus.start()
    pushServer = SimulatedPushServer(self)
    for agent in Self.agents.values.sorted(by: { $0.text < $1.text }) { agents[agent] = SimulatedAgent(self, agent) }
    host = SimulatedHost(self)
    user.begin(campaign)
  }

  /// Releases the processes and what is planned, which refer to each other.
  func end() {
    host?.kill()
    pushServer?.kill()
    for agent in agents.values { agent.kill() }
    bus.end()
    time.end()
  }

  /// A device that was never started.
  func device() -> DeviceStateMachine {
    DeviceStateMachine {
      $0.launching = LaunchStateMachine(agents: Self.agents, suspendAfter: 2, endIdleAfter: 1_800)
      $0.apps = AppLifecycleStateMachine(apps: [InstalledApp(address: Self.app, extensions: [Self.widget])])
      $0.loading = LoadingStateMachine(settings: Self.transferSettings, families: Self.families)
      $0.delivery = DeliveryStateMachine(
        settings: Self.transferSettings, identifiers: IdentifierSource(base: time.dice.uuid()))
      var (settings, policy) = (TimelineSettings(), BudgetPolicy())
      if mistake == .overdrawn {
        settings.developerMode = false
        policy.credit = .infinity
        policy.minimumSpacing = 0
        policy.freeCauses = []
        policy.isFreeInForeground = false
        policy.isFreeAtWork = false
      }
      $0.timelines = TimelineStateMachine(
        extensions: [Self.widget], apps: [Self.app], settings: settings, policy: policy)
      $0.tokens = TokenStateMachine(products: Self.products)
      $0.notifications = NotificationStateMachine(device: Self.device)
      $0.gallery = GalleryStateMachine(device: .phone, apps: ["com.example.Lab"])
      $0.screen = ScreenStateMachine(device: .phone)
      $0.facts.device = Self.device
      $0.facts.extensions = [Self.widget: true]
      $0.facts.launchesForEvents = mistake != .unlaunched
    }
  }

  // MARK: Kills

  /// The victims that run now.
  var victims: [SimulatedVictim] {
    SimulatedVictim.allCases.filter { victim in
      switch victim {
      case .widgetExtension: child(Self.widget) != nil
      case .app: child(Self.app) != nil
      case .agent: !agents.isEmpty
      case .host: host != nil
      case .pushServer: pushServer != nil
      case .messageBus: bus.isUp
      }
    }
  }

  private func child(_ address: Address) -> SimulatedAuthor? {
    Self.agents[address].flatMap { agents[$0] }?.running.first { $0.address == address }
  }

  /// Kills a process with `SIGKILL`. A standing one is started again by its supervisor.
  func kill(_ victim: SimulatedVictim) {
    kills[victim, default: 0] += 1
    let back = time.span(100_000, 1_500_000)
    switch victim {
    case .widgetExtension: child(Self.widget)?.end(.signalled(signal: 9))
    case .app: child(Self.app)?.end(.signalled(signal: 9))
    case .agent:
      let addresses = agents.keys.sorted { $0.text < $1.text }
      let address = addresses[time.dice.below(addresses.count)]
      agents.removeValue(forKey: address)?.kill()
      time.after(back, address.short, "starts") { [self] in agents[address] = SimulatedAgent(self, address) }
    case .host:
      host?.kill()
      host = nil
      time.after(back, "host", "starts") { [self] in
        host = SimulatedHost(self)
        user.askAboutTasks()
      }
    case .pushServer:
      pushServer?.kill()
      pushServer = nil
      time.after(back, "push-server", "starts") { [self] in
        pushServer = SimulatedPushServer(self)
        user.askAboutPushes()
      }
    case .messageBus:
      bus.kill()
      time.after(back, "message-bus", "starts") { [self] in
        bus.start()
        user.askAboutPushes()
      }
    }
  }
}
