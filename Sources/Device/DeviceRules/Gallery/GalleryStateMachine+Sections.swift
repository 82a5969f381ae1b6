// SPDX-License-Identifier: Apache-2.0

import Archive
package import Messages

extension GalleryStateMachine {
  typealias Section = ListGallery.Item.Section

  /// Lists the gallery by location: the main section, *Other*, and what is left out, with the reason.
  package func list(_ request: ListGallery) -> ListGallery.Reply {
    let locations = request.location.map { [$0] } ?? device.locations
    var items: [ListGallery.Item] = []
    for location in locations {
      for (bundle, widgets) in state.declarations.sorted(by: { $0.key < $1.key }) {
        // Every place lists the widgets, and only Control Center the controls that it offers.
        for widget in widgets where widget.isControl || location != .controlCenter {
          items += self.items(bundle, widget, location)
        }
      }
    }
    return ListGallery.Reply(items: items)
  }

  /// A widget's families in one location's gallery: one item per section, and one per reason for families left out.
  private func items(
    _ bundle: String, _ widget: WidgetDeclaration, _ location: WidgetLocationName
  ) -> [ListGallery.Item] {
    var groups: [(section: Section, reason: String?, families: [WidgetFamilyName])] = []
    let families = device.families(of: widget)
    for family in families {
      let (section, reason) = inGallery(bundle, widget, family, location)
      if let index = groups.firstIndex(where: { $0.section == section && $0.reason == reason }) {
        groups[index].families.append(family)
      } else {
        groups.append((section, reason, [family]))
      }
    }
    if families.isEmpty { groups = [(.leftOut, "it supports no family", [])] }
    return groups.map { group in
      ListGallery.Item(
        bundle: bundle, widgetKind: widget.kind, displayName: widget.displayName ?? widget.kind,
        description: widget.description ?? "", location: location, families: group.families, section: group.section,
        reason: group.reason)
    }
  }

  private func inGallery(
    _ bundle: String, _ widget: WidgetDeclaration, _ family: WidgetFamilyName, _ location: WidgetLocationName
  ) -> (section: Section, reason: String?) {
    let (section, reason) = section(of: widget, family, location)
    if section != .leftOut, let never = neverLaunched(bundle) { return (.leftOut, never) }
    return (section, reason)
  }

  /// Source: "Creating a widget extension": the containing app must have been launched once.
  func neverLaunched(_ bundle: String) -> String? {
    guard let app = app(of: bundle), !state.launchedApps.contains(app) else { return nil }
    return "its app \(app) was never launched"
  }

  /// The gallery section of a widget's family at a location, whether or not its app was ever launched.
  func section(
    of widget: WidgetDeclaration, _ family: WidgetFamilyName, _ location: WidgetLocationName
  ) -> (section: Section, reason: String?) {
    if widget.isControl, location != .controlCenter {
      return (.leftOut, "a control is not a widget: it is placed with `--location controlCenter`")
    }
    if !widget.isControl, location == .controlCenter { return (.leftOut, "Control Center has controls only") }
    if let refusal = device.refusal(of: family, at: location) { return (.leftOut, refusal) }
    if !widget.isBackgroundRemovable, device.requiresRemoval(at: location, family) {
      return (.leftOut, "its background is not removable, and \(location.rawValue) shows widgets without it")
    }
    let isDisfavored = widget.disfavored.contains { $0.locations.contains(location) && $0.families.contains(family) }
    // `disfavoredLocations(_:for:)` is available from iOS 17 on.
    return (isDisfavored && device.version >= 17 ? .other : .main, nil)
  }
}
