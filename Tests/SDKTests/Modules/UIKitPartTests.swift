// SPDX-License-Identifier: Apache-2.0

import Archive
import CoreGraphicsAPI
import FidelityRules
import Foundation
import Testing

@testable import SwiftUI
@testable import UIKit

@MainActor @Suite(.timeLimit(.minutes(1))) struct `Parts of UIKit and CoreGraphics` {
  @Test func `transforms are combined and inverted`() {
    let transform = CGAffineTransform(translationX: 10, y: 0).rotated(by: .pi / 2).scaledBy(x: 2, y: 2)
    let point = CGPoint(x: 1, y: 0).applying(transform)
    #expect(abs(point.x - 10) < 1e-9 && abs(point.y - 2) < 1e-9)
    let back = point.applying(transform.inverted())
    #expect(abs(back.x - 1) < 1e-9 && abs(back.y) < 1e-9)
  }

  @Test func `a dynamic colour follows the appearance of its view`() throws {
    let color = UIColor { $0.userInterfaceStyle == .dark ? .white : .black }
    struct Shown: View {
      let color: UIColor
      var body: some View { Color(uiColor: color) }
    }
    var environment = EnvironmentValues()
    #expect(try Shown(color: color).archived(in: environment).arguments[.color] == "black")
    environment.colorScheme = .dark
    #expect(try Shown(color: color).archived(in: environment).arguments[.color] == "white")
  }

  @Test func `a colour gives its components, and comes from one of SwiftUI and CoreGraphics`() {
    var (red, alpha): (CGFloat, CGFloat) = (0, 0)
    #expect(UIColor(red: 0.5, green: 0, blue: 0, alpha: 0.25).getRed(&red, green: nil, blue: nil, alpha: &alpha))
    #expect(red == 0.5 && alpha == 0.25)
    #expect(!UIColor.systemBlue.getRed(&red, green: nil, blue: nil, alpha: nil))
    #expect(UIColor(Color(red: 0.1, green: 0.2, blue: 0.3)).cgColor.components == [0.1, 0.2, 0.3, 1])
    #expect(UIColor(cgColor: CGColor(gray: 0.5, alpha: 1)) == UIColor(white: 0.5, alpha: 1))
  }

  /// With the names that `SystemColors` draws: `PICTURE-04`.
  @Test(
    .rule("PICTURE-04"),
    arguments: [
      (UIColor.systemRed, "red"), (.systemMint, "mint"), (.systemGray, "gray"), (.systemGray6, "gray6"),
      (.label, "primary"), (.secondaryLabel, "secondary"), (.placeholderText, "placeholderText"), (.link, "link"),
      (.systemBackground, "background"), (.systemGroupedBackground, "groupedBackground"),
      (.secondarySystemBackground, "secondarySystemBackground"), (.systemFill, "fill"),
      (.quaternarySystemFill, "quaternarySystemFill"), (.tintColor, "tint"), (.darkText, "black"),
      (UIColor(Color.red), "red"),
    ])
  func `a colour of the system has its name in the archive`(color: UIColor, name: String) {
    #expect(Color(uiColor: color).archived == .string(name))
  }

  @Test func `UIKit's fixed colours are not those of the system`() {
    #expect(Color(uiColor: .red) == Color(red: 1, green: 0, blue: 0) && Color(uiColor: .red) != .red)
    #expect(Color(uiColor: .magenta) == Color(red: 1, green: 0, blue: 1))
    #expect(Color(uiColor: .lightText) == Color.white.opacity(0.6))
  }

  @Test func `a font of UIKit is one of SwiftUI, and scales by the text size`() {
    #expect(Font(UIFont.systemFont(ofSize: 20, weight: .bold)) == Font.system(size: 20, weight: .bold))
    #expect(Font(UIFont(name: "Avenir", size: 12)!) == .custom("Avenir", fixedSize: 12))
    let large = UITraitCollection(preferredContentSizeCategory: .accessibilityExtraExtraExtraLarge)
    #expect(UIFontMetrics.default.scaledValue(for: 17, compatibleWith: large) == 53)
    #expect(UIFont.preferredFont(forTextStyle: .caption1).pointSize == 12)
  }

  @Test func `the size of a text is estimated by its characters and the font`() {
    let font = UIFont.systemFont(ofSize: 10)
    let size = ("12 Wi" as NSString).size(withAttributes: [.font: font])
    #expect(abs(size.width - 27.8) < 1e-9 && size.height == font.lineHeight)
    #expect(("漢\n" as NSString).size().height == 2 * UIFont.systemFont(ofSize: 12).lineHeight)
    #expect(("漢" as NSString).size().width == 12)
  }

  @Test func `an empty image has no size and no bytes, and shows nothing`() throws {
    let image = UIImage()
    #expect(image.size == .zero && image.scale == 1)
    #expect(image.pngData() == nil && image.jpegData(compressionQuality: 1) == nil && image.cgImage == nil)
    let archive = try Image(uiImage: image).archived(in: EnvironmentValues())
    #expect(archive.arguments == [.pixelWidth: 0, .pixelHeight: 0, .problem: "it is an empty UIImage"])
  }

  /// The bytes of a font with only a table of names.
  ///
  /// - Parameter names: by their identifiers, for the platform of Windows.
  private func font(_ names: [(identifier: Int, text: String)]) -> Data {
    func big(_ value: Int, _ count: Int) -> Data {
      Data((0..<count).reversed().map { UInt8(value >> (8 * $0) & 0xFF) })
    }
    var records = Data()
    var storage = Data()
    for name in names {
      let text = name.text.data(using: .utf16BigEndian) ?? Data()
      for field in [3, 1, 0x0409, name.identifier, text.count, storage.count] { records += big(field, 2) }
      storage += text
    }
    let table = [big(0, 2), big(names.count, 2), big(6 + records.count, 2), records, storage].reduce(Data(), +)
    let header = [big(0x0001_0000, 4), big(1, 2), big(0, 6), Data("name".utf8)].reduce(Data(), +)
    return [header, big(0, 4), big(28, 4), big(table.count, 4), table].reduce(Data(), +)
  }

  @Test func `the fonts that a bundle registers have the names of their files`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "fonts-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = [
      "a.ttf": font([(1, "Roboto"), (6, "Roboto-Regular")]),
      "b.ttf": font([(1, "Roboto Black"), (16, "Roboto"), (6, "Roboto-Black")]),
      "c.ttf": font([(1, "Roboto"), (6, "Roboto-Regular")]).dropLast(8), "d.ttf": Data("text".utf8),
    ]
    for (name, data) in files { try data.write(to: folder.appending(path: name)) }
    let fonts = BundleFonts(files.keys.sorted() + ["missing.ttf"], in: folder)
    #expect(fonts.families == ["Roboto": ["Roboto-Black", "Roboto-Regular"]])
    let registered = RegisteredFonts()
    let first = folder.appending(path: "a.ttf")
    #expect(try registered.register(first).get() && !registered.register(first).get())
    #expect(registered.families == ["Roboto": ["Roboto-Regular"]])
    #expect(registered.register(folder.appending(path: "missing.ttf")) == .failure(.missing))
    #expect(registered.register(folder.appending(path: "d.ttf")) == .failure(.damaged))
    #expect(registered.unregister(first) && !registered.unregister(first) && registered.families.isEmpty)
    // The tests register none.
    #expect(UIFont.familyNames.isEmpty && UIFont.fontNames(forFamilyName: "Roboto").isEmpty)
  }

  @Test(arguments: [
    (0, "", CGImageAlphaInfo.none), (2, "", .noneSkipLast), (3, "", .noneSkipLast), (3, "tRNS", .last), (6, "", .last),
  ])
  func `a PNG file says whether its image has an alpha channel`(type: UInt8, chunk: String, expected: CGImageAlphaInfo)
  {
    let header: [UInt8] = [0x89, 0x50, 0x4E, 0x47] + Array(repeating: 0, count: 21) + [type]
    let image = CGImage(width: 1, height: 1, file: Data(header) + Data(chunk.utf8))
    #expect(image.alphaInfo == expected)
  }

  @Test func `a path of UIKit is one of SwiftUI`() {
    let path = Path(UIBezierPath(roundedRect: CGRect(x: 0, y: 0, width: 10, height: 10), cornerRadius: 2).cgPath)
    #expect(path.elements.count == 10)
    #expect(UIBezierPath(ovalIn: CGRect(x: 0, y: 0, width: 4, height: 4)).bounds.width == 4)
  }

  @Test func `an image from the network shows its placeholder`() throws {
    let url = URL(string: "https://example.com/a.png")
    let view = AsyncImage(url: url) {
      $0.resizable()
    } placeholder: {
      Text(verbatim: "waiting")
    }
    #expect(try view.archived(in: EnvironmentValues()).lines == ["waiting"])
    let phases = AsyncImage(url: url) { phase in Text(verbatim: phase.image == nil ? "none" : "there") }
    #expect(try phases.archived(in: EnvironmentValues()).lines == ["none"])
  }

  @Test func `a timeline view is archived at the last date of its schedule`() throws {
    let dates = [Date(timeIntervalSince1970: 60)]
    let view = TimelineView(.explicit(dates)) { context in Text(verbatim: "\(context.date.timeIntervalSince1970)") }
    #expect(try view.archived(in: EnvironmentValues()).lines == ["60.0"])
  }

  @Test func `a group box has its label above its content, in a rounded rectangle`() throws {
    let box = GroupBox("Today") { Text(verbatim: "12 cups") }
    let archive = try box.archived(in: EnvironmentValues())
    #expect(archive.lines == ["Today", "12 cups"])
    #expect(!archive.all { $0.name == .container(.vStack) }.isEmpty)
    #expect(!archive.all { view in view.modifiers.contains { $0.name == .layer(.background) } }.isEmpty)
    #expect(try GroupBox { Text(verbatim: "a") }.archived(in: EnvironmentValues()).lines == ["a"])
    #expect(try GroupBox(label: Text(verbatim: "b")) { EmptyView() }.archived(in: EnvironmentValues()).lines == ["b"])
  }

  @Test func `views of an app and of UIKit are drawn as what a widget cannot show`() throws {
    struct Map: UIViewRepresentable {
      func makeUIView(context: Context) -> UIView { UIView() }
      func updateUIView(_ uiView: UIView, context: Context) {}
    }
    #expect(try Map().archived(in: EnvironmentValues()).name == .leaf(.unsupportedView))
    let picker = Picker("Unit", selection: .constant(1)) { Text("one").tag(1) }.pickerStyle(.segmented)
    #expect(try picker.archived(in: EnvironmentValues()).name == .leaf(.unsupportedView))
  }

  @Test func `the size category follows the text size`() {
    var environment = EnvironmentValues()
    environment.dynamicTypeSize = .accessibility1
    #expect(environment.sizeCategory == .accessibilityMedium)
    #expect(environment.sizeCategory.isAccessibilityCategory)
  }
}
