import Archive
import ArgumentParser
import Conversations
import Foundation

/// `widgetlab look`.
struct LookCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "look",
    abstract: "Says which screen a person looks at; or turns the display off, Always-On, dark, or light.",
    discussion: """
      Widgets that are seen have more of a budget than those that are not, and an app that is left for a screen of widgets \
      is in front no longer. It stays so when the host dies.

      PLACES
        \(ScreenLocation.list)
        off          the display is off
        alwaysOn     a locked device that has it shows its Lock Screen with less light
        dark, light  the appearance, wherever one looks

      EXAMPLES
        widgetlab look homeScreen
        widgetlab look off
        widgetlab look dark
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "A location, off, alwaysOn, dark or light.")
  var place: Place

  @Flag(help: "One JSON object: isLocked, wasUnlocked, seen, isLuminanceReduced, frontApp, colorScheme.")
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
    abstract: "Locks the device: the app in front goes to the background, and the display is off.",
    discussion: """
      Buttons and toggles of widgets do nothing, what is privacySensitive() is redacted, and the content of an extension with \
      the data protection class complete is hidden, and its reloads wait. Started anew (--restart), the device shows \
      placeholders, and asks for no timeline, until it is unlocked.

      EXAMPLES
        widgetlab lock; widgetlab look lockScreen; widgetlab screen
        widgetlab lock --restart
      """)

  @OptionGroup var options: InstanceOptions

  @Flag(help: "Start the device anew: every app and extension ends, and it was not unlocked since.")
  var restart = false

  @Flag(help: "One JSON object: isLocked, wasUnlocked, seen, isLuminanceReduced, frontApp, colorScheme.")
  var json = false

  func run() async throws { try await changeScreen(options, json: json) { _ in restart ? .restart : .lock } }
}

/// `widgetlab unlock`.
struct UnlockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Unlocks the device: its Home Screen is seen.",
    discussion: """
      EXAMPLE
        widgetlab unlock
      """)

  @OptionGroup var options: InstanceOptions

  @Flag(help: "One JSON object: isLocked, wasUnlocked, seen, isLuminanceReduced, frontApp, colorScheme.")
  var json = false

  func run() async throws { try await changeScreen(options, json: json) { _ in .unlock } }
}

/// `widgetlab setting`.
struct SystemCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "setting",
    abstract: "Changes a setting of the system for which it asks all widgets anew.",
    discussion: """
      locale, text-size, accessibility, account, or time (a significant change of it). The reloads cost no budget. The first \
      three have placeholders asked for anew too.

      EXAMPLE
        widgetlab setting text-size
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "locale, text-size, accessibility, account or time.")
  var setting: String

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        _ = try await session.ask(ChangeScreen(.system(setting)))
        Output.say("\(setting) changed: all widgets are asked anew")
      }
    }
  }
}

/// Changes what a person sees, and says how it is then.
func changeScreen(
  _ options: InstanceOptions, json: Bool, _ change: (ClusterFacts) throws -> ChangeScreen.Change
) async throws {
  try await reporting {
    let state = try await OperatorSession.with(options) { session in
      try await session.ask(ChangeScreen(try change(session.cluster)))
    }
    if json { try Output.json(state) } else { Output.say(state.text) }
  }
}

/// `widgetlab tap`.
struct TapCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tap",
    abstract: "Touches a widget: its button or toggle, a link in it, or the widget itself.",
    discussion: """
      A button or toggle has its intent performed, in the extension or in the app, and the widget a new timeline that costs \
      nothing. Elsewhere the app opens: with the link's URL, the widget's, or a user activity that names the widget. On a \
      locked device nothing happens.

      EXAMPLES
        widgetlab tap 1
        widgetlab tap 1 --control 2           the second button or toggle
        widgetlab tap 1 --link "More"         by its text, or its URL
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget's number: `widgetlab screen` shows it.")
  var number: Int

  @Option(help: "A button or toggle, counted from 1 in reading order.")
  var control: Int?

  @Option(help: "A link, by its text or its URL.")
  var link: String?

  @Flag(help: "One JSON object: outcome.")
  var json = false

  func validate() throws {
    if control != nil, link != nil { throw ValidationError("A finger touches a control or a link, not both.") }
  }

  func run() async throws {
    try await reporting {
      let reply = try await OperatorSession.with(options) { session in
        try await session.ask(TapWidget(placement: number, control: control, link: link), within: .seconds(40))
      }
      if json { try Output.json(reply) } else { Output.say(reply.outcome) }
    }
  }
}
