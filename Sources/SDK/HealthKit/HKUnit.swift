// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Source: `HealthKit.HKMetricPrefix`.
public enum HKMetricPrefix: Int, Sendable {
  case none = 0
  case femto = 13
  case pico = 1
  case nano = 2
  case micro = 3
  case milli = 4
  case centi = 5
  case deci = 6
  case deca = 7
  case hecto = 8
  case kilo = 9
  case mega = 10
  case giga = 11
  case tera = 12

  /// Its letters before a unit, and what it multiplies by.
  var form: (letters: String, factor: Double) {
    switch self {
    case .none: ("", 1)
    case .femto: ("f", 1e-15)
    case .pico: ("p", 1e-12)
    case .nano: ("n", 1e-9)
    case .micro: ("mc", 1e-6)
    case .milli: ("m", 1e-3)
    case .centi: ("c", 1e-2)
    case .deci: ("d", 1e-1)
    case .deca: ("da", 1e1)
    case .hecto: ("h", 1e2)
    case .kilo: ("k", 1e3)
    case .mega: ("M", 1e6)
    case .giga: ("G", 1e9)
    case .tera: ("T", 1e12)
    }
  }

  static let all: [HKMetricPrefix] = [
    .femto, .pico, .nano, .micro, .milli, .centi, .deci, .deca, .hecto, .kilo, .mega, .giga, .tera,
  ]
}

/// In grams per mole. Source: `HealthKit.HKUnitMolarMassBloodGlucose`.
public let HKUnitMolarMassBloodGlucose: Double = 180.15588000005408

/// What a unit measures.
enum HealthDimension: String, Sendable {
  case mass, length, volume, pressure, time, energy, temperature, conductance, frequency, pharmacology, power, voltage
  case angle, soundPressure, hearingLevel, opticalPower, illuminance
}

/// A unit of a quantity. Source: `HealthKit.HKUnit`.
public final class HKUnit: NSObject, Sendable {
  public let unitString: String
  /// The exponents of what it measures, without those that are 0.
  let dimensions: [HealthDimension: Int]
  /// What a value is multiplied by to convert it to the base units.
  let factor: Double
  /// What is added afterwards; not 0 for degrees Celsius and Fahrenheit only.
  let offset: Double
  /// Whether it consists of several units.
  private let isCompound: Bool

  init(
    _ string: String, dimensions: [HealthDimension: Int], factor: Double, offset: Double = 0,
    isCompound: Bool = false
  ) {
    unitString = string
    self.dimensions = dimensions.filter { $0.value != 0 }
    self.factor = factor
    self.offset = offset
    self.isCompound = isCompound
  }

  /// Ends the process for a text that is not a unit, as HealthKit does.
  public convenience init(from string: String) {
    var parser = UnitParser(string)
    guard let unit = parser.unit() else { fatalError("HKUnit(from:): \(string) is not a unit") }
    self.init(
      string, dimensions: unit.dimensions, factor: unit.factor, offset: unit.offset, isCompound: unit.isCompound)
  }

  public func isNull() -> Bool { dimensions.isEmpty && factor == 1 }

  public func unitMultiplied(by unit: HKUnit) -> HKUnit {
    HKUnit(
      "\(text)·\(unit.text)", dimensions: dimensions.merging(unit.dimensions, uniquingKeysWith: +),
      factor: factor * unit.factor,
      isCompound: true)
  }

  public func unitDivided(by unit: HKUnit) -> HKUnit {
    let exponents = unit.dimensions.mapValues { -$0 }
    return HKUnit(
      "\(unitString)/\(unit.text)", dimensions: dimensions.merging(exponents, uniquingKeysWith: +),
      factor: factor / unit.factor,
      isCompound: true)
  }

  public func unitRaised(toPower power: Int) -> HKUnit {
    HKUnit("\(text)^\(power)", dimensions: dimensions.mapValues { $0 * power }, factor: pow(factor, Double(power)))
  }

  public func reciprocal() -> HKUnit {
    HKUnit("1/\(text)", dimensions: dimensions.mapValues { -$0 }, factor: 1 / factor, isCompound: true)
  }

  /// As a part of another unit.
  private var text: String { isCompound ? "(\(unitString))" : unitString }

  func isCompatible(with unit: HKUnit) -> Bool { dimensions == unit.dimensions }

  public override var description: String { unitString }
  public override var hash: Int { dimensions.hashValue }
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? HKUnit else { return false }
    return dimensions == other.dimensions && abs(factor - other.factor) <= abs(factor) * 1e-12 && offset == other.offset
  }
}

/// Reads the text of a unit, such as `mg/dL` or `mL/(kg·min)`. Source: `HealthKit.HKUnit`, *Creating Units from Strings*.
private struct UnitParser {
  private var rest: Substring

  init(_ text: String) { rest = text.filter { $0 != " " }[...] }

  /// `nil` for a text that is not a unit.
  mutating func unit() -> HKUnit? {
    guard let result = product(), rest.isEmpty else { return nil }
    return result
  }

  private mutating func product() -> HKUnit? {
    guard var result = power() else { return nil }
    while let operation = rest.first, operation != ")" {
      guard "·.*/".contains(operation) else { return nil }
      rest.removeFirst()
      guard let next = power() else { return nil }
      result = operation == "/" ? result.unitDivided(by: next) : result.unitMultiplied(by: next)
    }
    return result
  }

  private mutating func power() -> HKUnit? {
    guard let base = factor() else { return nil }
    guard rest.first == "^" else { return base }
    rest.removeFirst()
    let digits = rest.prefix { $0.isNumber || $0 == "-" }
    rest = rest.dropFirst(digits.count)
    return Int(digits).map(base.unitRaised(toPower:))
  }

  private mutating func factor() -> HKUnit? {
    if rest.first == "(" {
      rest.removeFirst()
      guard let result = product(), rest.first == ")" else { return nil }
      rest.removeFirst()
      return result
    }
    let name = rest.prefix { $0.isLetter || $0 == "_" || $0 == "%" || $0 == "1" }
    rest = rest.dropFirst(name.count)
    guard rest.first == "<" else { return HKUnit.named(name) }
    let mass = rest.dropFirst().prefix { $0 != ">" }
    rest = rest.dropFirst(mass.count + 2)
    guard let grams = Double(mass), let prefix = HKUnit.prefix(of: name, before: "mol") else { return nil }
    return .moleUnit(with: prefix, molarMass: grams)
  }
}

extension HKUnit {
  /// The units that take a prefix.
  private static let metric: [(name: String, dimension: HealthDimension, factor: Double)] = [
    ("g", .mass, 1), ("m", .length, 1), ("L", .volume, 1), ("l", .volume, 1), ("Pa", .pressure, 1), ("s", .time, 1),
    ("J", .energy, 1), ("S", .conductance, 1), ("Hz", .frequency, 1), ("W", .power, 1), ("V", .voltage, 1),
    ("rad", .angle, 1), ("lx", .illuminance, 1),
  ]

  /// The units without a prefix. Source: `HealthKit.HKUnit`, and the *International System of Units*.
  private static let plain: [String: (dimension: HealthDimension?, factor: Double, offset: Double)] = [
    "count": (nil, 1, 0), "1": (nil, 1, 0), "%": (nil, 0.01, 0),
    "oz": (.mass, 28.349523125, 0), "lb": (.mass, 453.59237, 0), "st": (.mass, 6350.29318, 0),
    "in": (.length, 0.0254, 0), "ft": (.length, 0.3048, 0), "yd": (.length, 0.9144, 0), "mi": (.length, 1609.344, 0),
    "fl_oz_us": (.volume, 0.0295735295625, 0), "fl_oz_imp": (.volume, 0.0284130625, 0),
    "pt_us": (.volume, 0.473176473, 0), "pt_imp": (.volume, 0.56826125, 0),
    "cup_us": (.volume, 0.2365882365, 0), "cup_imp": (.volume, 0.284130625, 0),
    "mmHg": (.pressure, 133.322387415, 0), "cmAq": (.pressure, 98.0665, 0), "atm": (.pressure, 101_325, 0),
    "inHg": (.pressure, 3386.38816, 0), "dBASPL": (.soundPressure, 1, 0), "dBHL": (.hearingLevel, 1, 0),
    "min": (.time, 60, 0), "hr": (.time, 3600, 0), "d": (.time, 86_400, 0),
    "cal": (.energy, 4.184, 0), "kcal": (.energy, 4184, 0), "Cal": (.energy, 4184, 0),
    "K": (.temperature, 1, 0), "degC": (.temperature, 1, 273.15), "degF": (.temperature, 5.0 / 9, 459.67 * 5 / 9),
    "IU": (.pharmacology, 1, 0), "deg": (.angle, .pi / 180, 0), "D": (.opticalPower, 1, 0),
  ]

  /// `nil` for a name that no unit has.
  static func named(_ name: Substring) -> HKUnit? {
    if let unit = plain[String(name)] {
      let dimensions = unit.dimension.map { [$0: 1] } ?? [:]
      return HKUnit(
        name == "1" ? "count" : String(name), dimensions: dimensions, factor: unit.factor, offset: unit.offset)
    }
    for unit in metric {
      guard let prefix = prefix(of: name, before: unit.name) else { continue }
      return HKUnit(String(name), dimensions: [unit.dimension: 1], factor: unit.factor * prefix.form.factor)
    }
    return nil
  }

  /// The prefix of the name of a unit; `nil` if the name is of another unit.
  static func prefix(of name: Substring, before unit: String) -> HKMetricPrefix? {
    guard name.hasSuffix(unit) else { return nil }
    let letters = name.dropLast(unit.count)
    return letters.isEmpty ? HKMetricPrefix.none : HKMetricPrefix.all.first { $0.form.letters == letters }
  }

  private static func unit(_ prefix: HKMetricPrefix, _ name: String) -> HKUnit {
    guard let unit = named("\(prefix.form.letters)\(name)"[...]) else { fatalError("HKUnit: no unit is named \(name)") }
    return unit
  }
}

// The units by their names in Swift.
extension HKUnit {
  public class func gramUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "g") }
  public class func gram() -> HKUnit { unit(.none, "g") }
  public class func ounce() -> HKUnit { unit(.none, "oz") }
  public class func pound() -> HKUnit { unit(.none, "lb") }
  public class func stone() -> HKUnit { unit(.none, "st") }
  public class func moleUnit(with prefix: HKMetricPrefix, molarMass gramsPerMole: Double) -> HKUnit {
    HKUnit(
      "\(prefix.form.letters)mol<\(gramsPerMole)>", dimensions: [.mass: 1], factor: gramsPerMole * prefix.form.factor)
  }
  public class func moleUnit(withMolarMass gramsPerMole: Double) -> HKUnit {
    moleUnit(with: .none, molarMass: gramsPerMole)
  }

  public class func meterUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "m") }
  public class func meter() -> HKUnit { unit(.none, "m") }
  public class func inch() -> HKUnit { unit(.none, "in") }
  public class func foot() -> HKUnit { unit(.none, "ft") }
  public class func yard() -> HKUnit { unit(.none, "yd") }
  public class func mile() -> HKUnit { unit(.none, "mi") }

  public class func literUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "L") }
  public class func liter() -> HKUnit { unit(.none, "L") }
  public class func fluidOunceUS() -> HKUnit { unit(.none, "fl_oz_us") }
  public class func fluidOunceImperial() -> HKUnit { unit(.none, "fl_oz_imp") }
  public class func pintUS() -> HKUnit { unit(.none, "pt_us") }
  public class func pintImperial() -> HKUnit { unit(.none, "pt_imp") }
  public class func cupUS() -> HKUnit { unit(.none, "cup_us") }
  public class func cupImperial() -> HKUnit { unit(.none, "cup_imp") }

  public class func pascalUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "Pa") }
  public class func pascal() -> HKUnit { unit(.none, "Pa") }
  public class func millimeterOfMercury() -> HKUnit { unit(.none, "mmHg") }
  public class func inchesOfMercury() -> HKUnit { unit(.none, "inHg") }
  public class func centimeterOfWater() -> HKUnit { unit(.none, "cmAq") }
  public class func atmosphere() -> HKUnit { unit(.none, "atm") }
  public class func decibelAWeightedSoundPressureLevel() -> HKUnit { unit(.none, "dBASPL") }
  public class func decibelHearingLevel() -> HKUnit { unit(.none, "dBHL") }

  public class func secondUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "s") }
  public class func second() -> HKUnit { unit(.none, "s") }
  public class func minute() -> HKUnit { unit(.none, "min") }
  public class func hour() -> HKUnit { unit(.none, "hr") }
  public class func day() -> HKUnit { unit(.none, "d") }

  public class func jouleUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "J") }
  public class func joule() -> HKUnit { unit(.none, "J") }
  public class func kilocalorie() -> HKUnit { unit(.none, "kcal") }
  public class func smallCalorie() -> HKUnit { unit(.none, "cal") }
  public class func largeCalorie() -> HKUnit { unit(.none, "Cal") }

  public class func degreeCelsius() -> HKUnit { unit(.none, "degC") }
  public class func degreeFahrenheit() -> HKUnit { unit(.none, "degF") }
  public class func kelvin() -> HKUnit { unit(.none, "K") }

  public class func siemenUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "S") }
  public class func siemen() -> HKUnit { unit(.none, "S") }
  public class func internationalUnit() -> HKUnit { unit(.none, "IU") }
  public class func count() -> HKUnit { unit(.none, "count") }
  public class func percent() -> HKUnit { unit(.none, "%") }
  public class func hertzUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "Hz") }
  public class func hertz() -> HKUnit { unit(.none, "Hz") }
  public class func voltUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "V") }
  public class func volt() -> HKUnit { unit(.none, "V") }
  public class func wattUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "W") }
  public class func watt() -> HKUnit { unit(.none, "W") }
  public class func radianAngleUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "rad") }
  public class func radianAngle() -> HKUnit { unit(.none, "rad") }
  public class func degreeAngle() -> HKUnit { unit(.none, "deg") }
  public class func diopter() -> HKUnit { unit(.none, "D") }
  public class func luxUnit(with prefix: HKMetricPrefix) -> HKUnit { unit(prefix, "lx") }
  public class func lux() -> HKUnit { unit(.none, "lx") }
}

/// A value with a unit. Source: `HealthKit.HKQuantity`.
public final class HKQuantity: NSObject, Sendable {
  private let unit: HKUnit
  private let value: Double

  public init(unit: HKUnit, doubleValue value: Double) {
    self.unit = unit
    self.value = value
  }

  public func `is`(compatibleWith unit: HKUnit) -> Bool { self.unit.isCompatible(with: unit) }

  /// Ends the process for a unit of something else, as HealthKit does.
  public func doubleValue(for unit: HKUnit) -> Double {
    guard unit.isCompatible(with: self.unit) else {
      fatalError("HKQuantity.doubleValue(for:): \(self.unit) cannot be converted to \(unit)")
    }
    if unit.factor == self.unit.factor, unit.offset == self.unit.offset { return value }
    return (base - unit.offset) / unit.factor
  }

  public func compare(_ quantity: HKQuantity) -> ComparisonResult {
    let other = quantity.doubleValue(for: unit)
    return value < other ? .orderedAscending : value > other ? .orderedDescending : .orderedSame
  }

  /// In base units.
  private var base: Double { value * unit.factor + unit.offset }

  public override var description: String { "\(value.formatted(.number.grouping(.never))) \(unit)" }
  public override var hash: Int { unit.dimensions.hashValue }
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? HKQuantity, other.is(compatibleWith: unit) else { return false }
    return other.doubleValue(for: unit) == value
  }
}
