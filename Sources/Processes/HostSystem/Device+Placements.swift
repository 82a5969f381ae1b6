// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import MessageBus
import Messages

// Passes placements and the screen to Timelines, and reads its content.

extension Device {
  /// Resumes after a host restart: the host may have exited after a placement, or its removal, and before its timeline.
  func passOnPlacements() throws {
    try timelines.setAll(gallery.stateMachine.state.placements)
    try resumeActivities()
    sendVisiblePlacements()
  }

  /// A widget was placed, or configured.
  func passOn(_ placement: Placement, _ context: MessageContext, isEdited: Bool = false) throws {
    if isEdited {
      try timelines.edited(placement, context)
    } else {
      try timelines.placed(placement, context)
      sendVisiblePlacements()
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
  func sendVisiblePlacements() {
    let device = configuration.device.name
    let activities = gallery.state.activities.map { (Address.app(device, $0.key), $0.value) }
    timelines.appsAreAtWork(Dictionary(activities) { first, _ in first })
    timelines.luminance(isReduced: gallery.state.isLuminanceReduced)
    let seen = gallery.state.seen
    let gallery = gallery.stateMachine
    let placements = gallery.state.placements.filter { $0.location == seen && gallery.isOnTop($0.id) }
    timelines.seen(Set(placements.map(\.id)), isStandBy: seen == .standBy)
  }

  /// Passes on the extensions whose timelines cannot be stored now, and why.
  func sendWithheld() {
    let rules = configuration.extensions.compactMap { product in
      gallery.state.withholding(isProtected: product.dataProtection.isOfUnlockedDevice)
        .map { (product.address(on: configuration.device.name), $0) }
    }
    timelines.withheld(Dictionary(rules) { first, _ in first })
  }

  /// Something changed for which the system reloads all widgets.
  func sendSystemChanged(_ setting: String) { core.handle(.timelines(.systemChanged(setting, .none))) }
}
