import Archive
package import Conversations

extension GalleryDecision {
  typealias Shelf = ListGallery.Item.Shelf

  /// What the gallery shows, by place: what is on the main shelf, what under *Other*, and what it leaves out and why.
  package func list(_ request: ListGallery) -> ListGallery.Reply {
    let locations = request.location.map { [$0] } ?? device.locations
    var items: [ListGallery.Item] = []
    for location in locations {
      for (bundle, widgets) in state.declarations.sorted(by: { $0.key < $1.key }) {
        for widget in widgets { items += self.items(bundle, widget, location) }
      }
    }
    return ListGallery.Reply(items: items)
  }

  /// A widget's families in one place's gallery: an item for each shelf, and of those left out one for each reason.
  private func items(
    _ bundle: String, _ widget: WidgetDeclaration, _ location: WidgetLocationName
  ) -> [ListGallery.Item] {
    var groups: [(shelf: Shelf, reason: String?, families: [WidgetFamilyName])] = []
    let families = device.families(of: widget)
    for family in families {
      let (shelf, reason) = inGallery(bundle, widget, family, location)
      if let index = groups.firstIndex(where: { $0.shelf == shelf && $0.reason == reason }) {
        groups[index].families.append(family)
      } else {
        groups.append((shelf, reason, [family]))
      }
    }
    if families.isEmpty { groups = [(.leftOut, "it supports no family", [])] }
    return groups.map { group in
      ListGallery.Item(
        bundle: bundle, widgetKind: widget.kind, displayName: widget.displayName ?? widget.kind,
        description: widget.description ?? "", location: location, families: group.families, shelf: group.shelf,
        reason: group.reason)
    }
  }

  private func inGallery(
    _ bundle: String, _ widget: WidgetDeclaration, _ family: WidgetFamilyName, _ location: WidgetLocationName
  ) -> (shelf: Shelf, reason: String?) {
    let (shelf, reason) = shelf(of: widget, family, location)
    if shelf != .leftOut, let never = neverLaunched(bundle) { return (.leftOut, never) }
    return (shelf, reason)
  }

  /// Source: "Creating a widget extension": the containing app must have been launched once.
  func neverLaunched(_ bundle: String) -> String? {
    guard let app = app(of: bundle), !state.launchedApps.contains(app) else { return nil }
    return "its app \(app) was never launched"
  }

  /// Where a family of a widget stands in a place's gallery, but for whether its app was ever launched.
  func shelf(
    of widget: WidgetDeclaration, _ family: WidgetFamilyName, _ location: WidgetLocationName
  ) -> (shelf: Shelf, reason: String?) {
    if widget.isControl { return (.leftOut, "a control is no widget") }
    if let refusal = device.refusal(of: family, at: location) { return (.leftOut, refusal) }
    if !widget.isBackgroundRemovable, device.requiresRemoval(at: location, family) {
      return (.leftOut, "its background is not removable, and \(location.rawValue) has widgets without one")
    }
    let isDisfavored = widget.disfavored.contains { $0.locations.contains(location) && $0.families.contains(family) }
    // `disfavoredLocations(_:for:)` is there from iOS 17 on.
    return (isDisfavored && device.version >= 17 ? .other : .main, nil)
  }
}
