// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Foundation
import JournalAnalysis
import Messages

/// `widgetlab look`.
struct LookCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "look",
    abstract: "Selects the visible screen; or turns the display off, Always-On, dark, or light.",
    discussion: """
      Visible widgets have a larger budget than others. When a screen of widgets becomes visible, the foreground app \
      goes to the background. The setting survives a host restart.

      LOCATIONS
        \(ScreenLocation.list)
        off          the display is off
        alwaysOn     the dimmed Lock Screen of a locked Always-On device
        dark, light  the appearance of all screens

      EXAMPLES
        widgetlab look homeScreen
        widgetlab look off
        widgetlab look dark
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "A location, off, alwaysOn, dark or light.")
  var place: Place

  @Flag(help: "Print one JSON object: isLocked, wasUnlocked, seen, isLuminanceReduced, frontApp, colorScheme.")
  var json = false

  enum Place: ExpressibleByArgument, Sendable {
    case off
    case alwaysOn
    case appearance(ColorSchemeName)
    case location(ScreenLocation)

    static var allValueStrings: [String] { ["off", "alwaysOn", "dark", "light"] + ScreenLocation.allValueStrings }

    init?(argument: String) {
      if argument == "off" {
        self = .off
      } else if argument == "alwaysOn" {
        self = .alwaysOn
      } else if let scheme = ColorSchemeName(rawValue: argument) {
        self = .appearance(scheme)
      } else if let location = ScreenLocation(argument: argument) {
        self = .location(location)
      } else {
        return nil
      }
    }
  }

  func run() async throws {
    try await changeScreen(options, json: json) { cluster in
      switch place {
      case .off: return .darken
      case .alwaysOn: return .alwaysOn
      case .appearance(let scheme): return .colorScheme(scheme)
      case .location(let location):
        try location.check(cluster)
        return .look(location.name)
      }
    }
  }
}

/// `widgetlab lock`.
struct LockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Locks the device: the foreground app goes to the background, and the display turns off.",
    discussion: """
      Buttons and toggles of widgets do nothing, privacySensitive() content is redacted, and the content of an \
      extension with the data protection class complete is hidden, and its reloads wait. After --restart, the device \
      shows placeholders, and requests no timelines, until it is unlocked.

      EXAMPLES
        widgetlab lock; widgetlab look lockScreen; widgetlab screen
        widgetlab lock --restart
      """)

  @OptionGroup var options: InstanceOptions

  @Flag(help: "Restart the device: all apps and extensions exit, and it has not been unlocked since.")
  var restart = false

  @Flag(help: "Print one JSON object: isLocked, wasUnlocked, seen, isLuminanceReduced, frontApp, colorScheme.")
  var json = false

  func run() async throws { try await changeScreen(options, json: json) { _ in restart ? .restart : .lock } }
}

/// `widgetlab unlock`.
struct UnlockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Unlocks the device and shows its Home Screen.",
    discussion: """
      EXAMPLE
        widgetlab unlock
      """)

  @OptionGroup var options: InstanceOptions

  @Flag(help: "Print one JSON object: isLocked, wasUnlocked, seen, isLuminanceReduced, frontApp, colorScheme.")
  var json = false

  func run() async throws { try await changeScreen(options, json: json) { _ in .unlock } }
}

/// Changes what the user sees, and prints the result.
func changeScreen(
  _ options: InstanceOptions, json: Bool, _ change: (ClusterFacts) throws -> ChangeScreen.Change
) async throws {
  try await reporting {
    let state = try await OperatorSession.with(options) { session in
      try await session.ask(ChangeScreen(try change(session.cluster)))
    }
    if json { try Output.json(state) } else { Output.print(state.text) }
  }
}

/// `widgetlab tap`.
struct TapCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tap",
    abstract: "Taps a control, or a widget: its button or toggle, a link in it, or the widget itself.",
    discussion: """
      The intent of a button or toggle is performed in the extension or in the app, and the widget gets a new \
      timeline, free of budget. A tap elsewhere opens the app: with the link's URL, the widget's URL, or a user \
      activity with the widget's kind. A control's intent is performed in the same way as that of a button.

      Exit code 1 if the intent failed or had no reply.

      On a locked device a tap on a widget has no effect. A control performs its intent, unless the intent needs an \
      unlocked device.

      EXAMPLES
        widgetlab tap 1
        widgetlab tap 1 --button 2            the second button or toggle
        widgetlab tap 1 --link "More"         by its text, or its URL
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget's number, as shown by `widgetlab screen`.")
  var number: Int

  @Option(help: "A button or toggle, counted from 1 in reading order.")
  var button: Int?

  /// The former name of `button`.
  @Option(help: .hidden)
  var control: Int?

  @Option(help: "A link, by its text or its URL.")
  var link: String?

  @Flag(help: "Print one JSON object: outcome, hasFailed.")
  var json = false

  func validate() throws {
    guard [button != nil, control != nil, link != nil].count(where: \.self) <= 1 else {
      throw ValidationError("Give --button or --link, and only once.")
    }
  }

  func run() async throws {
    try await reporting {
      let reply = try await OperatorSession.with(options) { session in
        try await session.ask(
          TapWidget(placement: number, control: button ?? control, link: link), within: .seconds(40))
      }
      if json { try Output.json(reply) } else { Output.print(reply.outcome) }
      if reply.hasFailed { throw Exit.no }
    }
  }
}

/// `widgetlab turn`.
struct TurnCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "turn",
    abstract: "Turns a stack until this widget is on top, as a user does by swiping.",
    discussion: """
      Only the top widget is visible; the others have the budget of invisible widgets. A stack also turns on its own \
      to the widget whose entry has the highest relevance (Smart Rotate), but at most once per smartRotatePause, 1800 \
      s, unless developerMode is on. `widgetlab add KIND --stack NUMBER` puts a widget on another.

      EXAMPLE
        widgetlab turn 2
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget's number, as shown by `widgetlab screen`.")
  var number: Int

  @Flag(help: "Print one JSON object: members, in stack order.")
  var json = false

  func run() async throws {
    try await reporting {
      let reply = try await OperatorSession.with(options) { session in
        try await session.ask(TurnStack(placement: number))
      }
      if json { try Output.json(reply) } else { Output.print("\(number) is on top of the stack of \(reply.text)") }
    }
  }
}
