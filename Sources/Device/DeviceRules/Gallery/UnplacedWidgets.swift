// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Messages

extension GalleryStateMachine {
  /// A device that shows a widget in a rendering mode, and the location at which it does. Source: `WidgetDevice`; ours:
  /// which location is chosen.
  ///
  /// - Parameter mode: `nil`: `vibrant` for an accessory family, `fullColor` for the others.
  /// - Throws: `unknown-widget-kind` if no extension has the kind, `not-placeable` if no location of the device shows the
  ///   family in the mode; definite.
  package func showing(
    _ kind: String, of bundle: String? = nil, _ family: WidgetFamilyName, in mode: RenderingModeName?
  ) throws(BusError) -> (machine: GalleryStateMachine, location: WidgetLocationName) {
    let having = state.declarations.filter { bundle == nil || $0.key == bundle }
    let widgets = having.values.joined().filter { $0.kind == kind }
    guard !widgets.isEmpty else {
      throw BusError(.unknownWidgetKind, "no extension has a widget of the kind \(kind)", isDefinite: true)
    }
    guard widgets.contains(where: { device.families(of: $0).contains(family) }) else {
      throw BusError(.notPlaceable, "\(kind) does not support \(family.rawValue)", isDefinite: true)
    }
    let mode = mode ?? (family.isAccessory ? .vibrant : .fullColor)
    var machine = self
    let location: WidgetLocationName
    if family == .control {
      location = .controlCenter
    } else if family.isAccessory {
      location = .lockScreen
    } else if mode == .vibrant {
      location = .standBy
      machine.device.options.standBy = mode
    } else {
      location = .homeScreen
      machine.device.options.homeScreen = mode
    }
    if let refusal = device.refusal(of: family, at: location) {
      throw BusError(.notPlaceable, "\(family.rawValue) is not shown as \(mode.rawValue): \(refusal)", isDefinite: true)
    }
    let own = machine.device.renderingMode(at: location)
    guard own == mode else {
      let place = "\(device.system) shows \(family.rawValue) in \(location.rawValue) as \(own.rawValue)"
      throw BusError(.notPlaceable, "\(place), and not as \(mode.rawValue)", isDefinite: true)
    }
    return (machine, location)
  }

  /// An entry of a widget that is not placed, as an unlocked screen shows it.
  ///
  /// - Parameter locale: of the views.
  package func entry(_ entry: ArchivedEntry, of placement: Placement, locale: String) -> ArchiveWidget.Entry {
    func shown(_ scheme: ColorSchemeName) -> ShowScreen.Tile {
      tile(
        of: placement, ShownWidget(light: entry.view, dark: entry.darkView, date: entry.date, isPlaceholder: false),
        on: DeviceScreen(colorScheme: scheme), isProtected: false, locale: locale, now: entry.date)
    }
    return ArchiveWidget.Entry(light: shown(.light), dark: entry.darkView == nil ? nil : shown(.dark))
  }
}
