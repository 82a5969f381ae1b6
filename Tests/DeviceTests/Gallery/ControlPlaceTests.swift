// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Messages
import Testing

@testable import Device
@testable import DeviceRules

/// Where controls are placed, and what a tap on one does.
@Suite struct `Controls of the gallery` {
  private let control = GallerySamples.widget("Lamp", families: nil) { $0.isControl = true }

  @Test(.rule("CONTROL-01")) func `a control is listed and placed in Control Center only, and a widget elsewhere`()
    throws
  {
    var gallery = GallerySamples.gallery([GallerySamples.widget(), control], places: true)
    #expect(gallery.state.placements.map(\.kind) == ["Weather"], "no control is placed automatically")
    #expect(gallery.list(ListGallery(location: .controlCenter)).items.map(\.widgetKind) == ["Lamp"])
    #expect(gallery.list(ListGallery(location: nil)).section(.controlCenter, .control) == .main)
    #expect(gallery.list(ListGallery(location: .homeScreen)).reason(.homeScreen, .control)?.contains("control") == true)
    let lamp = try gallery.add(AddPlacement(widgetKind: "Lamp", family: nil, location: .controlCenter)).placement
    #expect(lamp.family == .control && lamp.location == .controlCenter)
    for (kind, location) in [("Lamp", WidgetLocationName.homeScreen), ("Weather", .controlCenter)] {
      #expect(throws: BusError.self) {
        try gallery.add(AddPlacement(widgetKind: kind, family: nil, location: location))
      }
    }
    let environment = gallery.environment(of: lamp)
    #expect(environment.contentMargins == .init(0) && environment.showsBackground)
    #expect(environment.renderingMode == .fullColor)
  }

  @Test(.rule("CONTROL-01"), arguments: [17, 18]) func `Control Center takes controls from iOS 18 on`(version: Int) {
    var gallery = GallerySamples.gallery(GallerySamples.phone(version), [control])
    let request = AddPlacement(widgetKind: "Lamp", family: nil, location: .controlCenter)
    #expect((try? gallery.add(request)) == nil ? version == 17 : version == 18)
    #expect(gallery.device.locations.contains(.controlCenter) == (version == 18))
  }

  @Test(.rule("GALLERY-03")) func `a widget without families does not have that of controls`() {
    #expect(!GallerySamples.phone().families(of: GallerySamples.widget("Weather", families: nil)).contains(.control))
  }

  private func touch(_ intent: ArchivedArguments, isLocked: Bool, isDisabled: Bool = false) throws -> Touch {
    let gallery = GallerySamples.gallery([control])
    let placement = Placement(
      id: 1, bundle: GallerySamples.bundle, kind: "Lamp", family: .control, location: .controlCenter)
    let view = ViewArchive(
      .control(.toggle), [.intent: .record(intent.merging([.type: "SetLamp"]))],
      modifiers: isDisabled ? [.init(.silent(.disabled), [.disabled: true])] : [])
    return try gallery.touch(TapWidget(placement: 1), on: placement, view, isLocked: isLocked)
  }

  private func isNothing(_ touch: Touch) -> Bool { if case .nothing = touch { true } else { false } }

  @Test(.rule("CONTROL-03", "CONTROL-05", "CONTROL-08"))
  func `a tap on a control performs its intent, on a locked device only if nothing must be unlocked`() throws {
    let performed = Touch.perform(intent: "SetLamp", values: [:], by: .widgetExtension)
    #expect(try touch([:], isLocked: false) == performed)
    #expect(try touch([:], isLocked: true) == performed)
    for intent: ArchivedArguments in [[.needsUnlock: true], [.opensApp: true]] {
      #expect(try isNothing(touch(intent, isLocked: true)))
      #expect(try !isNothing(touch(intent, isLocked: false)))
    }
    #expect(try isNothing(touch([:], isLocked: false, isDisabled: true)))
  }
}
