// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation
import UIKit

/// Source: `SwiftUI.Color`. As a view, it fills the space that it is offered.
nonisolated public struct Color: Hashable, Sendable, CustomStringConvertible {
  let value: ArchivedValue

  private init(value: ArchivedValue) { self.value = value }

  /// A colour that was archived.
  package init(archived value: ArchivedValue) { self.value = value }

  /// Source: `SwiftUI.Color.RGBColorSpace`.
  public enum RGBColorSpace: Hashable, Sendable, NamedArgument {
    case sRGB, sRGBLinear, displayP3
  }

  /// The components are from 0 to 1.
  public init(
    _ colorSpace: Color.RGBColorSpace = .sRGB, red: Double, green: Double, blue: Double, opacity: Double = 1
  ) {
    var parts: ArchivedArguments = [
      .red: red.archived, .green: green.archived, .blue: blue.archived, .opacity: opacity.archived,
    ]
    if colorSpace != .sRGB { parts[.space] = colorSpace.archived }
    value = .record(parts)
  }

  /// `white` is from 0 to 1.
  public init(_ colorSpace: Color.RGBColorSpace = .sRGB, white: Double, opacity: Double = 1) {
    self.init(colorSpace, red: white, green: white, blue: white, opacity: opacity)
  }

  /// All values are from 0 to 1.
  public init(hue: Double, saturation: Double, brightness: Double, opacity: Double = 1) {
    func part(_ n: Double) -> Double {
      let k = (n + hue * 6).truncatingRemainder(dividingBy: 6)
      return brightness - brightness * saturation * max(0, min(k, 4 - k, 1))
    }
    self.init(red: part(5), green: part(3), blue: part(1), opacity: opacity)
  }

  public init(_ name: String, bundle: Bundle? = nil) { self.init(asset: BundleAssets.Name(name, in: bundle)) }
  public init(_ resource: ColorResource) { self.init(asset: resource.asset) }
  init(asset: BundleAssets.Name) { value = .asset(asset) }

  public func opacity(_ opacity: Double) -> Color {
    if case .record(var parts) = value, let own = parts[.opacity]?.number {
      parts[.opacity] = .number(own * opacity)
      return Color(value: .record(parts))
    }
    return Color(value: .record([.color: value, .opacity: opacity.archived]))
  }

  public func mix(with rhs: Color, by fraction: Double) -> Color {
    Color(value: .record([.mix: .list([value, rhs.value]), .by: fraction.archived]))
  }

  public var gradient: AnyGradient { AnyGradient(value: .record([.gradient: value])) }

  public var description: String { value.string ?? "\(value)" }

  init(named name: String) { value = .string(name) }

  // swift-format-ignore: DontRepeatTypeInStaticProperties
  public static let red = Color(named: "red"), orange = Color(named: "orange"), yellow = Color(named: "yellow"),
    green = Color(named: "green"), mint = Color(named: "mint"), teal = Color(named: "teal"),
    cyan = Color(named: "cyan"), blue = Color(named: "blue"), indigo = Color(named: "indigo"),
    purple = Color(named: "purple"), pink = Color(named: "pink"), brown = Color(named: "brown"),
    white = Color(named: "white"), gray = Color(named: "gray"), black = Color(named: "black"),
    clear = Color(named: "clear"), primary = Color(named: "primary"), secondary = Color(named: "secondary"),
    accentColor = Color(named: "accentColor")
}

extension Color: ShapeStyle, ArchivedStyle {
  package var archived: ArchivedValue { value }
}

extension Color: View, ArchivedView {
  public typealias Body = Never
  package func archive(in context: ArchivingContext) -> ViewArchive { ViewArchive(.fill(.color), [.color: value]) }
}

extension ShapeStyle where Self == Color {
  public static var red: Color { Color.red }
  public static var orange: Color { Color.orange }
  public static var yellow: Color { Color.yellow }
  public static var green: Color { Color.green }
  public static var mint: Color { Color.mint }
  public static var teal: Color { Color.teal }
  public static var cyan: Color { Color.cyan }
  public static var blue: Color { Color.blue }
  public static var indigo: Color { Color.indigo }
  public static var purple: Color { Color.purple }
  public static var pink: Color { Color.pink }
  public static var brown: Color { Color.brown }
  public static var white: Color { Color.white }
  public static var gray: Color { Color.gray }
  public static var black: Color { Color.black }
  public static var clear: Color { Color.clear }
}

extension ArchivedValue {
  /// A colour of an asset catalog: its name, and the colours of the set by scheme and contrast, of which those that are
  /// like the first are left out. A picture chooses one. A colour that is not found has the reason.
  static func asset(_ name: BundleAssets.Name) -> ArchivedValue {
    var parts: ArchivedArguments = [.asset: .string(name.name)]
    do throws(AssetFault) {
      let color = try BundleAssets.shared.color(name, for: .ofDevice)
      parts[.light] = ArchivedValue(color.light)
      for (label, own, usual) in [
        (ArgumentLabel.dark, color.dark, color.light), (.lightContrast, color.lightContrast, color.light),
        (.darkContrast, color.darkContrast, color.dark),
      ] where own != usual { parts[label] = ArchivedValue(own) }
    } catch {
      parts[.problem] = .string("\(error)")
    }
    return .record(parts)
  }

  private init(_ color: AssetColor) {
    switch color {
    case .components(let red, let green, let blue, let opacity):
      self = .record(
        [.red: .number(red), .green: .number(green), .blue: .number(blue), .opacity: .number(opacity)])
    case .system(let name): self = .string(Self.systemName(name))
    }
  }

  /// The name of a system colour as an archive has it: `blue` for `systemBlueColor`. Source: the names of `UIColor`.
  static func systemName(_ reference: String) -> String {
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
