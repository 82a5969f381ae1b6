// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import Foundation
import MessageBus
import Messages

// Pushes: messages of the push server and of the authors' processes, and routing of the service's requests.

extension Device {
  nonisolated func listenForPushes() {
    onEvent(DeliverPush.self) { device, event, _ in
      // The conditions decide. The push server acts on their report, which may be ahead of `setOnline`.
      guard device.conditions.network.path != .off else { throw BusError(.offline, "the device has no network") }
      try await device.pushes.received(event.notification)
    }
    onEvent(TokenReplaced.self) { device, event, _ in try device.pushes.replaced(event) }
    onRequest(AskPushInfo.self) { device, _, from in device.pushes.info(from) }
    onRequest(RegisterForPushes.self) { try await $0.pushes.register($1, $2) }
  }

  /// Resumes after a host restart.
  func beginPushes() {
    pushes.begin(
      pushWidgets, reloads: timelines.pushReports, activities: activityTokens,
      isOnline: conditions.network.path != .off)
  }

  /// Passes on that declarations or placements have changed.
  func updatePushWidgets() { pushes.setWidgets(pushWidgets) }

  /// The push handlers, and the placed widgets and controls that take pushes, of each extension.
  private var pushWidgets: [String: PushWidgets] {
    let stateMachine = gallery.stateMachine
    let known = stateMachine.state
    let reloadsAll = configuration.settings.pushReloadsAllWidgets
    return known.declarations.reduce(into: [:]) { widgets, declared in
      let bundle = declared.key
      let (ofWidgets, ofControls) = (declared.value.filter { !$0.isControl }, declared.value.filter(\.isControl))
      let placed = known.placements.filter { $0.bundle == bundle }.map(stateMachine.withIntent)
      let (placedWidgets, placedControls) = (
        placed.filter { $0.family != .control }, placed.filter { $0.family == .control }
      )
      let taking = ofWidgets.taking(among: placedWidgets)
      widgets[bundle] = PushWidgets(
        handlers: ofWidgets.pushHandlers, placements: taking,
        others: reloadsAll ? placedWidgets.filter { !taking.contains($0) } : [],
        controlHandlers: ofControls.pushHandlers, controls: ofControls.taking(among: placedControls))
    }
  }
}

extension [WidgetDeclaration] {
  /// The types of `pushHandler(_:)`, without duplicates.
  fileprivate var pushHandlers: [String] { Set(compactMap(\.pushHandler)).sorted() }

  /// The placements whose declaration has a push handler.
  fileprivate func taking(among placements: [Placement]) -> [Placement] {
    let kinds = Set(filter { $0.pushHandler != nil }.map(\.kind))
    return placements.filter { kinds.contains($0.kind) }
  }
}

extension ClusterConfiguration {
  /// The properties of the products that concern pushes.
  var pushProducts: [PushProduct] {
    products.map { product in
      let app = apps.first { app in extensions(ofApp: app.bundle).contains(product) }
      return PushProduct(
        address: product.address(on: device.name), app: app?.bundle ?? product.bundle,
        environment: product.pushEnvironment)
    }
  }

  /// Source: the availability of `WidgetPushHandler`.
  var hasWidgetPushes: Bool { device.majorVersion >= 26 }
}
