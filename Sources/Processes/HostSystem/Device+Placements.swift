// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import MessageBus
import Messages

// What is shown of a placement.

extension Device {
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
}
