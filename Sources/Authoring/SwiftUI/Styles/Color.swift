package import Archive
public import Foundation

/// A colour. Source: `SwiftUI.Color`. As a view it fills its place.
nonisolated public struct Color: Hashable, Sendable, CustomStringConvertible {
  let value: ArchivedValue

  private init(value: ArchivedValue) { self.value = value }

  /// Where a colour's parts are measured. Source: `SwiftUI.Color.RGBColorSpace`.
  public enum RGBColorSpace: Hashable, Sendable, NamedArgument {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case sRGB, sRGBLinear, displayP3
  }

  /// A colour by its parts, from 0 to 1.
  public init(
    _ colorSpace: Color.RGBColorSpace = .sRGB, red: Double, green: Double, blue: Double, opacity: Double = 1
  ) {
    var parts = [
      "red": red.archived, "green": green.archived, "blue": blue.archived, "opacity": opacity.archived,
    ]
    if colorSpace != .sRGB { parts["space"] = colorSpace.archived }
    value = .record(parts)
  }

  /// A grey, from 0 to 1.
  public init(_ colorSpace: Color.RGBColorSpace = .sRGB, white: Double, opacity: Double = 1) {
    self.init(colorSpace, red: white, green: white, blue: white, opacity: opacity)
  }

  /// A colour by hue, saturation and brightness, from 0 to 1.
  public init(hue: Double, saturation: Double, brightness: Double, opacity: Double = 1) {
    func part(_ n: Double) -> Double {
      let k = (n + hue * 6).truncatingRemainder(dividingBy: 6)
      return brightness - brightness * saturation * max(0, min(k, 4 - k, 1))
    }
    self.init(red: part(5), green: part(3), blue: part(1), opacity: opacity)
  }

  /// A colour of an asset catalogue.
  public init(_ name: String, bundle: Bundle? = nil) { value = .record(["asset": name.archived]) }

  /// The colour with less to see of it.
  public func opacity(_ opacity: Double) -> Color {
    if case .record(var parts) = value, let own = parts["opacity"]?.number {
      parts["opacity"] = .number(own * opacity)
      return Color(value: .record(parts))
    }
    return Color(value: .record(["color": value, "opacity": opacity.archived]))
  }

  /// The colour and another, mixed.
  public func mix(with rhs: Color, by fraction: Double) -> Color {
    Color(value: .record(["mix": .list([value, rhs.value]), "by": fraction.archived]))
  }

  /// The colour as a gradient that the system makes of it.
  public var gradient: AnyGradient { AnyGradient(value: .record(["gradient": value])) }

  /// For a person.
  public var description: String { value.string ?? "\(value)" }

  init(named name: String) { value = .string(name) }

  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation, DontRepeatTypeInStaticProperties
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
  /// There is none.
  public typealias Body = Never
  package func archive(in context: ArchivingContext) -> ViewArchive { ViewArchive("Color", ["color": value]) }
}

extension ShapeStyle where Self == Color {
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var red: Color { Color.red }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var orange: Color { Color.orange }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var yellow: Color { Color.yellow }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var green: Color { Color.green }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var mint: Color { Color.mint }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var teal: Color { Color.teal }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var cyan: Color { Color.cyan }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var blue: Color { Color.blue }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var indigo: Color { Color.indigo }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var purple: Color { Color.purple }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var pink: Color { Color.pink }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var brown: Color { Color.brown }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var white: Color { Color.white }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var gray: Color { Color.gray }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var black: Color { Color.black }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var clear: Color { Color.clear }
}
