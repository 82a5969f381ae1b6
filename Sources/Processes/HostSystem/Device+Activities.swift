// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import Foundation
import MessageBus
import Messages
import Stores
import Timekeeping

// Live Activities: messages of apps, extensions and the operator.

extension Device {
  /// The app that a process belongs to; `nil`: the operator.
  private func app(of process: Address) -> String? {
    guard process.role != .operator else { return nil }
    let bundle = process.bundleIdentifier ?? ""
    return core.state.activities.app(of: bundle) ?? bundle
  }

  /// Only an app in the foreground starts an activity. Source: *Displaying live data with Live Activities*.
  func request(_ request: RequestActivity, _ from: Received) async throws -> AppActivities {
    let ownApp = app(of: from.source)
    let app = try ownApp ?? request.app ?? onlyApp()
    if ownApp != nil, !core.state.launching.isInFront(from.source) {
      throw BusError(.appNotVisible, "\(app) is not in the foreground, and only then it can start a Live Activity")
    }
    await learnActivities()
    return try core.ask(
      .activities(.request(request, app: app, because: ownApp == nil ? .user : .app, from.context)))
  }

  private func onlyApp() throws(BusError) -> String {
    guard let app = configuration.apps.first, configuration.apps.count == 1 else {
      throw BusError(.activitiesDenied, "the device has \(configuration.apps.count) apps: name one")
    }
    return app.bundle
  }

  func change(_ request: ChangeActivity, _ from: Received) throws -> AppActivities {
    let cause: ActivityMoved.Cause =
      switch from.source.role {
      case .app: .app
      case .widgetExtension: .extension
      default: .user
      }
    return try core.ask(.activities(.change(request, of: app(of: from.source), because: cause, from.context)))
  }

  func list(_ request: ListActivities, _ from: Received) -> AppActivities {
    if let own = app(of: from.source) { return activities.follow(from.source, app: own) }
    let all = core.state.activities
    return request.app.map { all.activities(of: $0) } ?? all.all
  }

  /// A tap on a Live Activity. Its intents are performed as those of a widget; what they change of the activity, the
  /// author's code updates.
  func tap(_ request: TapActivity, _ context: MessageContext) async throws -> TapWidget.Reply {
    let isMeant = { (record: ActivityRecord) in record.id == request.id || "\(record.number)" == request.id }
    guard let shown = activities.shown.first(where: { isMeant($0.activity) }) else {
      throw BusError(.noSuchActivity, "no Live Activity has the id \(request.id)")
    }
    let (record, screen) = (shown.activity, core.state.screen)
    guard let views = shown.views,
      let bundle = core.state.activities.widgetExtension(of: record.app, showing: record.attributesType)
    else { throw BusError(.notNow, shown.note ?? "its extension has provided nothing yet") }
    let hasIsland = configuration.device.screen.hasDynamicIsland && !screen.state.isLocked && record.phase != .ended
    let usual: TapActivity.Presentation = hasIsland && screen.current != .lockScreen ? .expanded : .lockScreen
    let presentation = request.presentation ?? usual
    guard presentation == .lockScreen || hasIsland else {
      throw BusError(.notNow, "the activity is not in the Dynamic Island")
    }
    switch try core.state.gallery.touch(request, on: presentation, views, screen: screen.state) {
    case .nothing(let reason): return TapWidget.Reply(outcome: "nothing happens: \(reason)")
    case .open(nil):
      _ = try open(record.app, context)
      return TapWidget.Reply(outcome: "\(record.app) opens")
    case .open(let url?):
      let event = OpenFromWidget(
        url: url, widgetKind: record.attributesType, family: .systemMedium, configuration: [:])
      try open(record.app, event, context)
      return TapWidget.Reply(outcome: "\(record.app) opens with \(url)")
    case .perform(let intent, let values, let performer):
      let place = Placement(
        id: 0, bundle: bundle, kind: record.attributesType, family: .systemMedium, location: .lockScreen)
      return try await perform(
        PerformIntent(intent: intent, values: values, placement: nil), placement: place, by: performer,
        context: context)
    }
  }

  /// An extension that never ran may show the activity.
  private func learnActivities() async {
    _ = await gallery.learn(configuration.extensions.map { $0.address(on: configuration.device.name) })
  }

  // MARK: Views

  /// Launches an extension, and asks it for the views of an activity.
  func archive(_ request: ArchiveActivity, by bundle: String) async -> Result<ActivityViews, BusError> {
    let address = Address.widgetExtension(configuration.device.name, bundle)
    do throws(BusError) {
      return .success(
        try await withLaunched(address, because: "live activity") { () async throws(BusError) in
          try await bus.request(
            request, to: address, within: configuration.settings.timelineDeadline, whenUnreachable: .wait)
        })
    } catch {
      return .failure(error)
    }
  }

  /// The Live Activities as a screen of the device shows them, the most relevant first. Source: Human Interface
  /// Guidelines, *Live Activities*: all on the Lock Screen; in the Dynamic Island the active ones, one compact or two
  /// minimal.
  func shownActivities(at location: WidgetLocationName, isLocked: Bool) -> [ShowScreen.LiveActivity]? {
    let all = activities.shown
    guard !all.isEmpty else { return nil }
    let island = configuration.device.screen.hasDynamicIsland && !isLocked && location != .lockScreen
    let active = all.filter { $0.activity.phase != .ended }
    let inIsland = island ? active.prefix(2).map(\.activity.number) : []
    return all.map { shown in
      var shown = shown
      if location == .lockScreen || isLocked {
        shown.place = .lockScreen
      } else if inIsland.contains(shown.activity.number) {
        shown.place = inIsland.count == 1 ? .compact : .minimal
      }
      return shown
    }
  }

  /// The app that a push started an activity of is launched, and receives the token of the activity. Source: *Starting
  /// and updating Live Activities with ActivityKit push notifications*. One that the user force-quit is not (ours).
  func launchForToken(_ address: Address, _ app: String) async {
    guard !core.state.launching.isQuit(address) else { return }
    let limit = Duration.seconds(30)
    do throws(BusError) {
      try await withLaunched(address, because: "live activity") { () async throws(BusError) in
        await activities.awaitTokens(ofApp: app, within: limit)
      }
    } catch {
      // It cannot be launched, which `widgetlab ps` shows.
    }
  }
}

extension ClusterConfiguration {
  /// Source: the availability of `pushToStartTokenUpdates`, iOS 17.2.
  var hasActivityStartTokens: Bool { device.majorVersion >= 18 || device.version.hasPrefix("17.") && minorVersion >= 2 }

  private var minorVersion: Int { device.version.split(separator: ".").dropFirst().first.flatMap { Int($0) } ?? 0 }
}

extension ActivityLimits {
  init(_ settings: ClusterConfiguration.Settings) {
    self.init(
      atATime: settings.activityLimit,
      priority10PerHour: settings.developerMode ? .greatestFiniteMagnitude : Double(settings.activityPushBudget),
      tokensNeedConsent: settings.activityTokenNeedsConsent)
  }
}

extension WidgetEnvironment {
  /// The environment of the Lock Screen presentation of a Live Activity.
  init(ofActivityOn device: ClusterConfiguration.Device) {
    self.init(
      family: .systemMedium, width: device.screen.activityWidth, height: DeviceModel.activityHeight,
      contentMargins: Insets(0), displayScale: device.screen.scale)
  }
}

extension ActivityService.Stored {
  /// Live Activities with the settings of `widgetlab.yaml`.
  ///
  /// - Throws: errors of the database.
  init(
    _ configuration: ClusterConfiguration, apps: [InstalledApp], transactions: DeviceTransactions
  ) throws {
    try self.init(
      transactions, apps: apps, limits: ActivityLimits(configuration.settings),
      hasStartTokens: configuration.hasActivityStartTokens)
  }
}
