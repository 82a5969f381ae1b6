// SPDX-License-Identifier: Apache-2.0

import Archive
import AssetCatalogs
import UIKit

extension ArchivedValue {
  /// A colour of an asset catalog: its name, and the colours of the set by scheme and contrast, of which those that are
  /// like the first are left out. A picture chooses one. A colour that is not found has the reason.
  static func asset(_ name: BundleAssets.Name) -> ArchivedValue {
    var parts: [String: ArchivedValue] = ["asset": .string(name.name)]
    do throws(AssetFault) {
      let color = try BundleAssets.shared.color(name, for: .ofDevice)
      parts["light"] = ArchivedValue(color.light)
      for (label, own, usual) in [
        ("dark", color.dark, color.light), ("lightContrast", color.lightContrast, color.light),
        ("darkContrast", color.darkContrast, color.dark),
      ] where own != usual { parts[label] = ArchivedValue(own) }
    } catch {
      parts["problem"] = .string("\(error)")
    }
    return .record(parts)
  }

  private init(_ color: AssetColor) {
    switch color {
    case .components(let red, let green, let blue, let opacity):
      self = .record(
        ["red": .number(red), "green": .number(green), "blue": .number(blue), "opacity": .number(opacity)])
    case .system(let name): self = .string(Self.systemName(name))
    }
  }

  /// The name of a system colour as an archive has it: `blue` for `systemBlueColor`. Source: the names of `UIColor`.
  private static func systemName(_ reference: String) -> String {
    let name = reference.hasSuffix("Color") ? String(reference.dropLast(5)) : reference
    switch name {
    case "label": return "primary"
    case "secondaryLabel", "tertiaryLabel", "quaternaryLabel": return String(name.dropLast(5))
    case "systemBackground": return "background"
    default: break
    }
    guard name.hasPrefix("system"), name.count > 6 else { return name }
    let rest = name.dropFirst(6)
    return rest.prefix(1).lowercased() + rest.dropFirst()
  }
}
