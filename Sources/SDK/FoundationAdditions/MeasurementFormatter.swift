// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Formats measurements. Source: `Foundation.MeasurementFormatter`, which is unavailable on Linux. Units have their
/// symbols, such as `km`, in all styles.
open class MeasurementFormatter: Formatter {
  /// Source: `MeasurementFormatter.UnitOptions`.
  public struct UnitOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let providedUnit = UnitOptions(rawValue: 1)
    /// Has no effect: a unit is not replaced by a larger or smaller one.
    public static let naturalScale = UnitOptions(rawValue: 2)
    public static let temperatureWithoutUnit = UnitOptions(rawValue: 4)
  }

  open var unitOptions: UnitOptions = []
  open var unitStyle = Formatter.UnitStyle.medium
  open var locale: Locale! = Locale.current
  open var numberFormatter: NumberFormatter!

  public override init() {
    numberFormatter = NumberFormatter()
    numberFormatter.numberStyle = .decimal
    super.init()
  }
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  open func string<UnitType: Unit>(from measurement: Measurement<UnitType>) -> String {
    var (value, unit) = (measurement.value, measurement.unit as Unit)
    if !unitOptions.contains(.providedUnit), let local = LocalUnit.of(unit, locale), let unit = unit as? Dimension {
      value = local.converter.value(fromBaseUnitValue: unit.converter.baseUnitValue(fromValue: value))
      return text(value, local)
    }
    if unitOptions.contains(.providedUnit) == false, value.isNaN { unit = measurement.unit }
    return text(value, unit)
  }
  open func string(from unit: Unit) -> String { unit.symbol }
  open override func string(for obj: Any?) -> String? { (obj as? Unit).map { string(from: $0) } }

  private func text(_ value: Double, _ unit: Unit) -> String {
    numberFormatter.locale = locale
    let number = numberFormatter.string(from: NSNumber(value: value)) ?? "\(value)"
    guard unit is UnitTemperature else { return "\(number) \(unit.symbol)" }
    return unitOptions.contains(.temperatureWithoutUnit) ? "\(number)°" : number + unit.symbol
  }
}

/// The unit that a region uses.
enum LocalUnit {
  /// `nil` when it uses the given one.
  static func of(_ unit: Unit, _ locale: Locale) -> Dimension? {
    let system = locale.measurementSystem
    let isAmerican = system == .us
    switch unit {
    case is UnitTemperature:
      let local: UnitTemperature = isAmerican ? .fahrenheit : .celsius
      return unit == local ? nil : local
    case let length as UnitLength:
      let isMetric = [.kilometers, .meters, .centimeters, .millimeters].contains(length)
      guard isMetric == (system == .metric) else {
        switch length {
        case .kilometers: return UnitLength.miles
        case .meters: return UnitLength.feet
        case .centimeters, .millimeters: return UnitLength.inches
        case .miles: return UnitLength.kilometers
        case .feet, .yards: return UnitLength.meters
        case .inches: return UnitLength.centimeters
        default: return nil
        }
      }
      return nil
    case let speed as UnitSpeed:
      let local: UnitSpeed = system == .metric ? .kilometersPerHour : .milesPerHour
      return speed == local ? nil : local
    case let mass as UnitMass where isAmerican:
      return mass == .kilograms ? UnitMass.pounds : mass == .grams ? UnitMass.ounces : nil
    default: return nil
    }
  }
}

extension Measurement {
  /// The measurement as text. Source: `Foundation.Measurement.FormatStyle`. Units have their symbols.
  public struct FormatStyle: Foundation.FormatStyle, Sendable {
    /// Source: `Measurement.FormatStyle.UnitWidth`. All have the symbol.
    public struct UnitWidth: Codable, Hashable, Sendable {
      let hasSpace: Bool
      public static var wide: UnitWidth { UnitWidth(hasSpace: true) }
      public static var abbreviated: UnitWidth { UnitWidth(hasSpace: true) }
      public static var narrow: UnitWidth { UnitWidth(hasSpace: false) }
    }

    public var width: UnitWidth
    public var usage: MeasurementFormatUnitUsage<UnitType>
    public var numberFormatStyle: FloatingPointFormatStyle<Double>?
    public var locale: Locale
    public var hidesScaleName = false

    public init(
      width: UnitWidth, locale: Locale = .autoupdatingCurrent, usage: MeasurementFormatUnitUsage<UnitType> = .general,
      hidesScaleName: Bool = false, numberFormatStyle: FloatingPointFormatStyle<Double>? = nil
    ) {
      self.width = width
      self.locale = locale
      self.usage = usage
      self.hidesScaleName = hidesScaleName
      self.numberFormatStyle = numberFormatStyle
    }

    public func format(_ value: Measurement) -> String {
      var (number, unit) = (value.value, value.unit as Unit)
      if usage.isConverted, let local = LocalUnit.of(unit, locale), let given = unit as? Dimension {
        number = local.converter.value(fromBaseUnitValue: given.converter.baseUnitValue(fromValue: number))
        unit = local
      }
      let style = numberFormatStyle ?? FloatingPointFormatStyle<Double>().precision(.fractionLength(0...2))
      let text = number.formatted(style.locale(locale))
      if unit is UnitTemperature { return text + (hidesScaleName || width == .narrow ? "°" : unit.symbol) }
      return text + (width.hasSpace ? " " : "") + unit.symbol
    }

    public func locale(_ locale: Locale) -> FormatStyle {
      var style = self
      style.locale = locale
      return style
    }
  }

  public func formatted<S: Foundation.FormatStyle>(_ style: S) -> S.FormatOutput where S.FormatInput == Measurement {
    style.format(self)
  }
}

extension Measurement where UnitType: Dimension {
  public func formatted() -> String { FormatStyle(width: .abbreviated).format(self) }
}

/// What a measurement is used for. Source: `Foundation.MeasurementFormatUnitUsage`.
public struct MeasurementFormatUnitUsage<UnitType: Unit>: Codable, Hashable, Sendable {
  let isConverted: Bool
  public static var general: MeasurementFormatUnitUsage { MeasurementFormatUnitUsage(isConverted: true) }
  public static var asProvided: MeasurementFormatUnitUsage { MeasurementFormatUnitUsage(isConverted: false) }
}

extension MeasurementFormatUnitUsage where UnitType == UnitTemperature {
  public static var weather: MeasurementFormatUnitUsage { MeasurementFormatUnitUsage(isConverted: true) }
  public static var person: MeasurementFormatUnitUsage { MeasurementFormatUnitUsage(isConverted: true) }
}

extension MeasurementFormatUnitUsage where UnitType == UnitLength {
  public static var road: MeasurementFormatUnitUsage { MeasurementFormatUnitUsage(isConverted: true) }
  public static var person: MeasurementFormatUnitUsage { MeasurementFormatUnitUsage(isConverted: true) }
}

extension Foundation.FormatStyle {
  // Without the requirement that the type is a `Dimension`: the compiler would infer `Dimension` itself.
  public static func measurement<UnitType>(
    width: Measurement<UnitType>.FormatStyle.UnitWidth,
    usage: MeasurementFormatUnitUsage<UnitType> = .general,
    numberFormatStyle: FloatingPointFormatStyle<Double>? = nil
  ) -> Self where Self == Measurement<UnitType>.FormatStyle {
    Measurement<UnitType>.FormatStyle(width: width, usage: usage, numberFormatStyle: numberFormatStyle)
  }
}

extension Foundation.FormatStyle where Self == Measurement<UnitTemperature>.FormatStyle {
  public static func measurement(
    width: Measurement<UnitTemperature>.FormatStyle.UnitWidth,
    usage: MeasurementFormatUnitUsage<UnitTemperature> = .general, hidesScaleName: Bool = false,
    numberFormatStyle: FloatingPointFormatStyle<Double>? = nil
  ) -> Self {
    Measurement<UnitTemperature>.FormatStyle(
      width: width, usage: usage, hidesScaleName: hidesScaleName, numberFormatStyle: numberFormatStyle)
  }
}
