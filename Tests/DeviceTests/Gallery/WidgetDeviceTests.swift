// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

@Suite struct `Widget environments of a device` {
  private func environment(
    _ device: WidgetDevice, family: WidgetFamilyName, location: WidgetLocationName, isRemovable: Bool = true
  ) -> WidgetEnvironment {
    let placement = Placement(id: 1, bundle: "b", kind: "k", family: family, location: location)
    return device.environment(of: placement, isBackgroundRemovable: isRemovable)
  }

  @Test(.rule("GALLERY-18")) func `each family has the size that belongs to the screen of the device`() {
    let small = environment(GallerySamples.phone(), family: .systemSmall, location: .homeScreen)
    #expect([small.width, small.height, small.displayScale] == [158, 158, 3])
    let medium = environment(GallerySamples.phone(), family: .systemMedium, location: .homeScreen)
    #expect([medium.width, medium.height] == [338, 158])
    let inline = environment(GallerySamples.phone(), family: .accessoryInline, location: .lockScreen)
    #expect([inline.width, inline.height] == [234, 26])
    let large = environment(GallerySamples.pad(), family: .systemExtraLarge, location: .homeScreen)
    #expect([large.width, large.height] == [715.5, 342])
  }

  @Test(.rule("GALLERY-18")) func `a screen that Apple does not list has the sizes of the nearest listed screen`() {
    let max = WidgetDevice(isPad: false, version: 18, width: 440, height: 956, scale: 3)
    #expect(max.sizes.size(of: .systemSmall).width == 170)
    let pro = WidgetDevice(isPad: false, version: 18, width: 402, height: 874, scale: 3)
    #expect(pro.sizes.size(of: .systemSmall).width == 158)
  }

  @Test(.rule("GALLERY-07"))
  func `a removable background is removed in places without backgrounds from iOS 17 on`() {
    #expect(environment(GallerySamples.phone(), family: .systemSmall, location: .homeScreen).showsBackground)
    #expect(environment(GallerySamples.phone(), family: .systemSmall, location: .standBy).showsBackground == false)
    #expect(
      environment(GallerySamples.phone(), family: .accessoryCircular, location: .lockScreen).showsBackground == false)
    #expect(environment(GallerySamples.phone(16), family: .accessoryCircular, location: .lockScreen).showsBackground)
    #expect(
      environment(GallerySamples.phone(26), family: .systemSmall, location: .carPlay, isRemovable: false)
        .showsBackground)
  }

  @Test(.rule("GALLERY-20")) func `the place of a widget determines its rendering mode`() {
    #expect(
      environment(GallerySamples.phone(), family: .accessoryInline, location: .lockScreen).renderingMode == .vibrant)
    #expect(environment(GallerySamples.pad(), family: .systemSmall, location: .lockScreen).renderingMode == .vibrant)
    #expect(
      environment(GallerySamples.phone(), family: .systemSmall, location: .homeScreen).renderingMode == .fullColor)
    #expect(environment(GallerySamples.phone(), family: .systemSmall, location: .standBy).renderingMode == .fullColor)
    #expect(environment(GallerySamples.phone(26), family: .systemSmall, location: .carPlay).renderingMode == .fullColor)
  }

  @Test(.rule("GALLERY-21", "GALLERY-22"))
  func `a tinted Home Screen is accented, and StandBy in low light is vibrant`() {
    var options = WidgetDevice.Options()
    options.homeScreen = .accented
    options.standBy = .vibrant
    let tinted = environment(GallerySamples.phone(18, options), family: .systemSmall, location: .homeScreen)
    #expect(tinted.renderingMode == .accented)
    #expect(!tinted.showsBackground)
    #expect(
      environment(GallerySamples.phone(17, options), family: .systemSmall, location: .homeScreen).renderingMode
        == .fullColor)
    #expect(
      environment(GallerySamples.phone(18, options), family: .systemSmall, location: .standBy).renderingMode == .vibrant
    )
  }

  @Test(.rule("GALLERY-23")) func `StandBy is tinted red in low light`() {
    #expect(GallerySamples.phone().tint(at: .standBy) == nil)
    var options = WidgetDevice.Options()
    options.standBy = .vibrant
    #expect(GallerySamples.phone(18, options).tint(at: .standBy) == .red)
    for location in WidgetLocationName.allCases where location != .standBy {
      #expect(GallerySamples.phone(26, options).tint(at: location) == nil, "\(location)")
    }
  }

  @Test(.rule("GALLERY-16")) func `widgets have the configured content margin from iOS 17 on`() {
    #expect(
      environment(GallerySamples.phone(), family: .systemSmall, location: .homeScreen).contentMargins == .init(16))
    #expect(
      environment(GallerySamples.phone(16), family: .systemSmall, location: .homeScreen).contentMargins == .init(0))
    #expect(environment(GallerySamples.phone(), family: .systemSmall, location: .standBy).contentMargins == .init(11))
    #expect(
      environment(GallerySamples.phone(), family: .accessoryInline, location: .lockScreen).contentMargins == .init(0))
    var options = WidgetDevice.Options()
    options.contentMargin = 20
    #expect(
      environment(GallerySamples.phone(18, options), family: .systemSmall, location: .homeScreen).contentMargins
        == .init(20))
  }
}

@Suite struct `Widget tiles` {
  private func tile(
    _ widget: WidgetDeclaration, family: WidgetFamilyName = .systemSmall,
    at location: WidgetLocationName = .homeScreen, on device: WidgetDevice = GallerySamples.phone(),
    screen: DeviceScreen = DeviceScreen(), isProtected: Bool = false, isBacked: Bool = true,
    shown: ShownWidget = ShownWidget(
      entry: ArchivedEntry(date: .distantPast, view: .text("light"), darkView: .text("dark")),
      placeholder: ArchivedEntry(date: .distantPast, view: .text("a"), darkView: .text("ab")))
  ) -> ShowScreen.Tile {
    let gallery = GallerySamples.gallery(device, [widget])
    let placement = Placement(
      id: 1, bundle: GallerySamples.bundle, kind: widget.kind, family: family, location: location)
    var shown = shown
    if isBacked {
      shown.entry = shown.entry?.backed
      shown.placeholder = shown.placeholder?.backed
    }
    return gallery.tile(of: placement, shown, on: screen, isProtected: isProtected, now: .distantPast)
  }

  @Test(.rule("GALLERY-48")) func `a tile of a view without a background is a sign from iOS 17 on`() {
    let sign = "Please adopt containerBackground API"
    #expect(tile(GallerySamples.widget(), isBacked: false).view.lines == [sign])
    #expect(tile(GallerySamples.widget(), isBacked: false).note?.contains("containerBackground") == true)
    for location in [WidgetLocationName.lockScreen, .standBy] {
      let family: WidgetFamilyName = location == .standBy ? .systemSmall : .accessoryRectangular
      let elsewhere = tile(GallerySamples.widget(), family: family, at: location, isBacked: false)
      #expect(elsewhere.view.lines == [sign], "\(location)")
      #expect(elsewhere.view.all { if case .control = $0.name { true } else { false } }.isEmpty, "\(location)")
    }
    #expect(tile(GallerySamples.widget(), on: GallerySamples.phone(16), isBacked: false).view.lines == ["light"])
    let kept = GallerySamples.widget { $0.isBackgroundRemovable = false }
    #expect(tile(kept, isBacked: false).view.lines == ["light"])
    let fresh = DeviceScreen(isLocked: true, wasUnlocked: false)
    #expect(tile(GallerySamples.widget(), family: .systemSmall, screen: fresh, isBacked: false).view.lines == [sign])
  }

  @Test(.rule("GALLERY-47"))
  func `views are laid out within the content margins, unless the author disables them`() {
    func margins(_ isDisabled: Bool, on device: WidgetDevice = GallerySamples.phone()) -> WidgetEnvironment.Insets {
      let gallery = GallerySamples.gallery(device, [GallerySamples.widget { $0.contentMarginsDisabled = isDisabled }])
      let placement = Placement(
        id: 1, bundle: GallerySamples.bundle, kind: GallerySamples.widget().kind, family: .systemSmall,
        location: .homeScreen)
      return gallery.environment(of: placement).appliedMargins
    }
    #expect(margins(false) == .init(16) && margins(true) == .init(0))
    #expect(margins(false, on: GallerySamples.phone(16)) == .init(0))
  }

  @Test func `a tile shows its entry in the color scheme of the device`() {
    #expect(tile(GallerySamples.widget()).view.lines == ["light"])
    #expect(
      tile(GallerySamples.widget(), family: .systemSmall, screen: DeviceScreen(colorScheme: .dark)).view.lines == [
        "dark"
      ])
    #expect(tile(GallerySamples.widget()).content == .entry)
    #expect(tile(GallerySamples.widget(), shown: ShownWidget()).content == .skeleton)
  }

  @Test(.rule("GALLERY-40"), arguments: [(false, ["light", "touched"]), (true, ["dark", "touched dark"])])
  func `a tile shows the form for an invalidated view after a tap`(isDark: Bool, lines: [String]) {
    let screen = DeviceScreen(colorScheme: isDark ? .dark : .light)
    let entry = ArchivedEntry(
      date: .distantPast, view: .text("light"), darkView: .text("dark"),
      privateForm: ArchivedEntry.Form(view: .text("hidden")),
      invalidatedForm: ArchivedEntry.Form(view: .text("touched"), darkView: .text("touched dark")))
    var shown = ShownWidget(entry: entry)
    let before = tile(GallerySamples.widget(), family: .systemSmall, screen: screen, shown: shown)
    shown.touched = 1
    let after = tile(GallerySamples.widget(), family: .systemSmall, screen: screen, shown: shown)
    #expect([before, after].flatMap(\.view.lines) == lines)
    // While private content is hidden, its own form is shown.
    var locked = screen
    locked.isLocked = true
    #expect(tile(GallerySamples.widget(), family: .systemSmall, screen: locked, shown: shown).view.lines == ["hidden"])
  }

  @Test(.rule("GALLERY-06"))
  func `a background that is not removable is kept, faded or desaturated, depending on the place`() {
    let keptWidget = GallerySamples.widget { $0.isBackgroundRemovable = false }
    #expect(tile(GallerySamples.widget()).background == .shown)
    #expect(tile(GallerySamples.widget(), at: .standBy).background == .removed)
    #expect(tile(keptWidget, at: .carPlay, on: GallerySamples.phone(26)).background == .kept)
    #expect(tile(keptWidget, family: .accessoryCircular, at: .lockScreen).background == .desaturated)
    var options = WidgetDevice.Options()
    options.homeScreen = .accented
    #expect(tile(keptWidget, on: GallerySamples.phone(18, options)).background == .faded)
    #expect(
      tile(keptWidget, family: .accessoryCircular, at: .lockScreen, on: GallerySamples.phone(16)).background == .shown)
  }

  @Test(.rule("GALLERY-16")) func `a tile has content margins from iOS 17 on, unless the author disables them`() {
    let backed = ["containerBackground"]
    #expect(tile(GallerySamples.widget()).view.modifiers.map(\.name.rawValue) == backed + ["contentMargins"])
    #expect(
      tile(GallerySamples.widget { $0.contentMarginsDisabled = true }).view.modifiers.map(\.name.rawValue) == backed)
    #expect(tile(GallerySamples.widget(), on: GallerySamples.phone(16)).view.modifiers.map(\.name.rawValue) == backed)
  }

  @Test(.rule("TIMELINE-05", "GALLERY-26", "GALLERY-27"))
  func `a tile shows its placeholder before the first unlock, and if protected on every locked device`() {
    let fresh = DeviceScreen(isLocked: true, wasUnlocked: false)
    #expect(tile(GallerySamples.widget(), family: .systemSmall, screen: fresh).content == .placeholder)
    let locked = DeviceScreen(isLocked: true)
    #expect(tile(GallerySamples.widget(), family: .systemSmall, screen: locked).content == .entry)
    #expect(
      tile(GallerySamples.widget(), family: .systemSmall, screen: locked, isProtected: true).content == .placeholder)
    #expect(tile(GallerySamples.widget(), family: .systemSmall, isProtected: true).content == .entry)
    #expect(tile(GallerySamples.widget(), family: .systemSmall, screen: locked, isProtected: true).view.lines == ["▒"])
    let dark = DeviceScreen(isLocked: true, colorScheme: .dark)
    #expect(tile(GallerySamples.widget(), family: .systemSmall, screen: dark, isProtected: true).view.lines == ["▒▒"])
    let failed = ShownWidget(entry: ArchivedEntry(date: .distantPast, view: .text("light")))
    #expect(
      tile(GallerySamples.widget(), family: .systemSmall, screen: locked, isProtected: true, shown: failed).content
        == .skeleton)
  }

  @Test func `a tile on a locked device redacts privacy-sensitive content`() {
    let secret = ViewArchive(.leaf(.text), [.text: "secret"], modifiers: [.init(.silent(.privacySensitive))])
    let shown = ShownWidget(
      entry: ArchivedEntry(date: .distantPast, view: .group([secret, .text("open")])),
      placeholder: ArchivedEntry(date: .distantPast, view: .text("sample")))
    let locked = DeviceScreen(isLocked: true)
    #expect(
      tile(GallerySamples.widget(), family: .systemSmall, screen: locked, shown: shown).view.lines == [
        "▒▒▒▒▒▒", "open",
      ])
    #expect(tile(GallerySamples.widget(), family: .systemSmall, shown: shown).view.lines == ["secret", "open"])
    var options = WidgetDevice.Options()
    options.hidesSensitiveContent = false
    #expect(
      tile(GallerySamples.widget(), on: GallerySamples.phone(18, options), screen: locked, shown: shown).view.lines == [
        "secret", "open",
      ])
    let protected = tile(GallerySamples.widget(), family: .systemSmall, screen: locked, isProtected: true, shown: shown)
    #expect(protected.view.lines == ["▒▒▒▒▒▒"])
  }

  @Test(.rule("VIEW-13"), arguments: [true, false])
  func `a locked device shows the private form of a view, if the user hides sensitive content`(isHidden: Bool) {
    let hidden = ArchivedEntry.Form(view: .text("hidden"), darkView: .text("dark hidden"))
    let shown = ShownWidget(
      entry: ArchivedEntry(
        date: .distantPast, view: .text("light"), darkView: .text("dark"), privateForm: hidden))
    var options = WidgetDevice.Options()
    options.hidesSensitiveContent = isHidden
    let device = GallerySamples.phone(18, options)
    func lines(_ screen: DeviceScreen) -> [String] {
      tile(GallerySamples.widget(), on: device, screen: screen, shown: shown).view.lines
    }
    #expect(lines(DeviceScreen(isLocked: true)) == [isHidden ? "hidden" : "light"])
    #expect(lines(DeviceScreen(isLocked: true, colorScheme: .dark)) == [isHidden ? "dark hidden" : "dark"])
    #expect(lines(DeviceScreen()) == ["light"])
  }

  @Test func `a tile of a kind that its extension no longer declares has a note`() {
    let gallery = GallerySamples.gallery([GallerySamples.widget("New")])
    let placement = Placement(
      id: 1, bundle: GallerySamples.bundle, kind: "Old", family: .systemSmall, location: .homeScreen)
    let tile = gallery.tile(of: placement, ShownWidget(), on: DeviceScreen(), isProtected: false, now: .distantPast)
    #expect(tile.note?.contains("Old") == true)
  }
}

extension ArchivedEntry {
  /// With a background for the widget in all its views.
  fileprivate var backed: ArchivedEntry {
    func backed(_ form: Form) -> Form { Form(view: form.view.backed, darkView: form.darkView?.backed) }
    return ArchivedEntry(
      date: date, view: view.backed, darkView: darkView?.backed, privateForm: privateForm.map(backed),
      invalidatedForm: invalidatedForm.map(backed))
  }
}

extension ViewArchive {
  /// With a background for the widget.
  fileprivate var backed: ViewArchive {
    var view = self
    view.modifiers.append(Modifier(.layout(.containerBackground), [.placement: "widget"]))
    return view
  }
}
