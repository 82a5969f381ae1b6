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
    _ string: String, _ dimensions: [HealthDimension: Int], _ factor: Double, offset: Double = 0,
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
    self.init(string, unit.dimensions, unit.factor, offset: unit.offset, isCompound: unit.isCompound)
  }

  public func isNull() -> Bool { dimensions.isEmpty && factor == 1 }

  public func unitMultiplied(by unit: HKUnit) -> HKUnit {
    HKUnit(
      "\(text)·\(unit.text)", dimensions.merging(unit.dimensions, uniquingKeysWith: +), factor * unit.factor,
      isCompound: true)
  }

  public func unitDivided(by unit: HKUnit) -> HKUnit {
    let exponents = unit.dimensions.mapValues { -$0 }
    return HKUnit(
      "\(unitString)/\(unit.text)", dimensions.merging(exponents, uniquingKeysWith: +), factor / unit.factor,
      isCompound: true)
  }

  public func unitRaised(toPower power: Int) -> HKUnit {
    HKUnit("\(text)^\(power)", dimensions.mapValues { $0 * power }, pow(factor, Double(power)))
  }

  public func reciprocal() -> HKUnit {
    HKUnit("1/\(text)", dimensions.mapValues { -$0 }, 1 / factor, isCompound: true)
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
