// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Messages
import Testing

@testable import Device
@testable import DeviceRules

@Suite struct `Taps on a widget` {
  private let button = ViewArchive(
    .control(.button),
    [.intent: .record([.type: "Drink", .parameters: .record(ArchivedArguments(values: ["cups": 1]))])],
    children: [.text("Drink")])
  private let toggle = ViewArchive(
    .control(.toggle), [.intent: .record([.type: "Play", .parameters: .record([:]), .opensApp: true])],
    children: [.text("Play")]
  )
  private let talk = ViewArchive(
    .control(.button), [.intent: .record([.type: "Talk", .opensApp: false, .runsInApp: true])],
    children: [.text("Talk")])
  private let link = ViewArchive(.control(.link), [.destination: "app://more"], children: [.text("More")])

  private var view: ViewArchive {
    ViewArchive(
      .container(.vStack), children: [button, toggle, link, ViewArchive(.control(.button), children: [.text("Dead")])],
      modifiers: [
        .init(.silent(.widgetURL), [.url: "app://inner"]), .init(.silent(.widgetURL), [.url: "app://outer"]),
      ])
  }

  private func touch(
    control: Int? = nil, link: String? = nil, _ family: WidgetFamilyName = .systemMedium, version: Int = 18,
    isLocked: Bool = false, view: ViewArchive? = nil
  ) throws -> Touch {
    let gallery = GallerySamples.gallery(GallerySamples.phone(version), [GallerySamples.widget()])
    let placement = Placement(
      id: 1, bundle: GallerySamples.bundle, kind: "Weather", family: family, location: .homeScreen)
    return try gallery.touch(
      TapWidget(placement: 1, control: control, link: link), on: placement, view ?? self.view, isLocked: isLocked)
  }

  private func isNothing(_ touch: Touch) -> Bool { if case .nothing = touch { true } else { false } }

  @Test(.rule("GALLERY-36"))
  func `a tap on a control performs its intent in the extension, or in the app if the intent requires it`() throws {
    #expect(try touch(control: 1) == .perform(intent: "Drink", values: ["cups": 1], by: .widgetExtension))
    #expect(try touch(control: 2) == .perform(intent: "Play", values: [:], by: .openApp))
    #expect(try touch(control: 3) == .open(url: "app://outer"))
    #expect(try touch(control: 1, view: talk) == .perform(intent: "Talk", values: [:], by: .app))
    #expect(throws: BusError.self) { try touch(control: 4) }
    #expect(throws: BusError.self) { try touch(control: 0) }
  }

  @Test(.rule("GALLERY-35"))
  func `controls are inactive on a locked device, before iOS 17 and in accessoryInline`() throws {
    #expect(isNothing(try touch(control: 1, isLocked: true)))
    #expect(isNothing(try touch(control: 1, version: 16)))
    #expect(isNothing(try touch(control: 1, .accessoryInline)))
    #expect(!isNothing(try touch(control: 1, .accessoryCircular)))
    #expect(!isNothing(try touch(control: 1, .accessoryRectangular)))
  }

  @Test(.rule("GALLERY-40"))
  func `a tapped toggle shows its other state, and invalidatable content is redacted`() {
    func switched(_ isOn: Bool) -> ViewArchive { ViewArchive(.control(.toggle), [.isOn: .bool(isOn)]) }
    func text(_ modifiers: [ViewArchive.Modifier]) -> ViewArchive { ViewArchive(.leaf(.text), modifiers: modifiers) }
    let mark = ViewArchive.Modifier(.silent(.invalidatableContent))
    let never = ViewArchive.Modifier(.silent(.invalidatableContent), [.invalidatable: false])
    let view = ViewArchive(
      .container(.vStack), children: [button, switched(false), switched(true), text([mark]), text([never])])
    let redacted = text([mark, .init(.silent(.redacted), [.reason: "invalidated"])])
    #expect(view.touched(1).children == [button, switched(false), switched(true), redacted, text([never])])
    #expect(view.touched(2).children == [button, switched(true), switched(true), redacted, text([never])])
    #expect(view.touched(3).children == [button, switched(false), switched(false), redacted, text([never])])
  }

  @Test(.rule("GALLERY-42"))
  func `a tap outside of controls opens the app with the widget URL, except on a locked device`() throws {
    #expect(try touch() == .open(url: "app://outer"))
    #expect(try touch(view: .text("plain")) == .open(url: nil))
    #expect(isNothing(try touch(isLocked: true)))
  }

  @Test(.rule("GALLERY-43"))
  func `a tap on a link opens the link in families that support links, and else the widget URL`() throws {
    #expect(try touch(link: "More") == .open(url: "app://more"))
    #expect(try touch(link: "app://more") == .open(url: "app://more"))
    #expect(try touch(link: "More", .systemSmall) == .open(url: "app://more"))
    #expect(try touch(link: "More", .systemSmall, version: 16) == .open(url: "app://outer"))
    #expect(try touch(link: "More", .accessoryRectangular) == .open(url: "app://more"))
    #expect(try touch(link: "More", .accessoryInline) == .open(url: "app://outer"))
    #expect(throws: BusError.self) { try touch(link: "Less") }
  }

  @Test(.rule("ACTIVITY-22"))
  func `a tap on a Live Activity performs the intent of its presentation's control, or opens the app`() throws {
    let own = ViewArchive(
      .leaf(.text), [.text: "Ride"], modifiers: [.init(.silent(.widgetURL), [.url: "app://own"])])
    var views = ActivityViews(
      items: [
        .init(.lockScreen, ArchivedEntry.Form(view: ViewArchive(.container(.vStack), children: [talk, own]))),
        .init(.expandedBottom, ArchivedEntry.Form(view: toggle)),
        .init(.expandedLeading, ArchivedEntry.Form(view: ViewArchive(.container(.hStack), children: [button, link]))),
        .init(.compactLeading, ArchivedEntry.Form(view: talk)),
      ])
    func touch(
      _ presentation: TapActivity.Presentation, control: Int? = nil, link: String? = nil, isLocked: Bool = false,
      version: Int = 18
    ) throws -> Touch {
      let gallery = GallerySamples.gallery(GallerySamples.phone(version), [GallerySamples.widget()])
      let tap = TapActivity(id: "1", control: control, link: link)
      return try gallery.touch(tap, on: presentation, views, screen: DeviceScreen(isLocked: isLocked))
    }
    #expect(try touch(.lockScreen, control: 1) == .perform(intent: "Talk", values: [:], by: .app))
    #expect(throws: BusError.self) { try touch(.lockScreen, control: 2) }
    #expect(try touch(.expanded, control: 1) == .perform(intent: "Drink", values: ["cups": 1], by: .widgetExtension))
    #expect(try touch(.expanded, control: 2) == .perform(intent: "Play", values: [:], by: .openApp))
    #expect(try touch(.expanded, link: "More") == .open(url: "app://more"))
    #expect(try touch(.expanded) == .open(url: nil))
    #expect(try touch(.lockScreen) == .open(url: "app://own"))
    views.islandURL = "app://island"
    #expect(try touch(.expanded) == .open(url: "app://island"))
    #expect(try touch(.expanded, link: "More") == .open(url: "app://more"))
    for control in [nil, 1] { #expect(isNothing(try touch(.lockScreen, control: control, isLocked: true))) }
    #expect(isNothing(try touch(.lockScreen, control: 1, version: 16)))
    #expect(try touch(.lockScreen, control: 1, version: 17) == .perform(intent: "Talk", values: [:], by: .app))
  }
}
