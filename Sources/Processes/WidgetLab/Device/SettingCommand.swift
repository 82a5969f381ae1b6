// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Foundation
import JournalAnalysis
import Messages

/// `widgetlab setting`.
struct SettingCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "setting",
    abstract: "Shows or changes a setting of the device, such as its text size or language.",
    discussion: """
      A change survives a host restart. The system reloads all widgets, free of budget, and their views read the new \
      value; a running process has a new time zone at once. A new locale ends apps and extensions, as the system does \
      when the language changes. Without arguments, all values are shown.

      SETTINGS
        appearance            light, dark; reloads nothing
        text-size             \(TextSizeName.allCases.prefix(7).map(\.rawValue).joined(separator: ", ")),
                              accessibility1 to accessibility5
        contrast              standard, increased
        bold-text, reduce-motion, reduce-transparency,
        differentiate-without-color, voice-over
                              off, on
        locale                language and region, such as de_DE or ar
        time-zone             such as Europe/Zurich; the budget's day is in it
        location              degrees, such as 47.4,8.5, or unknown; reloads nothing
        location-access       allowed, denied; reloads nothing
        battery               such as 80, 80,charging or 100,full; reloads nothing
        low-power-mode        off, on; reloads nothing
        notification-access   allowed, denied, unanswered; reloads nothing
      The value default restores that of widgetlab.yaml.

      CHANGES WITHOUT A VALUE
        account, time         another account; a significant time change

      EXAMPLES
        widgetlab setting
        widgetlab setting text-size xxxLarge
        widgetlab setting locale ar
        widgetlab setting time-zone default
        widgetlab setting account
      """)

  /// What the arguments name.
  enum Subject: Hashable {
    case setting(SettingName)
    case appearance
    /// A change without a value.
    case event(String)
  }

  @OptionGroup var options: InstanceOptions

  @Argument(help: "A setting, or a change without a value; without it, all settings are shown.")
  var name: String?

  @Argument(help: "The new value, or default; without it, the current value is shown.")
  var value: String?

  @Flag(help: "Print one JSON object: settings, changed (the names that the user changed), and appearance.")
  var json = false

  func validate() throws {
    guard let subject = try subject() else { return }
    switch subject {
    case .event(let name):
      if value != nil { throw ValidationError("\(name) has no value: widgetlab setting \(name).") }
    case .appearance: _ = try scheme()
    case .setting(let name):
      guard let value, value != Self.usual else { return }
      do {
        var settings = DeviceSettings()
        try settings.set(name, to: value)
      } catch {
        throw ValidationError("\(error).")
      }
    }
  }

  private static let usual = "default"

  func subject() throws -> Subject? {
    guard let name else { return nil }
    if ChangeScreen.systemSettings.contains(name) { return .event(name) }
    if name == "appearance" { return .appearance }
    if let setting = SettingName(rawValue: name) { return .setting(setting) }
    let known = ["appearance"] + SettingName.allCases.map(\.rawValue) + ChangeScreen.systemSettings
    throw ValidationError("'\(name)' is not a setting; there are: \(known.joined(separator: ", ")).")
  }

  /// The appearance to set; `nil` if it is only shown.
  private func scheme() throws -> ColorSchemeName? {
    guard let value else { return nil }
    guard let scheme = ColorSchemeName(rawValue: value == Self.usual ? ColorSchemeName.light.rawValue : value) else {
      throw ValidationError("\"\(value)\" is not an appearance; use light or dark.")
    }
    return scheme
  }

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        let before = try await session.ask(ChangeSetting(.ask))
        var now = before
        switch try subject() {
        case nil: break
        case .event(let name):
          _ = try await session.ask(ChangeScreen(.system(name)))
          if !json { return Output.print("\(name) changed: all widgets are reloaded") }
        case .appearance:
          if let scheme = try scheme() { _ = try await session.ask(ChangeScreen(.colorScheme(scheme))) }
          now = try await session.ask(ChangeSetting(.ask))
        case .setting(let name):
          guard let value else { break }
          now = try await session.ask(ChangeSetting(value == Self.usual ? .reset(name) : .set(name, value)))
        }
        if json { try Output.json(now) } else { for line in try lines(before, now) { Output.print(line) } }
      }
    }
  }

  /// What is printed about the settings before and after the command.
  func lines(_ before: ChangeSetting.Reply, _ now: ChangeSetting.Reply) throws -> [String] {
    switch try subject() {
    case .setting(let name):
      let text = "\(name.rawValue) \(now.settings[name])"
      guard value != nil else { return [text] }
      let isSame = now.settings == before.settings && now.changed == before.changed
      return [isSame ? "\(text), as before" : name.reloadsNothing ? text : "\(text): all widgets are reloaded"]
    case .appearance: return ["appearance \(now.appearance.rawValue)"]
    case .event, nil:
      let width = SettingName.allCases.map(\.rawValue.count).max() ?? 0
      func line(_ name: String, value: String, isChanged: Bool) -> String {
        name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + value + (isChanged ? "  (changed)" : "")
      }
      return [line("appearance", value: now.appearance.rawValue, isChanged: false)]
        + SettingName.allCases.map { line($0.rawValue, value: now.settings[$0], isChanged: now.changed.contains($0)) }
    }
  }
}
