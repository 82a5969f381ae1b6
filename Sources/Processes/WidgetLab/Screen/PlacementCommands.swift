// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Foundation
import JournalAnalysis
import Messages

/// `widgetlab add`.
struct AddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Places a widget or a control, as a user does from the gallery.",
    discussion: """
      Several widgets of one kind can be on a screen. --stack puts the widget on top of another widget of its size, or \
      of its stack, which holds at most ten (see `widgetlab turn`). The parameters are listed with the current results \
      of the author's queries; --set chooses by the parameter's name, also values that a query only finds in a search.

      EXAMPLES
        widgetlab add CaffeineTracker
        widgetlab add CaffeineTracker --family systemMedium
        widgetlab add CaffeineTracker --location lockScreen
        widgetlab add CaffeineTracker --stack 1
        widgetlab add Weather --set city=London --set hourly=yes
        widgetlab add GarageDoor --location controlCenter      a control
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget kind, as in StaticConfiguration(kind:).")
  var kind: String

  @Option(help: "The family (default: the first that the location offers).")
  var family: WidgetFamilyName?

  @Option(help: "The location, such as lockScreen or standBy (default: the Home Screen).")
  var location: ScreenLocation?

  @Option(help: ArgumentHelp("The widget to put it on, or one of that stack.", valueName: "number"))
  var stack: Int?

  @Option(name: .customLong("set"), help: "A choice: name=value; may be repeated.")
  var choices: [Choice] = []

  @Option(help: "The extension's bundle identifier, when several have the kind.")
  var bundle: String?

  @Flag(help: "Print one JSON object: placement, displayName, description, configuration, promptsForConfiguration.")
  var json = false

  func validate() throws {
    if stack != nil, location != nil { throw ValidationError("Give --stack or --location, not both.") }
  }

  func run() async throws {
    try await reporting {
      let report = try await OperatorSession.with(options) { session in
        try location?.check(session.cluster)
        return try await session.ask(
          AddPlacement(
            bundle: bundle, widgetKind: kind, family: family,
            location: (location ?? .homeScreen).name, configuration: choices.configuration, stack: stack),
          within: .seconds(60))
      }
      if json { return try Output.json(report) }
      for line in report.lines("added") { Output.print(line) }
      if report.promptsForConfiguration, choices.isEmpty {
        Output.print("the widget prompts for its configuration: widgetlab edit \(report.placement.id) --set NAME=VALUE")
      }
    }
  }
}

/// `widgetlab edit`.
struct EditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Configures a widget, as a user does with a long press and Edit.",
    discussion: """
      Parameters that are not given stay unchanged; `--set name=` restores the author's default. Without --set, it \
      lists the choices and changes nothing.

      EXAMPLES
        widgetlab edit 2
        widgetlab edit 2 --set city=Paris
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget's number, as shown by `widgetlab screen`.")
  var number: Int

  @Option(name: .customLong("set"), help: "A choice: name=value; may be repeated.")
  var choices: [Choice] = []

  @Flag(help: "Print one JSON object: placement, displayName, description, configuration, promptsForConfiguration.")
  var json = false

  func run() async throws {
    try await reporting {
      let report = try await OperatorSession.with(options) { session in
        try await session.ask(
          EditPlacement(placement: number, configuration: choices.configuration), within: .seconds(60))
      }
      if json { return try Output.json(report) }
      for line in report.lines(choices.isEmpty ? "is" : "edited") { Output.print(line) }
    }
  }
}

/// `widgetlab remove`.
struct RemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes a widget from its screen.",
    discussion: """
      Its number is not used again.

      EXAMPLE
        widgetlab remove 2
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget's number, as shown by `widgetlab screen`.")
  var number: Int

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        _ = try await session.ask(RemovePlacement(placement: number))
        Output.print("removed \(number)")
      }
    }
  }
}

extension WidgetFamilyName: ExpressibleByArgument {}

/// `name=value`.
struct Choice: ExpressibleByArgument, Sendable {
  let name: String
  let value: String

  init?(argument: String) {
    guard let sign = argument.firstIndex(of: "="), sign != argument.startIndex else { return nil }
    name = String(argument[..<sign])
    value = String(argument[argument.index(after: sign)...])
  }
}

extension [Choice] {
  /// As texts. The host knows the types and converts them.
  var configuration: [String: ArchivedValue] {
    Dictionary(map { ($0.name, .string($0.value)) }, uniquingKeysWith: { $1 })
  }
}

extension PlacementReport {
  /// What a user sees when adding or editing the widget.
  func lines(_ word: String) -> [String] {
    let place = "\(placement.family.rawValue), \(placement.location.rawValue)"
    let name = displayName == placement.kind ? displayName : "\(displayName) (\(placement.kind))"
    let head = "\(placement.id) \(word): \(name), \(place)"
    let text = description.isEmpty ? [] : ["  \(description)"]
    guard let configuration else { return [head] + text }
    return [head] + text + ["  \(configuration.title)"]
      + configuration.parameters.map { "    " + $0.line(placement.configuration[$0.name]) }
  }
}

extension IntentDeclaration.Parameter {
  /// `city = London: City, one of London, Paris`.
  fileprivate func line(_ chosen: ArchivedValue?) -> String {
    let now = (chosen ?? standard).map { value in
      options.first { $0.value == value }?.title ?? value.text
    }
    let choices = options.isEmpty ? type.rawValue : "one of \(list)"
    let label = title == name || title.isEmpty ? "" : "\(title), "
    return "\(name) = \(now ?? "nothing")\(chosen == nil ? " (default)" : ""): \(label)\(choices)"
  }

  /// `London, Paris`; with sections `Europe: London, Paris; Asia: Tokyo`.
  private var list: String {
    var text = ""
    var section: String?
    for (index, option) in options.enumerated() {
      if index > 0 { text += option.section == section ? ", " : "; " }
      if option.section != section { text += option.section.map { "\($0): " } ?? "" }
      section = option.section
      text += choice(option)
    }
    return text
  }

  /// `1 (London, the capital)`.
  private func choice(_ option: IntentDeclaration.Option) -> String {
    let value = option.value.text
    let texts = [option.title == value ? nil : option.title, option.subtitle].compactMap(\.self)
    return texts.isEmpty ? value : "\(value) (\(texts.joined(separator: ", ")))"
  }
}
