// SPDX-License-Identifier: Apache-2.0

import Apps
import Cluster
import Conditions
import Gallery
import Launching
import MessageBus
import Messages
import Timekeeping
import Timelines
import Transfers

// User actions on the device.

extension Device {
  nonisolated func listenToUser() {
    bus.onRequest(OpenApp.self) { [weak self] request, from in
      try await requireDevice(self).open(request.bundle, from.context)
      return Done()
    }
    bus.onRequest(ForceQuitApp.self) { [weak self] request, _ in
      try await requireDevice(self).forceQuit(request)
      return Done()
    }
    bus.onRequest(UpdateApp.self) { [weak self] request, _ in
      try await requireDevice(self).update(request.bundle)
      return Done()
    }
    bus.onRequest(SetClock.self) { [conditions] request, _ in
      try await conditions.change(request.change)
      return conditions.clockState
    }
    bus.onRequest(SetNetwork.self) { [conditions] request, _ in
      try await conditions.set(request.state)
      // Transfers and pushes have the state when the user gets the reply.
      await conditions.outputs.passed()
      return request.state
    }
    bus.onRequest(ChangeSetting.self) { [weak self] request, _ in try await requireDevice(self).change(request.change) }
    bus.onRequest(SetPower.self) { [conditions] request, _ in try await conditions.set(request) }
    bus.onRequest(ListSessions.self) { [transfers, conditions] request, _ in
      try await transfers.list(request, clock: conditions.clockState)
    }
    bus.onRequest(MoveDevice.self) { [timelines, wantingLocation] _, from in
      try await timelines.moved(wantingLocation, from.context)
    }
  }

  /// Brings an app to the foreground.
  ///
  /// - Returns: its address.
  @discardableResult
  func open(_ bundle: String, _ context: MessageContext) async throws -> Address {
    let app = try await apps.address(of: bundle)
    try await gallery.open(bundle, context)
    await apps.open(app)
    // The app is wanted when this returns, so that its launch can be awaited.
    await apps.processActions.passed()
    return app
  }

  /// Replaces an app and its extensions, which may have other widgets afterwards.
  private func update(_ bundle: String) async throws {
    try await apps.update(bundle)
    let extensions = configuration.extensions(ofApp: bundle).map { $0.address(on: configuration.device.name) }
    await gallery.outdate(extensions)
    try await timelines.forgetKinds(of: extensions)
  }

  /// Terminates the app and cancels its transfers; only the user can relaunch it. Its extensions continue (ours).
  private func forceQuit(_ request: ForceQuitApp) async throws {
    let app = try await apps.address(of: request.bundle)
    await apps.forceQuit(app)
    try await launcher.quit(app)
    try await transfers.forceQuit(app)
  }
}
