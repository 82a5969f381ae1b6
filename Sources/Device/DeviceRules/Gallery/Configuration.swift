// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation
import Messages

extension WidgetDeclaration {
  /// Merges the user's choices into earlier ones, as values of the intent's parameters. A text is parsed as the
  /// parameter's type; an empty text resets the parameter to its default.
  ///
  /// - Throws: `bad-configuration`, definite; the message states what the parameter takes.
  func configured(
    with choices: [String: ArchivedValue], over earlier: [String: ArchivedValue] = [:]
  ) throws(BusError) -> [String: ArchivedValue] {
    var values = earlier
    for (name, choice) in choices.sorted(by: { $0.key < $1.key }) {
      guard let configuration else {
        throw BusError(.badConfiguration, "\(kind) has no configurable parameters")
      }
      guard let parameter = configuration.parameters.first(where: { $0.name == name }) else {
        let names = configuration.parameters.map(\.name).joined(separator: ", ")
        throw BusError(
          .badConfiguration, "\(configuration.type) has no parameter \(name); its parameters: \(names)")
      }
      values[name] = choice == .string("") ? nil : try parameter.value(of: choice)
    }
    return values
  }
}

extension IntentDeclaration.Parameter {
  /// Converts a choice to a value of this parameter.
  fileprivate func value(of choice: ArchivedValue) throws(BusError) -> ArchivedValue {
    if !options.isEmpty {
      let text = choice.string
      let fitting = options.first { $0.value == choice || text != nil && ($0.value.plain == text || $0.title == text) }
      if let fitting { return fitting.value }
      // For a text or a number the options are only suggestions.
      if type == .enum || type == .entity { throw wrong(choice, optionList) }
    }
    guard let text = choice.string else { return try typed(choice) }
    return try read(text)
  }

  private var optionList: String {
    "one of: "
      + options.map { $0.title == $0.value.plain ? $0.title : "\($0.value.plain) (\($0.title))" }
      .joined(separator: ", ")
  }

  private func typed(_ value: ArchivedValue) throws(BusError) -> ArchivedValue {
    switch (type, value) {
    case (.bool, .bool), (.double, .number), (.date, .date), (.entity, _), (.enum, _): return value
    case (.int, .number(let number)) where number == number.rounded(): return value
    default: throw wrong(value, words)
    }
  }

  private func read(_ text: String) throws(BusError) -> ArchivedValue {
    switch type {
    case .bool:
      if ["true", "yes", "on"].contains(text.lowercased()) { return true }
      if ["false", "no", "off"].contains(text.lowercased()) { return false }
    case .int: if let number = Int(text) { return .number(Double(number)) }
    case .double: if let number = Double(text), number.isFinite { return .number(number) }
    case .date: if let date = try? Date(text, strategy: .iso8601) { return .date(date) }
    case .url: if let url = URL(string: text), url.scheme != nil { return .string(text) }
    case .string, .enum, .entity: return .string(text)
    }
    throw wrong(.string(text), words)
  }

  private var words: String {
    switch type {
    case .bool: "true or false"
    case .int: "a whole number"
    case .double: "a number"
    case .date: "a date such as 2026-11-21T07:15:00Z"
    case .url: "a URL with a scheme"
    case .string: "text"
    case .enum, .entity: optionList
    }
  }

  private func wrong(_ value: ArchivedValue, _ wanted: String) -> BusError {
    BusError(.badConfiguration, "\(name) must be \(wanted); got '\(value.plain)'")
  }
}

extension ArchivedValue {
  /// The value as text that the user would enter.
  package var plain: String {
    switch self {
    case .bool(let value): "\(value)"
    case .number(let value): value == value.rounded() && abs(value) < 1e15 ? "\(Int(saturating: value))" : "\(value)"
    case .string(let value): value
    case .date(let value): value.formatted(.iso8601)
    case .list(let values): values.map(\.plain).joined(separator: ", ")
    case .record(let values):
      values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.plain)" }.joined(separator: ", ")
    }
  }
}
