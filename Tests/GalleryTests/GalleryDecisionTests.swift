import Archive
import Conversations
import Foundation
import Testing

@testable import Gallery

@Suite struct `the gallery` {
  @Test func `shows the name and the description that the author declared, or the kind`() {
    let plain = WidgetDeclaration(kind: "Plain")
    let items = Shelf.gallery([Shelf.widget(), plain]).list(ListGallery(location: .homeScreen)).items
    #expect(items.first { $0.widgetKind == "Weather" }?.displayName == "The Weather")
    #expect(items.first { $0.widgetKind == "Weather" }?.description == "Shows Weather.")
    #expect(items.first { $0.widgetKind == "Plain" }?.displayName == "Plain")
  }

  @Test func `has a widget that says no families in all of them, or in those of the system alone`() {
    let all = Shelf.gallery([Shelf.widget("All", nil)])
    #expect(all.list(ListGallery(location: .lockScreen)).shelf(.lockScreen, .accessoryInline) == .main)
    #expect(all.list(ListGallery(location: .homeScreen)).shelf(.homeScreen, .systemLarge) == .main)
    var taste = WidgetDevice.Taste()
    taste.defaultFamiliesIncludeAccessory = false
    let system = Shelf.gallery(Shelf.phone(18, taste), [Shelf.widget("All", nil)])
    #expect(system.list(ListGallery(location: .lockScreen)).shelf(.lockScreen, .accessoryInline) == nil)
    #expect(system.list(ListGallery(location: .homeScreen)).shelf(.homeScreen, .systemLarge) == .main)
  }

  @Test(arguments: [
    (Shelf.phone(16), WidgetFamilyName.accessoryCircular, WidgetLocationName.lockScreen, true),
    (Shelf.phone(15), .accessoryCircular, .lockScreen, false),
    (Shelf.phone(18), .systemSmall, .lockScreen, false),
    (Shelf.pad(17), .systemSmall, .lockScreen, true),
    (Shelf.pad(16), .systemSmall, .lockScreen, false),
    (Shelf.pad(17), .systemMedium, .lockScreen, false),
    (Shelf.phone(17), .systemSmall, .standBy, true),
    (Shelf.phone(16), .systemSmall, .standBy, false),
    (Shelf.phone(17), .systemMedium, .standBy, false),
    (Shelf.pad(18), .systemSmall, .standBy, false),
    (Shelf.phone(26), .systemSmall, .carPlay, true),
    (Shelf.phone(18), .systemSmall, .carPlay, false),
    (Shelf.pad(15), .systemExtraLarge, .homeScreen, true),
    (Shelf.pad(14), .systemExtraLarge, .homeScreen, false),
    (Shelf.phone(26), .systemExtraLarge, .homeScreen, false),
    (Shelf.phone(18), .accessoryCorner, .lockScreen, false),
    (Shelf.phone(18), .systemSmall, .watchFace, false),
    (Shelf.phone(18), .systemSmall, .smartStack, false),
    (Shelf.phone(14), .systemLarge, .todayView, true),
    (Shelf.phone(26), .systemExtraLargePortrait, .homeScreen, false),
    (Shelf.phone(27), .systemExtraLargePortrait, .homeScreen, true),
  ])
  func `offers a family where and since when a device takes it`(
    device: WidgetDevice, family: WidgetFamilyName, location: WidgetLocationName, isOffered: Bool
  ) {
    let reply = Shelf.gallery(device, [Shelf.widget("W", [family])]).list(ListGallery(location: location))
    #expect(reply.shelf(location, family) == (isOffered ? .main : .leftOut))
    #expect((reply.reason(location, family) == nil) == isOffered)
  }

  @Test func `joins the calls of disfavoredLocations, and shows the pairs under Other from iOS 17 on`() {
    let widget = Shelf.widget("W", [.systemSmall, .systemMedium]) {
      $0.disfavored = [
        .init(locations: [.homeScreen], families: [.systemSmall]),
        .init(locations: [.standBy], families: [.systemSmall]),
      ]
    }
    let gallery = Shelf.gallery([widget]).list(ListGallery(location: nil))
    #expect(gallery.shelf(.homeScreen, .systemSmall) == .other)
    #expect(gallery.shelf(.homeScreen, .systemMedium) == .main)
    #expect(gallery.shelf(.standBy, .systemSmall) == .other)
    #expect(gallery.shelf(.todayView, .systemSmall) == .main)
    let older = Shelf.gallery(Shelf.phone(16), [widget]).list(ListGallery(location: .homeScreen))
    #expect(older.shelf(.homeScreen, .systemSmall) == .main)
  }

  @Test func `leaves out what has a background that is not removable on an iPad's Lock Screen and in StandBy`() {
    let widget = Shelf.widget("W", [.systemSmall, .accessoryCircular]) { $0.isBackgroundRemovable = false }
    let pad = Shelf.gallery(Shelf.pad(), [widget]).list(ListGallery(location: .lockScreen))
    #expect(pad.shelf(.lockScreen, .systemSmall) == .leftOut)
    #expect(pad.reason(.lockScreen, .systemSmall)?.contains("not removable") == true)
    #expect(pad.shelf(.lockScreen, .accessoryCircular) == .main)
    let phone = Shelf.gallery([widget]).list(ListGallery(location: nil))
    #expect(phone.shelf(.standBy, .systemSmall) == .leftOut)
    #expect(phone.shelf(.homeScreen, .systemSmall) == .main)
  }

  @Test func `leaves out the widgets of an app that was never launched, and controls`() {
    var gallery = Shelf.gallery([Shelf.widget()], isLaunched: false)
    #expect(gallery.list(ListGallery(location: .homeScreen)).items.first?.shelf == .leftOut)
    #expect(throws: BusError.self) {
      try gallery.add(AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen))
    }
    gallery.launched(Shelf.app)
    #expect(gallery.list(ListGallery(location: .homeScreen)).items.first?.shelf == .main)
    let control = Shelf.gallery([Shelf.widget("C") { $0.isControl = true }], places: true)
    #expect(control.list(ListGallery(location: .homeScreen)).items.first?.shelf == .leftOut)
    #expect(control.state.placements.isEmpty)
  }
}

@Suite struct `placements` {
  @Test func `are numbered from 1, and no number is given twice`() throws {
    var gallery = Shelf.gallery([Shelf.widget()])
    let request = AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen)
    #expect(try gallery.add(request).placement.id == 1)
    #expect(try gallery.add(request).placement.id == 2)
    _ = try gallery.remove(2)
    #expect(try gallery.add(request).placement.id == 3)
    #expect(gallery.state.placements.map(\.id) == [1, 3])
    #expect(throws: BusError.self) { try gallery.remove(2) }
    #expect(gallery.placements(askedBy: Shelf.app).count == 2)
    #expect(gallery.placements(askedBy: Shelf.bundle).count == 2)
    #expect(gallery.placements(askedBy: "com.example.Other").isEmpty)
  }

  @Test func `are made of each kind when it is first heard of, and a removed one stays removed`() throws {
    let widgets = [Shelf.widget(), Shelf.widget("Lock", [.accessoryInline])]
    var gallery = Shelf.gallery(widgets, isLaunched: false, places: true)
    #expect(gallery.state.placements.map(\.kind) == ["Weather", "Lock"])
    #expect(gallery.state.placements.map(\.location) == [.homeScreen, .lockScreen])
    _ = try gallery.remove(1)
    #expect(gallery.learned(Shelf.bundle, [Shelf.widget()]).isEmpty)
    #expect(gallery.learned(Shelf.bundle, [Shelf.widget(), Shelf.widget("New")]).map(\.kind) == ["New"])
    #expect(Shelf.gallery([Shelf.widget()], places: false).state.placements.isEmpty)
  }

  @Test func `take the first family that the place offers, and no family that it does not`() throws {
    var gallery = Shelf.gallery([Shelf.widget("W", [.accessoryInline, .systemMedium, .systemSmall])])
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

  @Test func `of a kind that two extensions have need the bundle said`() throws {
    var gallery = Shelf.gallery([Shelf.widget()])
    _ = gallery.learned("com.example.App.Second", [Shelf.widget()])
    #expect(throws: BusError.self) {
      try gallery.add(AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen))
    }
    let report = try gallery.add(
      AddPlacement(bundle: "com.example.App.Second", widgetKind: "Weather", family: nil, location: .homeScreen))
    #expect(report.placement.bundle == "com.example.App.Second")
  }

  @Test(arguments: [
    ("city", "Paris", ArchivedValue.string("paris")), ("city", "london", "london"), ("days", "5", 5),
    ("hourly", "yes", true), ("hourly", "off", false), ("page", "https://a.b", "https://a.b"), ("share", "0.5", 0.5),
    ("note", "a=b", "a=b"), ("from", "1970-01-01T00:00:10Z", .date(Date(timeIntervalSince1970: 10))),
  ])
  func `read a choice as its parameter wants it`(name: String, text: String, value: ArchivedValue) throws {
    let widget = Shelf.widget { $0.configuration = Shelf.city }
    #expect(try widget.configured(with: [name: .string(text)]) == [name: value])
  }

  @Test(arguments: [
    ("city", "Rome"), ("days", "2.5"), ("hourly", "maybe"), ("page", "no url"), ("share", "nan"), ("from", "today"),
    ("town", "Paris"),
  ])
  func `refuse a choice that the parameter does not take`(name: String, text: String) {
    let widget = Shelf.widget { $0.configuration = Shelf.city }
    #expect(throws: BusError.self) { try widget.configured(with: [name: .string(text)]) }
    #expect(throws: BusError.self) { try Shelf.widget().configured(with: [name: .string(text)]) }
  }

  @Test func `keep what an edit does not name, and go back to the default by an empty choice`() throws {
    var gallery = Shelf.gallery([Shelf.widget { $0.configuration = Shelf.city }])
    _ = try gallery.add(
      AddPlacement(
        widgetKind: "Weather", family: nil, location: .homeScreen, configuration: ["city": "paris", "days": "7"]))
    let edited = try gallery.edit(EditPlacement(placement: 1, configuration: ["days": ""]))
    #expect(edited.placement.configuration == ["city": "paris"])
    #expect(gallery.state.placements.first?.configuration == ["city": "paris"])
  }

  @Test func `prompt for their configuration from iOS 18 on, when there is one`() throws {
    let widget = Shelf.widget {
      $0.promptsForUserConfiguration = true
      $0.configuration = Shelf.city
    }
    let request = AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen)
    var new = Shelf.gallery([widget])
    #expect(try new.add(request).promptsForConfiguration)
    var old = Shelf.gallery(Shelf.phone(17), [widget])
    #expect(try old.add(request).promptsForConfiguration == false)
    var plain = Shelf.gallery([Shelf.widget { $0.promptsForUserConfiguration = true }])
    #expect(try plain.add(request).promptsForConfiguration == false)
  }
}
