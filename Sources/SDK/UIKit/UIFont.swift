// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization

/// A font. Source: `UIKit.UIFont`. The metrics are those of Apple's system font, whatever the name.
public final class UIFont: NSObject, Sendable {
  /// Source: `UIKit.UIFont.Weight`.
  public struct Weight: Hashable, RawRepresentable, Sendable {
    public let rawValue: CGFloat
    public init(rawValue: CGFloat) { self.rawValue = rawValue }
    public static let ultraLight = Weight(rawValue: -0.8), thin = Weight(rawValue: -0.6),
      light = Weight(rawValue: -0.4),
      regular = Weight(rawValue: 0), medium = Weight(rawValue: 0.23), semibold = Weight(rawValue: 0.3),
      bold = Weight(rawValue: 0.4), heavy = Weight(rawValue: 0.56), black = Weight(rawValue: 0.62)
  }

  /// Source: `UIKit.UIFont.TextStyle`.
  public struct TextStyle: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let largeTitle = TextStyle(rawValue: "UICTFontTextStyleTitle0"),
      title1 = TextStyle(rawValue: "UICTFontTextStyleTitle1"), title2 = TextStyle(rawValue: "UICTFontTextStyleTitle2"),
      title3 = TextStyle(rawValue: "UICTFontTextStyleTitle3"),
      headline = TextStyle(rawValue: "UICTFontTextStyleHeadline"),
      subheadline = TextStyle(rawValue: "UICTFontTextStyleSubhead"),
      body = TextStyle(rawValue: "UICTFontTextStyleBody"),
      callout = TextStyle(rawValue: "UICTFontTextStyleCallout"),
      footnote = TextStyle(rawValue: "UICTFontTextStyleFootnote"),
      caption1 = TextStyle(rawValue: "UICTFontTextStyleCaption1"),
      caption2 = TextStyle(rawValue: "UICTFontTextStyleCaption2")

    /// In points, with the text size `large`. Source: Human Interface Guidelines, *Typography*.
    var size: CGFloat {
      switch self {
      case .largeTitle: 34
      case .title1: 28
      case .title2: 22
      case .title3: 20
      case .callout: 16
      case .subheadline: 15
      case .footnote: 13
      case .caption1: 12
      case .caption2: 11
      default: 17
      }
    }
  }

  /// The form of the letters.
  package enum Design: String, Sendable {
    case standard, monospaced, monospacedDigit, italic
  }

  public let pointSize: CGFloat
  public let fontName: String
  package let weight: Weight
  package let design: Design
  /// The name of a font of the author; `nil` for the system's.
  package let ownName: String?

  private init(_ size: CGFloat, weight: Weight, design: Design = .standard, named name: String? = nil) {
    pointSize = size
    self.weight = weight
    self.design = design
    ownName = name
    fontName = name ?? ".SFUI-Regular"
  }

  public convenience init?(name fontName: String, size fontSize: CGFloat) {
    guard !fontName.isEmpty else { return nil }
    self.init(fontSize, weight: .regular, named: fontName)
  }

  /// The families of the fonts that the bundle registers with `UIAppFonts`, and that the process registers. The families
  /// of iOS do not exist here.
  public static var familyNames: [String] {
    Set(BundleFonts.main.families.keys).union(RegisteredFonts.shared.families.keys).sorted()
  }
  public static func fontNames(forFamilyName familyName: String) -> [String] {
    let bundled = BundleFonts.main.families[familyName] ?? []
    return Set(bundled).union(RegisteredFonts.shared.families[familyName] ?? []).sorted()
  }

  public static var systemFontSize: CGFloat { 14 }
  public static var smallSystemFontSize: CGFloat { 12 }
  public static var labelFontSize: CGFloat { 17 }

  public static func systemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(fontSize, weight: .regular) }
  public static func systemFont(ofSize fontSize: CGFloat, weight: Weight) -> UIFont { UIFont(fontSize, weight: weight) }
  public static func boldSystemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(fontSize, weight: .semibold) }
  public static func italicSystemFont(ofSize fontSize: CGFloat) -> UIFont {
    UIFont(fontSize, weight: .regular, design: .italic)
  }
  public static func monospacedSystemFont(ofSize fontSize: CGFloat, weight: Weight) -> UIFont {
    UIFont(fontSize, weight: weight, design: .monospaced)
  }
  public static func monospacedDigitSystemFont(ofSize fontSize: CGFloat, weight: Weight) -> UIFont {
    UIFont(fontSize, weight: weight, design: .monospacedDigit)
  }
  public static func preferredFont(forTextStyle style: TextStyle) -> UIFont {
    preferredFont(forTextStyle: style, compatibleWith: nil)
  }
  public static func preferredFont(
    forTextStyle style: TextStyle, compatibleWith traitCollection: UITraitCollection?
  ) -> UIFont {
    let size = UIFontMetrics(forTextStyle: style).scaledValue(for: style.size, compatibleWith: traitCollection)
    return UIFont(size, weight: style == .headline ? .semibold : .regular)
  }

  public func withSize(_ fontSize: CGFloat) -> UIFont {
    UIFont(fontSize, weight: weight, design: design, named: ownName)
  }

  public var familyName: String { ownName ?? ".AppleSystemUIFont" }
  public var ascender: CGFloat { pointSize * 0.952 }
  public var descender: CGFloat { pointSize * -0.241 }
  public var capHeight: CGFloat { pointSize * 0.705 }
  public var xHeight: CGFloat { pointSize * 0.526 }
  public var leading: CGFloat { 0 }
  public var lineHeight: CGFloat { pointSize * 1.193 }
}

/// Scales sizes by the user's text size. Source: `UIKit.UIFontMetrics`. All styles scale like `body`.
public final class UIFontMetrics: NSObject, Sendable {
  private let style: UIFont.TextStyle

  public init(forTextStyle textStyle: UIFont.TextStyle) { style = textStyle }
  public static let `default` = UIFontMetrics(forTextStyle: .body)

  /// The size of `body` by the text size. Source: Human Interface Guidelines, *Typography*.
  private static let sizes: [CGFloat] = [14, 15, 16, 17, 19, 21, 23, 28, 33, 40, 47, 53]

  public func scaledValue(for value: CGFloat) -> CGFloat { scaledValue(for: value, compatibleWith: nil) }
  public func scaledValue(for value: CGFloat, compatibleWith traitCollection: UITraitCollection?) -> CGFloat {
    let category = (traitCollection ?? .current).preferredContentSizeCategory
    let size = UIContentSizeCategory.all.firstIndex(of: category).map { Self.sizes[$0] } ?? 17
    return value * size / 17
  }
  public func scaledFont(for font: UIFont) -> UIFont { font.withSize(scaledValue(for: font.pointSize)) }
  public func scaledFont(for font: UIFont, maximumPointSize: CGFloat) -> UIFont {
    font.withSize(min(maximumPointSize, scaledValue(for: font.pointSize)))
  }
}

/// The fonts that the process registers itself.
package final class RegisteredFonts: Sendable {
  /// Why a file cannot be registered. Definite.
  package enum Fault: Error {
    /// There is no such file.
    case missing
    /// It is not a font file.
    case damaged
  }

  /// Those of this process.
  package static let shared = RegisteredFonts()

  private let files = Mutex<[String: [FontNames]]>([:])

  package init() {}

  /// - Returns: whether the file was not registered before.
  package func register(_ file: URL) -> Result<Bool, Fault> {
    guard let data = try? Data(contentsOf: file, options: .mappedIfSafe) else { return .failure(.missing) }
    let fonts = FontNames.all(in: data)
    guard !fonts.isEmpty else { return .failure(.damaged) }
    return .success(files.withLock { $0.updateValue(fonts, forKey: file.standardizedFileURL.path) } == nil)
  }

  /// - Returns: whether the file was registered.
  package func unregister(_ file: URL) -> Bool {
    files.withLock { $0.removeValue(forKey: file.standardizedFileURL.path) } != nil
  }

  /// The names of fonts by their family.
  var families: [String: [String]] {
    let fonts = Set(files.withLock { $0.values.joined() })
    return Dictionary(grouping: fonts, by: \.family).mapValues { $0.map(\.name).sorted() }
  }
}

/// The fonts that a bundle registers with `UIAppFonts` of its `Info.plist`.
struct BundleFonts: Sendable {
  /// Those of this process.
  static let main = BundleFonts(
    Bundle.main.object(forInfoDictionaryKey: "UIAppFonts") as? [String] ?? [],
    in: Bundle.main.resourceURL ?? Bundle.main.bundleURL)

  /// The names of fonts by their family.
  let families: [String: [String]]

  /// Reads the names of fonts. A file that is missing or damaged registers nothing, as on a phone.
  ///
  /// - Parameters:
  ///   - files: relative to the folder.
  ///   - folder: that of the bundle's resources.
  init(_ files: [String], in folder: URL) {
    var families: [String: [String]] = [:]
    for file in files {
      guard let data = try? Data(contentsOf: folder.appendingPathComponent(file), options: .mappedIfSafe) else {
        continue
      }
      for font in FontNames.all(in: data) where families[font.family]?.contains(font.name) != true {
        families[font.family, default: []].append(font.name)
      }
    }
    self.families = families.mapValues { $0.sorted() }
  }
}

/// The names in a font file. Source: *OpenType Specification*, *The OpenType Font File* and *name — Naming Table*.
struct FontNames: Hashable {
  var family: String
  /// The name for PostScript, which `UIFont.init(name:size:)` takes.
  var name: String

  /// The names of each font of a file: one, or those of a collection. Empty for other files.
  static func all(in data: Data) -> [FontNames] {
    let bytes = FontBytes(data: data)
    guard bytes.number(at: 0, 4) == 0x7474_6366 else { return [FontNames(bytes, at: 0)].compactMap(\.self) }
    // `ttcf`, a collection.
    let count = min(bytes.number(at: 8, 4) ?? 0, 256)
    return (0..<count).compactMap { index in
      bytes.number(at: 12 + 4 * index, 4).flatMap { FontNames(bytes, at: $0) }
    }
  }

  /// - Parameter start: of the font in its file.
  private init?(_ bytes: FontBytes, at start: Int) {
    guard let version = bytes.number(at: start, 4), [0x0001_0000, 0x4F54_544F, 0x7472_7565].contains(version),
      let count = bytes.number(at: start + 4, 2)
    else { return nil }
    let records = (0..<count).map { start + 12 + 16 * $0 }
    guard let record = records.first(where: { bytes.number(at: $0, 4) == 0x6E61_6D65 }),
      let table = bytes.number(at: record + 8, 4)
    else { return nil }
    // The typographic family, or else that of four styles.
    guard let family = Self.text(16, in: bytes, table: table) ?? Self.text(1, in: bytes, table: table),
      let name = Self.text(6, in: bytes, table: table)
    else { return nil }
    self.family = family
    self.name = name
  }

  /// A name in English, or else the first one.
  ///
  /// - Parameter table: the place of the table `name`.
  private static func text(_ identifier: Int, in bytes: FontBytes, table: Int) -> String? {
    guard let count = bytes.number(at: table + 2, 2), let storage = bytes.number(at: table + 4, 2) else { return nil }
    var foundName: String?
    for record in (0..<count).map({ table + 6 + 12 * $0 }) where bytes.number(at: record + 6, 2) == identifier {
      guard let platform = bytes.number(at: record, 2), let language = bytes.number(at: record + 4, 2),
        let length = bytes.number(at: record + 8, 2), let offset = bytes.number(at: record + 10, 2),
        let text = bytes.text(at: table + storage + offset, length, isWide: platform != 1), !text.isEmpty
      else { continue }
      if [0, 0x0409].contains(language) { return text }
      foundName = foundName ?? text
    }
    return foundName
  }
}

/// The bytes of a font file, which may be cut off anywhere.
private struct FontBytes {
  let data: Data

  /// A number with its high byte first; `nil` beyond the end.
  func number(at index: Int, _ count: Int) -> Int? {
    guard index >= 0, index <= data.count - count else { return nil }
    return (0..<count).reduce(0) { $0 << 8 | Int(data[data.startIndex + index + $1]) }
  }

  /// - Parameter isWide: whether its characters have two bytes.
  func text(at index: Int, _ length: Int, isWide: Bool) -> String? {
    guard index >= 0, length <= data.count - index else { return nil }
    let bytes = data.dropFirst(index).prefix(length)
    return String(bytes: bytes, encoding: isWide ? .utf16BigEndian : .macOSRoman)
  }
}
