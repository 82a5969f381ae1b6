// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Foundation
import MessageBus
import Messages

/// What `widgetlab run` does when the cluster is ready: it opens the app, places all widgets and shows the screens.
enum ProjectScreen {
  private static let patience = Duration.seconds(60)

  /// Prints errors, and leaves the cluster running.
  static func show(_ cluster: ClusterFacts) async {
    do {
      let began = ContinuousClock.now
      try await OperatorSession.with(cluster) { session in
        for app in cluster.configuration.apps {
          try await session.openApp(app.bundle)
          _ = try await session.ask(ChangeScreen(.background(app: app.bundle)))
        }
        let places = try await place(session)
        try await awaitEntries(on: places, session)
        for place in places { try await printScreen(place, session) }
      }
      Output.print(
        "shown after \((ContinuousClock.now - began).formatted(.units(allowed: [.seconds], width: .narrow, fractionalPart: .show(length: 1))))"
      )
    } catch is CancellationError {
      return
    } catch {
      Output.printText("\(error)", isError: true)
    }
    for line in next(cluster) { Output.print(line) }
  }

  /// Replaces the app and its extensions of a running cluster by what was built, and reloads the widgets.
  static func update(_ cluster: ClusterFacts) async throws {
    try await OperatorSession.with(cluster) { session in
      for app in cluster.configuration.apps {
        _ = try await session.ask(UpdateApp(bundle: app.bundle), within: .seconds(60))
      }
      try await session.reload(nil, within: patience)
    }
    Output.print("updated the apps of \(cluster.folder), which is running, and reloaded their widgets")
  }

  // MARK: Placing

  /// Places each widget of the gallery that is on no screen, once for each location in which it can be placed.
  ///
  /// - Returns: the locations that have widgets.
  private static func place(_ session: OperatorSession) async throws -> [WidgetLocationName] {
    let gallery = try await session.ask(ListGallery(location: nil), within: patience)
    if let failures = gallery.failures { throw CommandError(notLaunched: failures.map(\.error), in: session.folder) }
    var used: [WidgetLocationName] = []
    for location in WidgetLocationName.allCases {
      let offered = gallery.items.filter { $0.location == location && $0.section != .leftOut }
      guard !offered.isEmpty, [.homeScreen, .lockScreen, .controlCenter].contains(location) else { continue }
      let tiles = try await session.ask(ShowScreen(location: location)).tiles
      for item in offered
      where !tiles.contains(where: { $0.placement.kind == item.widgetKind && $0.placement.bundle == item.bundle }) {
        do {
          let request = AddPlacement(bundle: item.bundle, widgetKind: item.widgetKind, family: nil, location: location)
          _ = try await session.ask(request, within: patience)
        } catch let error as BusError where error.isDefinite {
          Output.printError("\(item.widgetKind) is not placed on \(location.rawValue): \(error)")
        }
      }
      used.append(location)
    }
    return used
  }

  /// Returns when each widget shows an entry or a problem, or at the limit.
  private static func awaitEntries(on places: [WidgetLocationName], _ session: OperatorSession) async throws {
    let deadline = ContinuousClock.now + patience
    while ContinuousClock.now < deadline {
      var waitingCount = 0
      for place in places {
        let tiles = try await session.ask(ShowScreen(location: place)).tiles
        waitingCount += tiles.count { $0.content != .entry && $0.note == nil }
      }
      if waitingCount == 0 { return }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  private static func printScreen(_ place: WidgetLocationName, _ session: OperatorSession) async throws {
    let reply = try await session.ask(ShowScreen(location: place))
    guard !reply.tiles.isEmpty else { return }
    let clock = try await session.ask(SetClock(change: .ask))
    for line in ScreenPrint(reply: reply, now: clock.now).lines { Output.print(line) }
    Output.print("")
  }

  private static func next(_ cluster: ClusterFacts) -> [String] {
    let folder = URL(fileURLWithPath: cluster.configurationPath).deletingLastPathComponent().path
    return [
      "next, in a second terminal:", "  cd \(folder)", "  widgetlab screen --picture home.png   the widgets as pixels",
      "  widgetlab reload --all                new timelines",
      "  widgetlab diagnose                    mistakes, and what to do",
      "  widgetlab tail                        every message", "Ctrl-C stops everything",
    ]
  }
}
