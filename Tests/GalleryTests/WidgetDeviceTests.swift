import Archive
import Conversations
import Foundation
import Testing

@testable import Gallery

@Suite struct `a device to its widgets` {
  private func environment(
    _ device: WidgetDevice, _ family: WidgetFamilyName, _ location: WidgetLocationName, isRemovable: Bool = true
  ) -> WidgetEnvironment {
    let placement = Placement(id: 1, bundle: "b", kind: "k", family: family, location: location)
    return device.environment(of: placement, isBackgroundRemovable: isRemovable)
  }

  @Test func `has each family in the size of its screen`() {
    let small = environment(Shelf.phone(), .systemSmall, .homeScreen)
    #expect([small.width, small.height, small.displayScale] == [158, 158, 3])
    let medium = environment(Shelf.phone(), .systemMedium, .homeScreen)
    #expect([medium.width, medium.height] == [338, 158])
    let inline = environment(Shelf.phone(), .accessoryInline, .lockScreen)
    #expect([inline.width, inline.height] == [234, 26])
    let large = environment(Shelf.pad(), .systemExtraLarge, .homeScreen)
    #expect([large.width, large.height] == [715.5, 342])
  }

  @Test func `has the sizes of the nearest screen where Apple lists none`() {
    let max = WidgetDevice(isPad: false, version: 18, width: 440, height: 956, scale: 3)
    #expect(max.sizes.size(of: .systemSmall).width == 170)
    let pro = WidgetDevice(isPad: false, version: 18, width: 402, height: 874, scale: 3)
    #expect(pro.sizes.size(of: .systemSmall).width == 158 || pro.sizes.size(of: .systemSmall).width == 169)
  }

  @Test func `removes the background where a place has none, from iOS 17 on, and only a removable one`() {
    #expect(environment(Shelf.phone(), .systemSmall, .homeScreen).showsBackground)
    #expect(environment(Shelf.phone(), .systemSmall, .standBy).showsBackground == false)
    #expect(environment(Shelf.phone(), .accessoryCircular, .lockScreen).showsBackground == false)
    #expect(environment(Shelf.phone(16), .accessoryCircular, .lockScreen).showsBackground)
    #expect(environment(Shelf.phone(26), .systemSmall, .carPlay, isRemovable: false).showsBackground)
  }

  @Test func `draws widgets in the mode of the place`() {
    #expect(environment(Shelf.phone(), .accessoryInline, .lockScreen).renderingMode == .vibrant)
    #expect(environment(Shelf.pad(), .systemSmall, .lockScreen).renderingMode == .vibrant)
    #expect(environment(Shelf.phone(), .systemSmall, .homeScreen).renderingMode == .fullColor)
    #expect(environment(Shelf.phone(), .systemSmall, .standBy).renderingMode == .fullColor)
    #expect(environment(Shelf.phone(26), .systemSmall, .carPlay).renderingMode == .fullColor)
  }

  @Test func `draws a tinted Home Screen accented, and StandBy in low light vibrant`() {
    var taste = WidgetDevice.Taste()
    taste.homeScreen = .accented
    taste.standBy = .vibrant
    let tinted = environment(Shelf.phone(18, taste), .systemSmall, .homeScreen)
    #expect(tinted.renderingMode == .accented)
    #expect(!tinted.showsBackground)
    #expect(environment(Shelf.phone(17, taste), .systemSmall, .homeScreen).renderingMode == .fullColor)
    #expect(environment(Shelf.phone(18, taste), .systemSmall, .standBy).renderingMode == .vibrant)
  }

  @Test func `tints StandBy red in low light`() {
    #expect(Shelf.phone().tint(at: .standBy) == nil)
    var taste = WidgetDevice.Taste()
    taste.standBy = .vibrant
    #expect(Shelf.phone(18, taste).tint(at: .standBy) == .red)
    for location in WidgetLocationName.allCases where location != .standBy {
      #expect(Shelf.phone(26, taste).tint(at: location) == nil, "\(location)")
    }
  }

  @Test func `pads the content from iOS 17 on, by the margin that is set`() {
    #expect(environment(Shelf.phone(), .systemSmall, .homeScreen).contentMargins == .init(16))
    #expect(environment(Shelf.phone(16), .systemSmall, .homeScreen).contentMargins == .init(0))
    #expect(environment(Shelf.phone(), .systemSmall, .standBy).contentMargins == .init(11))
    #expect(environment(Shelf.phone(), .accessoryInline, .lockScreen).contentMargins == .init(0))
    var taste = WidgetDevice.Taste()
    taste.contentMargin = 20
    #expect(environment(Shelf.phone(18, taste), .systemSmall, .homeScreen).contentMargins == .init(20))
  }
}

@Suite struct `a tile` {
  private func tile(
    _ widget: WidgetDeclaration, _ family: WidgetFamilyName = .systemSmall,
    at location: WidgetLocationName = .homeScreen, on device: WidgetDevice = Shelf.phone(),
    _ screen: DeviceScreen = DeviceScreen(), isProtected: Bool = false,
    shown: ShownWidget = ShownWidget(
      light: .text("light"), dark: .text("dark"), date: .distantPast, placeholder: .text("a"),
      darkPlaceholder: .text("ab"))
  ) -> ShowScreen.Tile {
    let gallery = Shelf.gallery(device, [widget])
    let placement = Placement(id: 1, bundle: Shelf.bundle, kind: widget.kind, family: family, location: location)
    return gallery.tile(of: placement, shown, on: screen, isProtected: isProtected, now: .distantPast)
  }

  @Test func `shows the entry in the colours of the device`() {
    #expect(tile(Shelf.widget()).view.lines == ["light"])
    #expect(tile(Shelf.widget(), .systemSmall, DeviceScreen(colorScheme: .dark)).view.lines == ["dark"])
    #expect(tile(Shelf.widget()).content == .entry)
    #expect(tile(Shelf.widget(), shown: ShownWidget()).content == .skeleton)
  }

  @Test func `keeps a background that is not removable, faded or desaturated where the place is`() {
    let kept = Shelf.widget { $0.isBackgroundRemovable = false }
    #expect(tile(Shelf.widget()).background == .shown)
    #expect(tile(Shelf.widget(), at: .standBy).background == .removed)
    #expect(tile(kept, at: .carPlay, on: Shelf.phone(26)).background == .kept)
    #expect(tile(kept, .accessoryCircular, at: .lockScreen).background == .desaturated)
    var taste = WidgetDevice.Taste()
    taste.homeScreen = .accented
    #expect(tile(kept, on: Shelf.phone(18, taste)).background == .faded)
    #expect(tile(kept, .accessoryCircular, at: .lockScreen, on: Shelf.phone(16)).background == .shown)
  }

  @Test func `is padded unless the author disabled the margins, which are none before iOS 17`() {
    #expect(tile(Shelf.widget()).view.modifiers.map(\.name) == ["contentMargins"])
    #expect(tile(Shelf.widget { $0.contentMarginsDisabled = true }).view.modifiers.isEmpty)
    #expect(tile(Shelf.widget(), on: Shelf.phone(16)).view.modifiers.isEmpty)
  }

  @Test func `is a placeholder until the device was unlocked once, and while it is locked under its data protection`() {
    let fresh = DeviceScreen(isLocked: true, wasUnlocked: false)
    #expect(tile(Shelf.widget(), .systemSmall, fresh).content == .placeholder)
    let locked = DeviceScreen(isLocked: true)
    #expect(tile(Shelf.widget(), .systemSmall, locked).content == .entry)
    #expect(tile(Shelf.widget(), .systemSmall, locked, isProtected: true).content == .placeholder)
    #expect(tile(Shelf.widget(), .systemSmall, isProtected: true).content == .entry)
    #expect(tile(Shelf.widget(), .systemSmall, locked, isProtected: true).view.lines == ["▒"])
    let dark = DeviceScreen(isLocked: true, colorScheme: .dark)
    #expect(tile(Shelf.widget(), .systemSmall, dark, isProtected: true).view.lines == ["▒▒"])
    let failed = ShownWidget(light: .text("light"))
    #expect(tile(Shelf.widget(), .systemSmall, locked, isProtected: true, shown: failed).content == .skeleton)
  }

  @Test func `has nothing of what is hidden while the device is locked`() {
    let secret = ViewArchive("Text", ["text": "secret"], modifiers: [.init("privacySensitive")])
    let shown = ShownWidget(light: .group([secret, .text("open")]), placeholder: .text("sample"))
    let locked = DeviceScreen(isLocked: true)
    #expect(tile(Shelf.widget(), .systemSmall, locked, shown: shown).view.lines == ["▒▒▒▒▒▒", "open"])
    #expect(tile(Shelf.widget(), .systemSmall, shown: shown).view.lines == ["secret", "open"])
    var taste = WidgetDevice.Taste()
    taste.hidesSensitiveContent = false
    #expect(tile(Shelf.widget(), on: Shelf.phone(18, taste), locked, shown: shown).view.lines == ["secret", "open"])
    let protected = tile(Shelf.widget(), .systemSmall, locked, isProtected: true, shown: shown)
    #expect(protected.view.lines == ["▒▒▒▒▒▒"])
  }

  @Test func `says that its extension has the kind no longer`() {
    let gallery = Shelf.gallery([Shelf.widget("New")])
    let placement = Placement(
      id: 1, bundle: Shelf.bundle, kind: "Old", family: .systemSmall, location: .homeScreen)
    let tile = gallery.tile(of: placement, ShownWidget(), on: DeviceScreen(), isProtected: false, now: .distantPast)
    #expect(tile.note?.contains("Old") == true)
  }
}
