// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import MessageBus
import Messages

// Timelines: messages from the bus.

extension Device {
  nonisolated func listenForTimelines() {
    onEvent(ReloadTimelines.self) { try $0.timelines.reload($1, $2) }
    onRequest(TakeSnapshot.self) { device, request, _ in
      if request.bundle == nil { try device.gallery.stateMachine.requireOneBundle(of: request.widgetKind) }
      return try await device.timelines.snapshot(request)
    }
    onRequest(ArchiveWidget.self) { device, request, _ in
      try await device.archive(request)
    }
    onRequest(ListBudget.self) { device, request, _ in try device.timelines.list(request) }
  }

  /// The views of a widget that is not placed. Its extension is launched for them.
  private func archive(_ request: ArchiveWidget) async throws(BusError) -> ArchiveWidget.Reply {
    if request.bundle == nil { try gallery.stateMachine.requireOneBundle(of: request.widgetKind) }
    let (machine, location) = try gallery.stateMachine.showing(
      request.widgetKind, of: request.bundle, request.family, in: request.renderingMode)
    let conditions = conditions
    let name = configuration.device.name
    @Sendable func placed(_ placement: Placement) -> Placement {
      Placement(
        id: placement.id, bundle: placement.bundle, kind: placement.kind, family: request.family, location: location)
    }
    @Sendable func settings(_ placement: Placement) -> DeviceSettings {
      var values: [SettingName: String] = [:]
      values[.textSize] = request.textSize?.rawValue
      values[.locale] = request.locale
      return conditions.settings(of: .widgetExtension(name, placement.bundle)).applying(values)
    }
    let found = try await timelines.entries(
      of: request.widgetKind, from: request.bundle, request.family, request.entries == .snapshot ? .snapshot : .timeline
    ) { machine.environment(of: placed($0), settings($0)) }
    let own = settings(found.placement)
    let entries = found.entries.prefix(request.entries == .all ? found.entries.count : 1)
      .map { machine.entry($0, of: placed(found.placement), locale: own.locale) }
    let shown = Set(entries.flatMap { [$0.light.view, $0.dark?.view].compactMap(\.self).flatMap(\.imageDigests) })
    return ArchiveWidget.Reply(
      entries: entries, settings: own, tint: machine.device.tint(at: location),
      images: found.images.filter { shown.contains($0.key) })
  }
}
