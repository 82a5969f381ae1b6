// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import Foundation
import MessageBus
import Messages

// Pushes: messages of the push server and of the authors' processes.

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
      core.state.pushWidgets, reloads: timelines.pushReports, activities: core.state.activityTokens,
      isOnline: conditions.network.path != .off)
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
