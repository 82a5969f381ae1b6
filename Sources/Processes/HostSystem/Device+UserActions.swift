// SPDX-License-Identifier: Apache-2.0

import Cluster
import Device
import DeviceRules
import MessageBus
import Messages
import Timekeeping

// User actions on the device.

extension Device {
  nonisolated func listenToUser() {
    onRequest(OpenApp.self) { device, request, from in
      try device.open(request.bundle, from.context)
      return Done()
    }
    onRequest(ForceQuitApp.self) { device, request, _ in
      try await device.forceQuit(request)
      return Done()
    }
    onRequest(UpdateApp.self) { device, request, _ in
      try await device.update(request.bundle)
      return Done()
    }
    onRequest(SetClock.self) { device, request, _ in
      try await device.conditions.change(request.change)
      return device.conditions.clockState
    }
    onRequest(SetNetwork.self) { device, request, _ in
      try device.conditions.set(request.state)
      return request.state
    }
    onRequest(ChangeSetting.self) { device, request, _ in try device.change(request.change) }
    onRequest(SetPower.self) { device, request, _ in try device.conditions.set(request) }
    onRequest(ListSessions.self) { device, request, _ in
      try device.transfers.list(request, clock: device.conditions.clockState)
    }
    onRequest(MoveDevice.self) { device, _, from in
      try device.timelines.moved(device.wantingLocation, from.context)
    }
  }

  /// Brings an app to the foreground.
  ///
  /// - Returns: its address.
  @discardableResult
  func open(_ bundle: String, _ context: MessageContext) throws -> Address {
    let app = try apps.address(of: bundle)
    try gallery.open(bundle, context)
    apps.open(app)
    return app
  }

  /// Replaces an app and its extensions, which may have other widgets afterwards.
  private func update(_ bundle: String) async throws {
    try await apps.update(bundle)
    let extensions = configuration.extensions(ofApp: bundle).map { $0.address(on: configuration.device.name) }
    gallery.outdate(extensions)
    try timelines.forgetKinds(of: extensions)
  }

  /// Terminates the app and cancels its transfers; only the user can relaunch it. Its extensions continue (ours).
  private func forceQuit(_ request: ForceQuitApp) async throws {
    let app = try apps.address(of: request.bundle)
    apps.forceQuit(app)
    try launcher.quit(app)
    try await transfers.forceQuit(app)
  }
}
