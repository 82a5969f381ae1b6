// SPDX-License-Identifier: Apache-2.0

import PrometheusMetrics

/// A mapping of `widgetlab.yaml` whose keys are the rows of a table.
protocol SettingsPart: Sendable {
  /// The part with the default of each key.
  init()
  static var table: [Setting<Self>] { get }
  /// Checks and completes what depends on several keys, after all were read.
  mutating func complete(_ reader: inout ConfigurationReader) throws(ClusterError)
}

extension SettingsPart {
  mutating func complete(_ reader: inout ConfigurationReader) throws(ClusterError) {}

  /// Reads a mapping that has only keys of the table.
  ///
  /// - Throws: `configuration`, with the file, the line and the key.
  init(reading mapping: ConfigurationReader, _ table: [Setting<Self>] = Self.table) throws(ClusterError) {
    self.init()
    var reader = mapping
    try Setting<Self>.readAll(table, &reader, into: &self)
    try complete(&reader)
  }
}

/// A key of `widgetlab.yaml`: a row of the table from which it is read, checked and documented.
struct Setting<Owner: SettingsPart>: Sendable {
  typealias Path<Value> = any WritableKeyPath<Owner, Value> & Sendable
  typealias Reading = @Sendable (inout ConfigurationReader, inout Owner) throws(ClusterError) -> Void

  let key: SettingKey
  private let reading: Reading

  private init(_ key: SettingKey, _ reading: @escaping Reading) {
    self.key = key
    self.reading = reading
  }

  /// Reads the keys in the order of the table.
  static func readAll(
    _ table: [Setting], _ reader: inout ConfigurationReader, into owner: inout Owner
  ) throws(ClusterError) {
    try reader.check(Set(table.map(\.key.name)), ClusterConfiguration.places(of:))
    for setting in table { try setting.reading(&reader, &owner) }
  }
}

// Each function makes a row: the name of the key, its property, its range, what it does, and the pages of
// Documentation/fidelity that have its rules. The default is the value of the property in `Owner()`.
extension Setting {
  static func flag(_ name: String, _ path: Path<Bool>, _ sentence: String, on pages: String...) -> Setting {
    Setting(SettingKey(name, .flag, sentence, pages) { .flag(Owner()[keyPath: path]) }) {
      reader, owner throws(ClusterError) in
      if let value = try reader.boolean(name) { owner[keyPath: path] = value }
    }
  }

  /// A number of seconds.
  static func seconds(
    _ name: String, _ path: Path<Duration>, least: Double = 0, most: Double? = nil, _ sentence: String,
    on pages: String...
  ) -> Setting {
    seconds(name, least: least, most: most, sentence, pages) {
      $0[keyPath: path].inSeconds
    } write: {
      $0[keyPath: path] = .seconds($1)
    }
  }

  /// A number of seconds of a type that has no `Duration`.
  static func seconds(
    _ name: String, _ path: Path<Double>, least: Double = 0, most: Double? = nil, _ sentence: String,
    on pages: String...
  ) -> Setting {
    seconds(name, least: least, most: most, sentence, pages) {
      $0[keyPath: path]
    } write: {
      $0[keyPath: path] = $1
    }
  }

  private static func seconds(
    _ name: String, least: Double, most: Double?, _ sentence: String, _ pages: [String],
    read: @escaping @Sendable (Owner) -> Double, write: @escaping @Sendable (inout Owner, Double) -> Void
  ) -> Setting {
    let range = SettingRange(least: least, most: most, unit: "s")
    return Setting(SettingKey(name, .seconds(range), sentence, pages) { .number(read(Owner())) }) {
      reader, owner throws(ClusterError) in
      guard let value = try reader.number(name) else { return }
      guard range.contains(value) else { throw reader.error(name, "must be \(range)") }
      guard value < SettingRange.longest else { throw reader.error(name, "must be less than 1000000000 s") }
      write(&owner, value)
    }
  }

  /// A whole number.
  static func count(
    _ name: String, _ path: Path<Int>, least: Double = 0, most: Double? = nil, unit: String = "", _ sentence: String,
    on pages: String...
  ) -> Setting {
    let range = SettingRange(least: least, most: most, unit: unit)
    return Setting(SettingKey(name, .count(range), sentence, pages) { .number(Double(Owner()[keyPath: path])) }) {
      reader, owner throws(ClusterError) in
      if let value = try reader.integer(name, in: range) { owner[keyPath: path] = value }
    }
  }

  /// A whole number without a default.
  static func optionalCount(
    _ name: String, _ path: Path<Int?>, least: Double = 0, most: Double? = nil, unit: String = "", without: String,
    _ sentence: String, on pages: String...
  ) -> Setting {
    let range = SettingRange(least: least, most: most, unit: unit)
    return Setting(SettingKey(name, .count(range), sentence, pages, without: without)) {
      reader, owner throws(ClusterError) in
      if let value = try reader.integer(name, in: range) { owner[keyPath: path] = value }
    }
  }

  static func number(
    _ name: String, _ path: Path<Double>, least: Double = 0, most: Double? = nil, unit: String = "",
    _ sentence: String, on pages: String...
  ) -> Setting {
    let range = SettingRange(least: least, most: most, unit: unit)
    return Setting(SettingKey(name, .number(range), sentence, pages) { .number(Owner()[keyPath: path]) }) {
      reader, owner throws(ClusterError) in
      guard let value = try reader.number(name) else { return }
      guard range.contains(value) else { throw reader.error(name, "must be \(range)") }
      owner[keyPath: path] = value
    }
  }

  /// - Parameter objection: why a text is refused; `nil` if it is valid.
  static func text(
    _ name: String, _ path: Path<String>, as values: SettingValues = .text(), isRequired: Bool = false,
    _ sentence: String, objection: @escaping @Sendable (String) -> String? = { _ in nil }
  ) -> Setting {
    Setting(
      SettingKey(name, values, sentence, isRequired: isRequired) {
        isRequired ? nil : .text(Owner()[keyPath: path])
      }
    ) { reader, owner throws(ClusterError) in
      guard let text = try reader.string(name) else {
        if isRequired { throw reader.missing(name) }
        return
      }
      if let reason = objection(text) { throw reader.error(name, reason) }
      owner[keyPath: path] = text
    }
  }

  /// A text without a default.
  static func optionalText(
    _ name: String, _ path: Path<String?>, without: String, as values: SettingValues = .text(), _ sentence: String,
    objection: @escaping @Sendable (String) -> String? = { _ in nil }
  ) -> Setting {
    Setting(SettingKey(name, values, sentence, without: without)) { reader, owner throws(ClusterError) in
      guard let text = try reader.string(name) else { return }
      if let reason = objection(text) { throw reader.error(name, reason) }
      owner[keyPath: path] = text
    }
  }

  /// A path, relative to the folder of the file. The property is absolute.
  static func path(
    _ name: String, _ path: Path<String?>, without: String, _ sentence: String, on pages: String...
  ) -> Setting {
    Setting(SettingKey(name, .path, sentence, pages, without: without)) { reader, owner throws(ClusterError) in
      if let text = try reader.string(name) { owner[keyPath: path] = reader.beside(text) }
    }
  }

  /// One of several names.
  static func choice<Value: RawRepresentable<String> & Sendable>(
    _ name: String, _ path: Path<Value>, of choices: [Value], _ sentence: String, on pages: String...
  ) -> Setting {
    let names = choices.map(\.rawValue)
    return Setting(
      SettingKey(name, .choice(names), sentence, pages) { .text(Owner()[keyPath: path].rawValue) }
    ) { reader, owner throws(ClusterError) in
      guard let index = try reader.index(name, among: names) else { return }
      owner[keyPath: path] = choices[index]
    }
  }

  /// One of several names, without a default.
  static func optionalChoice<Value: RawRepresentable<String> & Sendable>(
    _ name: String, _ path: Path<Value?>, of choices: [Value], without: String, _ sentence: String
  ) -> Setting {
    let names = choices.map(\.rawValue)
    return Setting(SettingKey(name, .choice(names), sentence, without: without)) {
      reader, owner throws(ClusterError) in
      guard let index = try reader.index(name, among: names) else { return }
      owner[keyPath: path] = choices[index]
    }
  }

  /// A list of texts.
  static func texts(
    _ name: String, _ path: Path<[String]>, of form: TextForm = TextForm(), _ sentence: String,
    objection: @escaping @Sendable (String) -> String? = { _ in nil }
  ) -> Setting {
    Setting(SettingKey(name, .texts(form), sentence)) { reader, owner throws(ClusterError) in
      let texts = try reader.strings(name)
      for text in texts {
        if let reason = objection(text) { throw reader.error(name, reason) }
      }
      owner[keyPath: path] = texts
    }
  }

  /// A list of paths, relative to the folder of the file. The property holds absolute paths.
  static func paths(_ name: String, _ path: Path<[String]>, _ sentence: String) -> Setting {
    Setting(SettingKey(name, .paths, sentence)) { reader, owner throws(ClusterError) in
      owner[keyPath: path] = try reader.strings(name).map(reader.beside)
    }
  }

  /// Texts by name.
  static func dictionary(
    _ name: String, _ path: Path<[String: String]>, namesOf form: TextForm = TextForm(), _ sentence: String,
    objection: @escaping @Sendable (_ name: String, _ value: String) -> String? = { _, _ in nil }
  ) -> Setting {
    Setting(SettingKey(name, .dictionary(names: form), sentence)) { reader, owner throws(ClusterError) in
      let values = try reader.dictionary(name)
      for (each, value) in values {
        if let reason = objection(each, value) { throw reader.error(name, reason) }
      }
      owner[keyPath: path] = values
    }
  }

  /// A length in bytes, such as `64MiB`.
  static func length(_ name: String, _ path: Path<ByteCount>, _ sentence: String) -> Setting {
    Setting(SettingKey(name, .length, sentence) { .text(Owner()[keyPath: path].description) }) {
      reader, owner throws(ClusterError) in
      guard let text = try reader.string(name) else { return }
      guard let length = ByteCount(argument: text) else {
        throw reader.error(name, "\"\(text)\" is not a length of at least 64KiB, such as 512MiB")
      }
      owner[keyPath: path] = length
    }
  }

  /// Where a process exposes its metrics.
  static func endpoint(_ name: String, _ path: Path<MetricsEndpoint?>, _ sentence: String) -> Setting {
    Setting(SettingKey(name, .endpoint, sentence, without: "nowhere")) { reader, owner throws(ClusterError) in
      guard let text = try reader.string(name) else { return }
      guard let endpoint = MetricsEndpoint(text) else {
        throw reader.error(name, "\"\(text)\" is not HOST:PORT, such as 127.0.0.1:9464; the port 0 selects a free one")
      }
      owner[keyPath: path] = endpoint
    }
  }

  /// A key that `complete` reads, because its values depend on another one.
  static func dependent(
    _ name: String, _ values: SettingValues, initial: String? = nil, without: String = "", _ sentence: String
  ) -> Setting {
    Setting(SettingKey(name, values, sentence, without: without) { initial.map(SettingDefault.text) }) {
      _, _ throws(ClusterError) in
    }
  }

  /// A mapping.
  static func part<Part: SettingsPart>(
    _ name: String, _ path: Path<Part>, isRequired: Bool = false, _ sentence: String
  ) -> Setting {
    Setting(SettingKey(name, .part(Part.table.map(\.key)), sentence, isRequired: isRequired)) {
      reader, owner throws(ClusterError) in
      if let mapping = try reader.mapping(name) {
        owner[keyPath: path] = try Part(reading: mapping)
      } else if isRequired {
        throw reader.missing(name)
      }
    }
  }

  /// A mapping that may be absent.
  static func optionalPart<Part: SettingsPart>(
    _ name: String, _ path: Path<Part?>, without: String, _ sentence: String
  ) -> Setting {
    Setting(SettingKey(name, .part(Part.table.map(\.key)), sentence, without: without)) {
      reader, owner throws(ClusterError) in
      if let mapping = try reader.mapping(name) { owner[keyPath: path] = try Part(reading: mapping) }
    }
  }

  /// A list of mappings.
  static func parts<Part: SettingsPart>(
    _ name: String, _ path: Path<[Part]>, _ table: [Setting<Part>], _ sentence: String
  ) -> Setting {
    Setting(SettingKey(name, .parts(table.map(\.key)), sentence)) { reader, owner throws(ClusterError) in
      var parts: [Part] = []
      for mapping in try reader.mappings(name) { parts.append(try Part(reading: mapping, table)) }
      owner[keyPath: path] = parts
    }
  }

  /// A mapping whose keys are properties of the same owner.
  static func group(_ name: String, _ table: [Setting], _ sentence: String) -> Setting {
    Setting(SettingKey(name, .part(table.map(\.key)), sentence)) { reader, owner throws(ClusterError) in
      if var mapping = try reader.mapping(name) { try readAll(table, &mapping, into: &owner) }
    }
  }
}

/// A key of `widgetlab.yaml`, as the page and the schema describe it.
package struct SettingKey: Sendable {
  package let name: String
  package let values: SettingValues
  package let isRequired: Bool
  /// What applies without the key, if that is not a value.
  package let without: String
  package let sentence: String
  /// The pages of Documentation/fidelity that have its rules.
  package let pages: [String]
  private let makeInitial: @Sendable () -> SettingDefault?

  /// The value that applies without the key.
  package var initial: SettingDefault? { makeInitial() }

  fileprivate init(
    _ name: String, _ values: SettingValues, _ sentence: String, _ pages: [String] = [], isRequired: Bool = false,
    without: String = "", _ initial: @escaping @Sendable () -> SettingDefault? = { nil }
  ) {
    self.name = name
    self.values = values
    self.isRequired = isRequired
    self.without = without
    self.sentence = sentence
    self.pages = pages
    makeInitial = initial
  }
}

/// The value of a key that the file omits.
package enum SettingDefault: Sendable, Hashable {
  case flag(Bool)
  case number(Double)
  case text(String)
}

/// What the value of a key may be.
package enum SettingValues: Sendable {
  case flag
  case count(SettingRange)
  case number(SettingRange)
  case seconds(SettingRange)
  case text(TextForm = TextForm())
  /// The version of a system, such as 18.0, which YAML may read as a number.
  case version
  case path
  /// Bytes, such as `64MiB`.
  case length
  /// `HOST:PORT`.
  case endpoint
  case choice([String])
  case texts(TextForm)
  case paths
  /// Texts by name.
  case dictionary(names: TextForm)
  case part([SettingKey])
  case parts([SettingKey])
}

/// What the schema requires of a text. The row's `objection` requires at least the same.
package struct TextForm: Sendable {
  /// A regular expression of ECMA-262, as JSON Schema has them; `nil` for any text.
  package var pattern: String?
  /// The least number of characters.
  package var least = 0
  /// The greatest number of characters; `nil` for any.
  package var most: Int?

  /// A name that can be a component of an address and of a path.
  static func name(most: Int? = nil) -> TextForm { TextForm(pattern: #"^(?!\.{1,2}$)[A-Za-z0-9_.-]+$"#, most: most) }
  static let notEmpty = TextForm(least: 1)
}

/// The numbers that a key may have.
package struct SettingRange: Sendable, Hashable, CustomStringConvertible {
  package let least: Double
  /// `nil` for `longest`, in seconds, and for the greatest `Int`.
  package let most: Double?
  package let unit: String

  /// A number of seconds must be below it, so that no computation overflows.
  package static let longest = 1e9

  func contains(_ value: Double) -> Bool { value >= least && value <= most ?? .infinity }

  /// Such as `1 to 100`, `at least 1 s`, `0 or more`.
  package var description: String {
    let suffix = unit.isEmpty ? "" : " \(unit)"
    if let most { return "\(Self.text(least)) to \(Self.text(most))\(suffix)" }
    return least == 0 ? "0 or more" : "at least \(Self.text(least))\(suffix)"
  }

  /// With the greatest `Int` in place of no limit.
  var ofWholeNumbers: String {
    most == nil ? "\(Self.text(least)) to \(Int.max)\(unit.isEmpty ? "" : " \(unit)")" : description
  }

  /// A number without the fraction 0.
  package static func text(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
}

extension Duration {
  fileprivate var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension ConfigurationReader {
  fileprivate mutating func integer(_ name: String, in range: SettingRange) throws(ClusterError) -> Int? {
    guard let value = try integer(name, in: range.ofWholeNumbers) else { return nil }
    guard range.contains(Double(value)) else { throw error(name, "must be \(range)") }
    return value
  }

  fileprivate mutating func index(_ name: String, among choices: [String]) throws(ClusterError) -> Int? {
    guard let text = try string(name) else { return nil }
    guard let index = choices.firstIndex(of: text) else {
      throw error(name, "must be \(choices.joined(separator: " or ")), not \"\(text)\"")
    }
    return index
  }
}
