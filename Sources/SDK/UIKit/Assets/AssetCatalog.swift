// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// A folder `NAME.xcassets` as Xcode stores it. Sets are found when the catalog is opened; a set is read when it is
/// used. Nothing is written. Links are followed, and limits bound the time for a folder that contains itself.
package struct AssetCatalog: Sendable {
  /// The kinds of sets that can be used, by the extension of their folders.
  package enum Kind: String, Sendable {
    case image = "imageset"
    case color = "colorset"
    case symbol = "symbolset"
  }

  /// One file of an image set or a symbol set.
  package struct Image: Hashable, Sendable {
    package let file: URL
    /// Whether the file is the template of a custom symbol.
    package let isSymbol: Bool
    /// Pixels per point; `nil`: one file for all scales.
    package let scale: Double?
    /// Whether the set has another file for the other colour scheme, so that a picture depends on it.
    package let dependsOnScheme: Bool
    /// `template` or `original`; `nil`: not given.
    package let renderingIntent: String?

    package init(
      file: URL, isSymbol: Bool = false, scale: Double?, dependsOnScheme: Bool = false, renderingIntent: String? = nil
    ) {
      self.file = file
      self.isSymbol = isSymbol
      self.scale = scale
      self.dependsOnScheme = dependsOnScheme
      self.renderingIntent = renderingIntent
    }
  }

  /// The colours of a colour set, by scheme and contrast; a colour that the set does not have is that of the nearest one.
  package struct Color: Hashable, Sendable {
    package let light: AssetColor
    package let dark: AssetColor
    package let lightContrast: AssetColor
    package let darkContrast: AssetColor
  }

  /// The most folders of a catalog that are opened.
  private static let folders = 20_000
  private static let depth = 32

  private var sets: [Key: URL] = [:]
  /// Whether the catalog has more folders than are opened.
  package private(set) var isIncomplete = false

  private struct Key: Hashable {
    let kind: Kind
    let name: String
  }

  /// - Parameter folder: the folder of the catalog; a folder that cannot be read has no sets.
  package init(_ folder: URL) {
    var left: [(folder: URL, prefix: String, depth: Int)] = [(folder, "", 0)]
    var opened = 0
    while let (folder, prefix, depth) = left.popLast() {
      opened += 1
      guard opened <= Self.folders, depth <= Self.depth else {
        isIncomplete = true
        continue
      }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      for name in names.sorted(by: >) where !name.hasPrefix(".") {
        let path = folder.appendingPathComponent(name)
        let fileExtension = path.pathExtension
        if let kind = Kind(rawValue: fileExtension) {
          sets[Key(kind: kind, name: prefix + path.deletingPathExtension().lastPathComponent)] = path
        } else if fileExtension.isEmpty, Self.isFolder(path) {
          left.append((path, Self.hasNamespace(path) ? "\(prefix)\(name)/" : prefix, depth + 1))
        }
      }
    }
  }

  /// Whether it has a set.
  package func has(_ kind: Kind, _ name: String) -> Bool { sets[Key(kind: kind, name: name)] != nil }

  /// The file of an image set or a symbol set for a device.
  ///
  /// - Throws: `AssetFault`.
  package func image(
    _ name: String, _ kind: Kind = .image, for traits: AssetTraits
  ) throws(AssetFault) -> Image {
    let (folder, contents) = try contents(kind, name)
    guard let file = contents.files.best(for: traits, \.slot) else { throw .noVariant }
    var other = traits
    other.isDark.toggle()
    let counterpart = contents.files.best(for: other, \.slot)
    return Image(
      file: folder.appendingPathComponent(file.name), isSymbol: kind == .symbol, scale: file.slot.scale,
      dependsOnScheme: counterpart?.name != file.name, renderingIntent: contents.renderingIntent)
  }

  /// The colours of a colour set for a device.
  ///
  /// - Parameter traits: of which only the idiom counts.
  /// - Throws: `AssetFault`.
  package func color(_ name: String, for traits: AssetTraits = AssetTraits()) throws(AssetFault) -> Color {
    let (_, contents) = try contents(.color, name)
    func color(isDark: Bool, hasIncreasedContrast: Bool) throws(AssetFault) -> AssetColor {
      var traits = traits
      traits.isDark = isDark
      traits.hasIncreasedContrast = hasIncreasedContrast
      guard let variant = contents.colors.best(for: traits, \.slot) else { throw .noVariant }
      return variant.color
    }
    return Color(
      light: try color(isDark: false, hasIncreasedContrast: false),
      dark: try color(isDark: true, hasIncreasedContrast: false),
      lightContrast: try color(isDark: false, hasIncreasedContrast: true),
      darkContrast: try color(isDark: true, hasIncreasedContrast: true))
  }

  private func contents(_ kind: Kind, _ name: String) throws(AssetFault) -> (URL, SetContents) {
    guard let folder = sets[Key(kind: kind, name: name)] else { throw .missing }
    let data: Data
    do {
      data = try BoundedFile.read(folder.appendingPathComponent("Contents.json"), limit: SetContents.limit)
    } catch {
      throw .contents("\(error)")
    }
    return (folder, try SetContents(data))
  }

  private static func isFolder(_ path: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path.path, isDirectory: &isFolder) && isFolder.boolValue
  }

  /// Whether the names of a group's assets begin with that of the group. Source: "Asset Catalog Format Reference",
  /// Folders and Namespaces.
  private static func hasNamespace(_ folder: URL) -> Bool {
    let file = folder.appendingPathComponent("Contents.json")
    guard let data = try? BoundedFile.read(file, limit: SetContents.limit),
      let keys = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return false }
    return (keys["properties"] as? [String: Any])?["provides-namespace"] as? Bool ?? false
  }
}

/// The `Contents.json` of an image set, a colour set or a symbol set. Source: "Asset Catalog Format Reference".
package struct SetContents: Sendable {
  /// One file of an image set or a symbol set.
  struct File: Sendable {
    var name: String
    var slot: AssetSlot
  }

  /// One colour of a colour set.
  struct Variant: Sendable {
    var color: AssetColor
    var slot: AssetSlot
  }

  /// `template` or `original`: `template-rendering-intent`.
  package private(set) var renderingIntent: String?
  private(set) var files: [File] = []
  private(set) var colors: [Variant] = []

  /// The longest file that is read, in bytes.
  static let limit = 1 << 20
  /// The most entries that are read.
  private static let entries = 1000

  /// - Throws: `AssetFault.contents`.
  package init(_ data: Data) throws(AssetFault) {
    guard let json = try? JSONSerialization.jsonObject(with: data), let keys = json as? [String: Any] else {
      throw .contents("it is not a JSON object")
    }
    renderingIntent = (keys["properties"] as? [String: Any])?["template-rendering-intent"] as? String
    // An entry without a file or a colour is an empty place of Xcode's editor.
    for entry in (keys["images"] as? [Any] ?? keys["symbols"] as? [Any] ?? []).prefix(Self.entries) {
      guard let entry = entry as? [String: Any] else { throw .contents("an entry is not an object") }
      guard let name = entry["filename"] as? String, !name.isEmpty else { continue }
      guard !name.contains("/"), name != "..", name != ".", !name.contains("\0") else {
        throw .contents("\"\(name.prefix(80))\" is not the name of a file")
      }
      files.append(File(name: name, slot: try AssetSlot(entry)))
    }
    for entry in (keys["colors"] as? [Any] ?? []).prefix(Self.entries) {
      guard let entry = entry as? [String: Any] else { throw .contents("an entry is not an object") }
      guard let color = entry["color"] as? [String: Any] else { continue }
      colors.append(Variant(color: try AssetColor(color), slot: try AssetSlot(entry)))
    }
  }
}

extension AssetSlot {
  /// - Throws: `AssetFault.contents`.
  fileprivate init(_ entry: [String: Any]) throws(AssetFault) {
    idiom = entry["idiom"] as? String ?? idiom
    if let text = entry["scale"] as? String {
      guard text.hasSuffix("x"), let number = Double(text.dropLast()), number >= 1, number <= 10 else {
        throw .contents("\"\(text.prefix(20))\" is not a scale")
      }
      scale = number
    }
    direction = entry["language-direction"] as? String
    isWideGamut = (entry["display-gamut"] as? String)?.lowercased() == "display-p3"
    for appearance in entry["appearances"] as? [[String: Any]] ?? [] {
      let value = appearance["value"] as? String
      switch appearance["appearance"] as? String {
      case "luminosity": luminosity = value
      case "contrast": isHighContrast = value == "high"
      default: throw .contents("the appearance \(appearance["appearance"] ?? "") is not known")
      }
    }
  }
}

/// The device and the appearance for which a variant of an asset is chosen.
package struct AssetTraits: Hashable, Sendable {
  package var isPad: Bool
  /// Pixels per point.
  package var scale: Double
  package var isDark: Bool
  package var hasIncreasedContrast: Bool
  package var isRightToLeft: Bool

  package init(
    isPad: Bool = false, scale: Double = 3, isDark: Bool = false, hasIncreasedContrast: Bool = false,
    isRightToLeft: Bool = false
  ) {
    self.isPad = isPad
    self.scale = scale
    self.isDark = isDark
    self.hasIncreasedContrast = hasIncreasedContrast
    self.isRightToLeft = isRightToLeft
  }
}

/// What one entry of a `Contents.json` is made for. Source: "Asset Catalog Format Reference", Image Set Type.
struct AssetSlot: Hashable, Sendable {
  var idiom = "universal"
  /// Pixels per point; `nil`: one file for all scales.
  var scale: Double?
  /// `luminosity`: `light`, `dark` or `tinted`; `nil` for any.
  var luminosity: String?
  var isHighContrast = false
  /// `left-to-right` or `right-to-left`; `nil` for both.
  var direction: String?
  var isWideGamut = false

  /// How well the slot suits a device, higher values first; `nil` if it is for another device or appearance.
  ///
  /// The order is ours, since Apple's compiler decides it: the idiom, then the appearance with the scheme before the
  /// contrast, then the direction, then the gamut of the picture.
  func rank(for traits: AssetTraits) -> [Int]? {
    guard idiom == "universal" || idiom == (traits.isPad ? "ipad" : "iphone") else { return nil }
    if let luminosity, luminosity != (traits.isDark ? "dark" : "light") { return nil }
    if isHighContrast, !traits.hasIncreasedContrast { return nil }
    if let direction, direction != (traits.isRightToLeft ? "right-to-left" : "left-to-right") { return nil }
    return [idiom == "universal" ? 0 : 1, luminosity == nil ? 0 : 1, isHighContrast ? 1 : 0, direction == nil ? 0 : 1]
      + [isWideGamut ? 0 : 1]
  }

  /// How well the scale suits a device, higher values first: the device's own, then the next larger one, then the
  /// largest.
  func scaleRank(for traits: AssetTraits) -> Double {
    guard let scale else { return 0 }
    return scale >= traits.scale ? 1000 - (scale - traits.scale) : scale
  }
}

extension Sequence {
  /// The element whose slot suits a device best; of equal ones the first.
  func best(for traits: AssetTraits, _ slot: (Element) -> AssetSlot) -> Element? {
    var best: (element: Element, rank: [Int], scale: Double)?
    for element in self {
      let own = slot(element)
      guard let rank = own.rank(for: traits) else { continue }
      let scale = own.scaleRank(for: traits)
      if let best, !best.rank.lexicographicallyPrecedes(rank), best.rank != rank || best.scale >= scale { continue }
      best = (element, rank, scale)
    }
    return best?.element
  }
}

/// A colour of a colour set.
package enum AssetColor: Hashable, Sendable {
  /// Components of sRGB, from 0 to 1.
  case components(red: Double, green: Double, blue: Double, opacity: Double)
  /// A colour of the system, such as `systemBlueColor`.
  case system(String)

  /// - Throws: `AssetFault.contents`.
  init(_ color: [String: Any]) throws(AssetFault) {
    if let reference = color["reference"] as? String {
      self = .system(reference)
      return
    }
    guard let parts = color["components"] as? [String: Any] else { throw .contents("a colour has no components") }
    func part(_ name: String) throws(AssetFault) -> Double {
      guard let value = parts[name].flatMap(Self.number) else { throw .contents("a colour has no \(name)") }
      return value
    }
    let space = color["color-space"] as? String ?? "srgb"
    let opacity = min(max(parts["alpha"].flatMap(Self.number) ?? 1, 0), 1)
    var rgb: [Double]
    switch space {
    case "gray-gamma-22", "extended-gray": rgb = Array(repeating: try part("white"), count: 3)
    case "srgb", "extended-srgb": rgb = [try part("red"), try part("green"), try part("blue")]
    case "extended-linear-srgb":
      rgb = [try part("red"), try part("green"), try part("blue")].map(Self.encoded)
    case "display-p3": rgb = Self.fromP3([try part("red"), try part("green"), try part("blue")])
    default: throw .contents("the colour space \(space.prefix(40)) is not known")
    }
    rgb = rgb.map { min(max($0, 0), 1) }
    self = .components(red: rgb[0], green: rgb[1], blue: rgb[2], opacity: opacity)
  }

  /// A component in one of Xcode's three notations: `0.5`, `0x7F` and `127`. A JSON number is from 0 to 1.
  private static func number(_ value: Any) -> Double? {
    let number: Double?
    if let text = value as? String {
      if text.hasPrefix("0x") || text.hasPrefix("0X") {
        number = Int(text.dropFirst(2), radix: 16).map { Double($0) / 255 }
      } else if text.contains(".") {
        number = Double(text)
      } else {
        number = Int(text).map { Double($0) / 255 }
      }
    } else {
      number = (value as? NSNumber)?.doubleValue
    }
    return number.flatMap { $0.isFinite ? $0 : nil }
  }

  /// The gamma of sRGB, which is also that of Display P3. Source: IEC 61966-2-1.
  private static func encoded(_ value: Double) -> Double {
    value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
  }

  private static func decoded(_ value: Double) -> Double {
    value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  /// The nearest colour of sRGB, component by component. Source: the primaries of Display P3 and sRGB, white D65.
  private static func fromP3(_ parts: [Double]) -> [Double] {
    let linear = parts.map { decoded(max(0, $0)) }
    let rows = [[1.2249401, -0.2249404, 0], [-0.0420569, 1.0420571, 0], [-0.0196376, -0.0786361, 1.0982735]]
    return rows.map { row in encoded(max(0, row[0] * linear[0] + row[1] * linear[1] + row[2] * linear[2])) }
  }
}

/// Why an asset of a catalog cannot be used. Definite.
package enum AssetFault: Error, Hashable, CustomStringConvertible {
  /// No catalog has an asset of this kind and name.
  case missing
  /// The set is there, and its `Contents.json` cannot be used, for this reason.
  case contents(String)
  /// The set has no file or colour for this device.
  case noVariant
  /// The file of a variant cannot be used, for this reason.
  case file(String, reason: String)

  package var description: String {
    switch self {
    case .missing: "no asset catalog of the bundle has it"
    case .contents(let reason): "its Contents.json cannot be used: \(reason)"
    case .noVariant: "its set has nothing for this device"
    case .file(let name, let reason): "\(name) cannot be used: \(reason)"
    }
  }
}
