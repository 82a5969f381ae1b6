// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Gallery
import MessageBus
import Messages
import Timelines

// Passes placements and the screen to Timelines, and reads its content.

extension Device {
  /// Resumes after a host restart: the host may have exited after a placement, or its removal, and before its timeline.
  func passOnPlacements() async throws {
    try await timelines.setAll(gallery.stateMachine.state.placements)
    try await resumeActivities()
    await sendVisiblePlacements()
  }

  /// A widget was placed, or configured.
  func passOn(_ placement: Placement, _ context: MessageContext, isEdited: Bool = false) async throws {
    if isEdited {
      try await timelines.edited(placement, context)
    } else {
      try await timelines.placed(placement, context)
      await sendVisiblePlacements()
    }
  }

  /// The content of a placement.
  nonisolated func shown(_ placement: Placement) async throws -> ShownWidget {
    let failure = await timelines.lastFailure(placement.id)
    let shown = try await timelines.shown(placement.id)
    guard let shown else { return ShownWidget(note: failure) }
    let placeholder = try await timelines.placeholder(placement.id)
    return ShownWidget(
      light: shown.entry.view, dark: shown.entry.darkView, hidden: shown.entry.privateForm,
      invalidated: shown.entry.invalidatedForm, date: shown.entry.date, isPlaceholder: shown.isPlaceholder,
      placeholder: placeholder?.view, darkPlaceholder: placeholder?.darkView, note: failure,
      touched: await intents.touchedControl(of: placement.id))
  }

  /// Passes on which widgets are visible, and which apps have an activity.
  func sendVisiblePlacements() async {
    let device = configuration.device.name
    let activities = await gallery.state.activities.map { (Address.app(device, $0.key), $0.value) }
    await timelines.appsAreAtWork(Dictionary(activities) { first, _ in first })
    await timelines.luminance(isReduced: gallery.state.isLuminanceReduced)
    let seen = await gallery.state.seen
    let gallery = gallery.stateMachine
    let placements = gallery.state.placements.filter { $0.location == seen && gallery.isOnTop($0.id) }
    await timelines.seen(Set(placements.map(\.id)), isStandBy: seen == .standBy)
  }

  /// Passes on the extensions whose timelines cannot be stored now, and why.
  func sendWithheld() async {
    var sent: DeviceScreen
    repeat {
      sent = await gallery.state
      let rules = configuration.extensions.compactMap { product in
        sent.withholding(isProtected: product.dataProtection.isOfUnlockedDevice)
          .map { (product.address(on: configuration.device.name), $0) }
      }
      await timelines.withheld(Dictionary(rules) { first, _ in first })
      // The screen may have changed in the meantime: its last state counts.
    } while await gallery.state != sent
  }

  /// Something changed for which the system reloads all widgets.
  ///
  /// - Returns: whether the reloads are recorded.
  @discardableResult
  func sendSystemChanged(_ setting: String) async -> Bool {
    do {
      try await timelines.systemChanged(setting)
      return true
    } catch {
      // The service has already reported that it is broken.
      return false
    }
  }
}
