// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

@Suite struct `Widgets that are not placed` {
  private func gallery(version: Int = 18, families: [WidgetFamilyName]? = nil) -> GalleryStateMachine {
    var widget = WidgetDeclaration(kind: "Coffee")
    widget.families = families
    var gallery = GalleryStateMachine(device: GallerySamples.phone(version))
    _ = gallery.learned("com.example.Coffee", [widget])
    return gallery
  }

  private func placement(_ family: WidgetFamilyName, at location: WidgetLocationName) -> Placement {
    Placement(id: 0, bundle: "com.example.Coffee", kind: "Coffee", family: family, location: location)
  }

  @Test(
    .rule("PICTURE-60"),
    arguments: [
      (
        WidgetFamilyName.systemSmall, RenderingModeName?.none, WidgetLocationName.homeScreen,
        RenderingModeName.fullColor
      ),
      (.systemMedium, .accented, .homeScreen, .accented), (.systemSmall, .vibrant, .standBy, .vibrant),
      (.accessoryCircular, nil, .lockScreen, .vibrant), (.accessoryInline, .vibrant, .lockScreen, .vibrant),
    ])
  func `a widget is shown where the device has its mode`(
    family: WidgetFamilyName, mode: RenderingModeName?, location: WidgetLocationName, expected: RenderingModeName
  ) throws {
    let found = try gallery().showing("Coffee", family, in: mode)
    #expect(found.location == location)
    let environment = found.machine.environment(of: placement(family, at: location))
    #expect(environment.renderingMode == expected)
    #expect(environment.showsBackground == (expected == .fullColor))
  }

  @Test(.rule("PICTURE-60"))
  func `a family or a mode that the device does not show is refused with the reason`() {
    func reason(
      _ family: WidgetFamilyName, _ mode: RenderingModeName?, version: Int = 18, families: [WidgetFamilyName]? = nil
    ) -> String {
      let error = #expect(throws: BusError.self) {
        try gallery(version: version, families: families).showing("Coffee", family, in: mode)
      }
      #expect(error?.code == .notPlaceable)
      return error?.message ?? ""
    }
    #expect(reason(.systemMedium, .vibrant).contains("standBy excludes systemMedium"))
    #expect(reason(.accessoryCircular, .fullColor).contains("as vibrant, and not as fullColor"))
    #expect(reason(.systemSmall, .accented, version: 17).contains("as fullColor, and not as accented"))
    #expect(reason(.systemSmall, nil, families: [.systemLarge]) == "Coffee does not support systemSmall")
    let error = #expect(throws: BusError.self) { try gallery().showing("Tea", .systemSmall, in: nil) }
    #expect(error?.code == .unknownWidgetKind)
  }

  @Test(.rule("PICTURE-61")) func `an entry has its view in both schemes, with its date and the size of the family`() {
    let date = Date(timeIntervalSince1970: 100)
    func backed(_ text: String) -> ViewArchive {
      var view = ViewArchive.text(text)
      view.modifiers = [.init(.layout(.containerBackground), [.placement: "widget", .style: "red"])]
      return view
    }
    let place = placement(.systemSmall, at: .homeScreen)
    let entry = ArchivedEntry(date: date, view: backed("light"), darkView: backed("dark"))
    let foundEntry = gallery().entry(entry, of: place, locale: "en_US")
    #expect(foundEntry.light.date == date && foundEntry.light.size != nil && foundEntry.light.content == .entry)
    #expect(foundEntry.light.view.lines == ["light"] && foundEntry.dark?.view.lines == ["dark"])
    #expect(gallery().entry(ArchivedEntry(date: date, view: backed("a")), of: place, locale: "en_US").dark == nil)
    // As on a screen, a view without a background is a sign.
    let bare = gallery().entry(ArchivedEntry(date: date, view: .text("a")), of: place, locale: "en_US")
    #expect(bare.light.note == "its view has no containerBackground(for: .widget)")
  }
}
