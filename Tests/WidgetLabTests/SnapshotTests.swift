// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import FidelityRules
import Foundation
import Messages
import Pictures
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `Pictures of the snapshot command` {
  private func made(
    _ data: String = "<svg/>", kind: String = "Coffee", scheme: ColorSchemeName = .light,
    mode: RenderingModeName = .fullColor, format: PictureFormat = .svg
  ) -> SnapshotRun.Made {
    let name = SnapshotName(
      kind: kind, family: .systemSmall, mode: mode, scheme: scheme, textSize: .large, locale: nil, entry: nil)
    return SnapshotRun.Made(
      name: name, file: name.file(format, scale: 2), data: Data(data.utf8), width: 158, height: 158)
  }

  // MARK: Options

  @Test(.rule("TIMELINE-25")) func `without a folder the command needs one kind, and refuses the options of pictures`()
    throws
  {
    #expect(try SnapshotCommand.parse(["Coffee"]).kinds == ["Coffee"])
    for arguments in [
      [], ["A", "B"], ["A", "--families", "systemSmall"], ["A", "--format", "png"], ["A", "--entries", "all"],
      ["A", "--precision", "0.9"],
    ] {
      #expect(throws: (any Error).self, "\(arguments)") { try SnapshotCommand.parse(arguments) }
    }
  }

  @Test(.rule("TIMELINE-25"))
  func `the gallery asks each widget for one snapshot in its first family, and no control and none left out`() {
    func item(_ kind: String, _ families: [WidgetFamilyName], _ section: ListGallery.Item.Section = .main)
      -> ListGallery.Item
    {
      ListGallery.Item(
        bundle: "com.example.Widget", widgetKind: kind, displayName: kind, description: "", location: .homeScreen,
        families: families, section: section)
    }
    let offers = ListGallery.Reply(items: [
      item("Coffee", [.systemMedium, .systemSmall]), item("Coffee", [.systemLarge], .other), item("Lamp", [.control]),
      item("Old", [.systemSmall], .leftOut), item("Tea", [.systemSmall], .other),
    ]).offers
    #expect(offers.map(\.widgetKind) == ["Coffee", "Tea"])
    #expect(offers.map(\.family) == [.systemMedium, .systemSmall])
    #expect(offers.map(\.bundle) == ["com.example.Widget", "com.example.Widget"])
    #expect(GalleryCommand.line(offers[0], .success(["3 cups", "at 9"])) == "  Coffee systemMedium: 3 cups | at 9")
    let failure = BusError(.failed, "the extension exited during the request", isDefinite: true)
    #expect(GalleryCommand.line(offers[1], .failure(failure)).hasSuffix(": none: \(failure)"))
  }

  @Test(.rule("PICTURE-62")) func `lists are separated by commas, and an unknown name is refused`() throws {
    let command = try SnapshotCommand.parse([
      "--output", "a", "--families", "systemSmall,systemLarge", "--modes", "accented", "--schemes", "light,dark",
      "--text-sizes", "large,accessibility3", "--locales", "de-DE,ar", "--entries", "all", "--format", "png",
      "--scale", "3",
    ])
    #expect(command.families?.names == [.systemSmall, .systemLarge] && command.modes?.names == [.accented])
    #expect(command.schemes?.names == [.light, .dark] && command.textSizes?.names == [.large, .accessibility3])
    #expect(command.locales?.names == ["de_DE", "ar"] && command.entries == .all && command.scale == 3)
    for arguments in [
      ["--families", "small"], ["--families", ""], ["--schemes", "light,blue"], ["--locales", "nowhere_at_all_1"],
      ["--scale", "3"], ["--format", "png", "--scale", "0"], ["--format", "jpg"], ["--precision", "1"],
    ] {
      #expect(throws: (any Error).self, "\(arguments)") { try SnapshotCommand.parse(["--output", "a"] + arguments) }
    }
  }

  @Test(.rule("PICTURE-26")) func `a precision belongs to the comparison of PNG files`() throws {
    let command = try SnapshotCommand.parse([
      "--verify", "a", "--format", "png", "--precision", "0.99", "--perceptual-precision", "0.98",
    ])
    #expect(command.precision == 0.99 && command.perceptualPrecision == 0.98)
    for arguments in [["--precision", "0.9"], ["--format", "png", "--precision", "2"]] {
      #expect(throws: (any Error).self) { try SnapshotCommand.parse(["--verify", "a"] + arguments) }
    }
  }

  // MARK: Plan and names

  @Test(.rule("PICTURE-62")) func `all combinations are requested, and one archive has both schemes`() {
    var plan = SnapshotPlan(families: [kind("B"): [.systemSmall], kind("A"): [.systemSmall, .systemMedium]])
    #expect(plan.requests.map(\.request.widgetKind) == ["A", "A", "B"])
    #expect(
      plan.requests.map(\.request).allSatisfy { $0.renderingMode == nil && $0.locale == nil && $0.entries == .snapshot }
    )
    (plan.modes, plan.schemes) = ([.fullColor, .accented], [.light, .dark])
    (plan.textSizes, plan.locales, plan.entries) = ([.small, .large], ["en_US", "ar"], .all)
    #expect(plan.requests.count == 3 * 2 * 2 * 2)
    #expect(Set(plan.requests.map { "\($0.request)" }).count == 24)
  }

  private func kind(_ kind: String, of bundle: String = "b", isShared: Bool = false) -> SnapshotPlan.Kind {
    SnapshotPlan.Kind(kind: kind, bundle: bundle, isShared: isShared)
  }

  @Test func `a kind has the families of all locations, and is one kind in each extension that has it`() {
    func item(_ kind: String, of bundle: String = "b", _ families: [WidgetFamilyName]) -> ListGallery.Item {
      ListGallery.Item(
        bundle: bundle, widgetKind: kind, displayName: "", description: "", location: .homeScreen, families: families,
        section: .main)
    }
    let foundFamilies = SnapshotPlan.families(in: [
      item("A", [.systemMedium]), item("A", [.systemSmall, .systemMedium]), item("Lamp", [.control]),
      item("B", [.systemLarge]), item("B", of: "c", [.systemSmall]),
    ])
    #expect(
      foundFamilies == [
        kind("A"): [.systemSmall, .systemMedium], kind("Lamp"): [.control],
        kind("B", isShared: true): [.systemLarge], kind("B", of: "c", isShared: true): [.systemSmall],
      ])
    var plan = SnapshotPlan(families: foundFamilies)
    plan.choose([.control])
    #expect(plan.families == [kind("Lamp"): [.control]])
    plan = SnapshotPlan(families: [kind("A"): [.systemMedium], kind("Lamp"): [.control]])
    plan.choose([.systemSmall, .control])
    #expect(plan.families == [kind("A"): [.systemSmall], kind("Lamp"): [.control]])
  }

  @Test(.rule("PICTURE-63")) func `a file name has what distinguishes the picture`() {
    #expect(made().file == "Coffee.systemSmall-fullColor-light-large.svg")
    #expect(made(kind: "a/b", format: .png).file == "a_b.systemSmall-fullColor-light-large@2x.png")
    let name = SnapshotName(
      kind: "A", family: .systemSmall, mode: .accented, scheme: .dark, textSize: .small, locale: "ar", entry: 2)
    #expect(name.file(.png, scale: 1.5) == "A.systemSmall-accented-dark-small-ar-2@1.5x.png")
    var shared = name
    shared.bundle = "com.example.Two"
    #expect(shared.file(.svg, scale: 2) == "com.example.Two.A.systemSmall-accented-dark-small-ar-2.svg")
  }

  @Test(.rule("PICTURE-63")) func `the sheet has each picture with its size, and no script`() {
    let sheet = ContactSheet(
      pictures: [made(), made(kind: "<b>", mode: .vibrant), made(scheme: .dark)], notices: ["a & b"])
    let html = sheet.html
    #expect(html.matches(of: /<img/).count == 3 && !html.contains("<script") && !html.contains("<b>"))
    #expect(html.contains("src=\"./Coffee.systemSmall-fullColor-light-large.svg\" width=\"158\" height=\"158\""))
    #expect(html.contains("<h2>&lt;b&gt;</h2>") && html.contains("<li>a &amp; b</li>"))
    #expect(html.contains("<figure class=\"tinted\">") && html.contains("<figure class=\"dark\">"))
    #expect(html.contains("src=\"./%3Cb%3E.systemSmall"))
  }

  // MARK: Comparison

  @Test(.rule("PICTURE-64")) func `an equal document matches, and another one is named by its first line`() throws {
    let picture = made("<svg>\n<a/>\n</svg>")
    #expect(SnapshotVerdict(reference: picture.data, picture: picture, format: .svg, precision: .exact).reason == nil)
    let verdict = SnapshotVerdict(
      reference: Data("<svg>\n<b/>\n</svg>".utf8), picture: picture, format: .svg, precision: .exact)
    #expect(verdict.reason == "line 2 is \"<a/>\", and in the reference \"<b/>\"")
    let name = "Coffee.systemSmall-fullColor-light-large"
    #expect(verdict.files.map(\.name) == ["\(name).reference.svg", "\(name).new.svg", "\(name).difference.svg"])
    let difference = String(decoding: verdict.files[2].data, as: UTF8.self)
    #expect(difference.matches(of: /data:image\/svg\+xml;base64,/).count == 2)
    let shorter = SnapshotVerdict(reference: Data("<svg>".utf8), picture: picture, format: .svg, precision: .exact)
    #expect(shorter.reason == "line 2 is \"<a/>\", and in the reference no such line")
  }

  @Test(.rule("PICTURE-64")) func `a picture without a reference fails, and is written as new`() {
    let verdict = SnapshotVerdict(reference: nil, picture: made(), format: .svg, precision: .exact)
    #expect(verdict.reason == "it has no reference")
    #expect(verdict.files.map(\.name) == ["Coffee.systemSmall-fullColor-light-large.new.svg"])
  }

  @Test(.rule("PICTURE-26", "PICTURE-64")) func `PNG files match as near as the user states`() throws {
    func file(_ value: UInt32) throws -> Data { Data(try Pixels(width: 1, height: 1, values: [value]).png()) }
    var picture = made(format: .png)
    picture = SnapshotRun.Made(
      name: picture.name, file: picture.file, data: try file(0xFF80_8081), width: 1, height: 1)
    let reference = try file(0xFF80_8080)
    let exact = SnapshotVerdict(reference: reference, picture: picture, format: .png, precision: .exact)
    #expect(exact.reason?.hasPrefix("1 of 1 pixels differ") == true)
    let name = "Coffee.systemSmall-fullColor-light-large@2x"
    #expect(exact.files.map(\.name) == ["\(name).reference.png", "\(name).new.png", "\(name).difference.png"])
    let near = PixelPrecision(share: 1, perceptual: 0.98)
    #expect(SnapshotVerdict(reference: reference, picture: picture, format: .png, precision: near).reason == nil)
    let broken = SnapshotVerdict(reference: Data("none".utf8), picture: picture, format: .png, precision: near)
    #expect(broken.reason?.hasPrefix("the reference cannot be read") == true && broken.files.count == 2)
  }
}
