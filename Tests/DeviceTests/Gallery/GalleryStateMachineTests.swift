// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

@Suite struct `Widget gallery` {
  @Test(.rule("GALLERY-01"))
  func `the gallery lists a widget with its declared name and description, or with its kind`() {
    let plain = WidgetDeclaration(kind: "Plain")
    let items = GallerySamples.gallery([GallerySamples.widget(), plain]).list(ListGallery(location: .homeScreen)).items
    #expect(items.first { $0.widgetKind == "Weather" }?.displayName == "The Weather")
    #expect(items.first { $0.widgetKind == "Weather" }?.description == "Shows Weather.")
    #expect(items.first { $0.widgetKind == "Plain" }?.displayName == "Plain")
  }

  @Test(.rule("GALLERY-03"))
  func `a setting determines whether a widget without declared families supports accessory families`() {
    let all = GallerySamples.gallery([GallerySamples.widget("All", families: nil)])
    #expect(all.list(ListGallery(location: .lockScreen)).section(.lockScreen, .accessoryInline) == .main)
    #expect(all.list(ListGallery(location: .homeScreen)).section(.homeScreen, .systemLarge) == .main)
    var options = WidgetDevice.Options()
    options.defaultFamiliesIncludeAccessory = false
    let system = GallerySamples.gallery(
      GallerySamples.phone(18, options), [GallerySamples.widget("All", families: nil)])
    #expect(system.list(ListGallery(location: .lockScreen)).section(.lockScreen, .accessoryInline) == nil)
    #expect(system.list(ListGallery(location: .homeScreen)).section(.homeScreen, .systemLarge) == .main)
  }

  @Test(
    .rule("GALLERY-02"),
    arguments: [
      (GallerySamples.phone(16), WidgetFamilyName.accessoryCircular, WidgetLocationName.lockScreen, true),
      (GallerySamples.phone(15), .accessoryCircular, .lockScreen, false),
      (GallerySamples.phone(18), .systemSmall, .lockScreen, false),
      (GallerySamples.pad(17), .systemSmall, .lockScreen, true),
      (GallerySamples.pad(16), .systemSmall, .lockScreen, false),
      (GallerySamples.pad(17), .systemMedium, .lockScreen, false),
      (GallerySamples.phone(17), .systemSmall, .standBy, true),
      (GallerySamples.phone(16), .systemSmall, .standBy, false),
      (GallerySamples.phone(17), .systemMedium, .standBy, false),
      (GallerySamples.pad(18), .systemSmall, .standBy, false),
      (GallerySamples.phone(26), .systemSmall, .carPlay, true),
      (GallerySamples.phone(18), .systemSmall, .carPlay, false),
      (GallerySamples.pad(15), .systemExtraLarge, .homeScreen, true),
      (GallerySamples.pad(14), .systemExtraLarge, .homeScreen, false),
      (GallerySamples.phone(26), .systemExtraLarge, .homeScreen, false),
      (GallerySamples.phone(18), .accessoryCorner, .lockScreen, false),
      (GallerySamples.phone(18), .systemSmall, .watchFace, false),
      (GallerySamples.phone(18), .systemSmall, .smartStack, false),
      (GallerySamples.phone(14), .systemLarge, .todayView, true),
      (GallerySamples.phone(26), .systemExtraLargePortrait, .homeScreen, false),
      (GallerySamples.phone(27), .systemExtraLargePortrait, .homeScreen, true),
    ])
  func `the gallery offers a family only in the places and system versions that support it`(
    device: WidgetDevice, family: WidgetFamilyName, location: WidgetLocationName, isOffered: Bool
  ) {
    let reply = GallerySamples.gallery(device, [GallerySamples.widget("W", families: [family])]).list(
      ListGallery(location: location))
    #expect(reply.section(location, family) == (isOffered ? .main : .leftOut))
    #expect((reply.reason(location, family) == nil) == isOffered)
  }

  @Test(.rule("GALLERY-04"))
  func `all disfavoredLocations calls count, and their pairs are listed under Other from iOS 17 on`() {
    let widget = GallerySamples.widget("W", families: [.systemSmall, .systemMedium]) {
      $0.disfavored = [
        .init(locations: [.homeScreen], families: [.systemSmall]),
        .init(locations: [.standBy], families: [.systemSmall]),
      ]
    }
    let gallery = GallerySamples.gallery([widget]).list(ListGallery(location: nil))
    #expect(gallery.section(.homeScreen, .systemSmall) == .other)
    #expect(gallery.section(.homeScreen, .systemMedium) == .main)
    #expect(gallery.section(.standBy, .systemSmall) == .other)
    #expect(gallery.section(.todayView, .systemSmall) == .main)
    let older = GallerySamples.gallery(GallerySamples.phone(16), [widget]).list(ListGallery(location: .homeScreen))
    #expect(older.section(.homeScreen, .systemSmall) == .main)
  }

  @Test(.rule("GALLERY-05"))
  func `widgets without a removable background are left out of StandBy and of the iPad Lock Screen`() {
    let widget = GallerySamples.widget("W", families: [.systemSmall, .accessoryCircular]) {
      $0.isBackgroundRemovable = false
    }
    let pad = GallerySamples.gallery(GallerySamples.pad(), [widget]).list(ListGallery(location: .lockScreen))
    #expect(pad.section(.lockScreen, .systemSmall) == .leftOut)
    #expect(pad.reason(.lockScreen, .systemSmall)?.contains("not removable") == true)
    #expect(pad.section(.lockScreen, .accessoryCircular) == .main)
    let phone = GallerySamples.gallery([widget]).list(ListGallery(location: nil))
    #expect(phone.section(.standBy, .systemSmall) == .leftOut)
    #expect(phone.section(.homeScreen, .systemSmall) == .main)
  }

  @Test(.rule("GALLERY-08")) func `controls and the widgets of an app that was never launched are left out`() {
    var gallery = GallerySamples.gallery([GallerySamples.widget()], isLaunched: false)
    #expect(gallery.list(ListGallery(location: .homeScreen)).items.first?.section == .leftOut)
    #expect(throws: BusError.self) {
      try gallery.add(AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen))
    }
    gallery.launched(GallerySamples.app)
    #expect(gallery.list(ListGallery(location: .homeScreen)).items.first?.section == .main)
    let control = GallerySamples.gallery([GallerySamples.widget("C") { $0.isControl = true }], places: true)
    #expect(control.list(ListGallery(location: .homeScreen)).items.first?.section == .leftOut)
    #expect(control.state.placements.isEmpty)
  }
}

@Suite struct `Placements` {
  @Test(.rule("GALLERY-10")) func `placements are numbered from 1, and a number is never reused`() throws {
    var gallery = GallerySamples.gallery([GallerySamples.widget()])
    let request = AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen)
    #expect(try gallery.add(request).placement.id == 1)
    #expect(try gallery.add(request).placement.id == 2)
    _ = try gallery.remove(2)
    #expect(try gallery.add(request).placement.id == 3)
    #expect(gallery.state.placements.map(\.id) == [1, 3])
    #expect(throws: BusError.self) { try gallery.remove(2) }
    #expect(gallery.placements(askedBy: GallerySamples.app).count == 2)
    #expect(gallery.placements(askedBy: GallerySamples.bundle).count == 2)
    #expect(gallery.placements(askedBy: "com.example.Other").isEmpty)
  }

  @Test(.rule("GALLERY-09"))
  func `each new kind gets one placement, and a removed placement stays removed`() throws {
    let widgets = [GallerySamples.widget(), GallerySamples.widget("Lock", families: [.accessoryInline])]
    var gallery = GallerySamples.gallery(widgets, isLaunched: false, places: true)
    #expect(gallery.state.placements.map(\.kind) == ["Weather", "Lock"])
    #expect(gallery.state.placements.map(\.location) == [.homeScreen, .lockScreen])
    _ = try gallery.remove(1)
    #expect(gallery.learned(GallerySamples.bundle, [GallerySamples.widget()]).isEmpty)
    #expect(
      gallery.learned(GallerySamples.bundle, [GallerySamples.widget(), GallerySamples.widget("New")]).map(\.kind) == [
        "New"
      ])
    #expect(GallerySamples.gallery([GallerySamples.widget()], places: false).state.placements.isEmpty)
  }

  @Test func `a placement uses the first family that its place offers, and another family is refused`() throws {
    var gallery = GallerySamples.gallery([
      GallerySamples.widget("W", families: [.accessoryInline, .systemMedium, .systemSmall])
    ])
    #expect(
      try gallery.add(AddPlacement(widgetKind: "W", family: nil, location: .homeScreen)).placement.family
        == .systemMedium)
    for (family, location) in [
      (WidgetFamilyName.systemLarge, WidgetLocationName.homeScreen), (.systemSmall, .lockScreen),
      (.accessoryInline, .homeScreen),
    ] {
      #expect(throws: BusError.self) {
        try gallery.add(AddPlacement(widgetKind: "W", family: family, location: location))
      }
    }
    #expect(throws: BusError.self) {
      try gallery.add(AddPlacement(widgetKind: "None", family: nil, location: .homeScreen))
    }
  }

  @Test func `a placement of a kind that two extensions declare requires a bundle identifier`() throws {
    var gallery = GallerySamples.gallery([GallerySamples.widget()])
    _ = gallery.learned("com.example.App.Second", [GallerySamples.widget()])
    #expect(throws: BusError.self) {
      try gallery.add(AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen))
    }
    let report = try gallery.add(
      AddPlacement(bundle: "com.example.App.Second", widgetKind: "Weather", family: nil, location: .homeScreen))
    #expect(report.placement.bundle == "com.example.App.Second")
  }

  @Test(
    .rule("GALLERY-15"),
    arguments: [
      ("city", "Paris", ArchivedValue.string("paris")), ("city", "london", "london"), ("days", "5", 5),
      ("hourly", "yes", true), ("hourly", "off", false), ("page", "https://a.b", "https://a.b"), ("share", "0.5", 0.5),
      ("note", "a=b", "a=b"), ("from", "1970-01-01T00:00:10Z", .date(Date(timeIntervalSince1970: 10))),
    ])
  func `a configuration value is parsed by the type of its parameter`(name: String, text: String, value: ArchivedValue)
    throws
  {
    let widget = GallerySamples.widget { $0.configuration = GallerySamples.city }
    #expect(try widget.configured(with: [name: .string(text)]) == [name: value])
  }

  @Test(
    .rule("GALLERY-15"),
    arguments: [
      ("city", "Rome"), ("days", "2.5"), ("hourly", "maybe"), ("page", "no url"), ("share", "nan"), ("from", "today"),
      ("town", "Paris"),
    ])
  func `a configuration value that does not fit its parameter is refused`(name: String, text: String) {
    let widget = GallerySamples.widget { $0.configuration = GallerySamples.city }
    #expect(throws: BusError.self) { try widget.configured(with: [name: .string(text)]) }
    #expect(throws: BusError.self) { try GallerySamples.widget().configured(with: [name: .string(text)]) }
  }

  @Test(.rule("GALLERY-15"))
  func `an edit keeps the parameters it does not name, and an empty value restores the default`() throws {
    var gallery = GallerySamples.gallery([GallerySamples.widget { $0.configuration = GallerySamples.city }])
    _ = try gallery.add(
      AddPlacement(
        widgetKind: "Weather", family: nil, location: .homeScreen, configuration: ["city": "paris", "days": "7"]))
    let edited = try gallery.edit(EditPlacement(placement: 1, configuration: ["days": ""]))
    #expect(edited.placement.configuration == ["city": "paris"])
    #expect(gallery.state.placements.first?.configuration == ["city": "paris"])
  }

  @Test(.rule("GALLERY-14")) func `a configurable widget prompts for its configuration from iOS 18 on`() throws {
    let widget = GallerySamples.widget {
      $0.promptsForUserConfiguration = true
      $0.configuration = GallerySamples.city
    }
    let request = AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen)
    var new = GallerySamples.gallery([widget])
    #expect(try new.add(request).promptsForConfiguration)
    var old = GallerySamples.gallery(GallerySamples.phone(17), [widget])
    #expect(try old.add(request).promptsForConfiguration == false)
    var plain = GallerySamples.gallery([GallerySamples.widget { $0.promptsForUserConfiguration = true }])
    #expect(try plain.add(request).promptsForConfiguration == false)
  }
}
