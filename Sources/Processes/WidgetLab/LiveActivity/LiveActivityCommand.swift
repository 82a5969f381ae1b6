// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import Foundation
import JournalAnalysis
import MessageBus
import Messages
import Pictures

/// `widgetlab activity`.
struct LiveActivityCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "activity",
    abstract: "Lists, starts, updates and ends Live Activities, and shows their presentations.",
    discussion: """
      An app starts its Live Activities with ActivityKit, and a backend with pushes of the type liveactivity. These \
      commands do the same from outside, for an app whose code does not run here.

      EXAMPLES
        widgetlab activity list
        widgetlab activity start Ride --attributes '{"to":"Bern"}' --state '{"km":5}'
        widgetlab activity update 1 --state '{"km":4}' --stale-in 10m
        widgetlab activity show 1 --picture ride.png
        widgetlab activity tap 1 --button 1
        widgetlab activity end 1 --dismiss-in 1h
        widgetlab push --type liveactivity --activity 1 --payload update.json
      """,
    subcommands: [
      LiveActivityListCommand.self, LiveActivityStartCommand.self, LiveActivityUpdateCommand.self,
      LiveActivityEndCommand.self, LiveActivityDismissCommand.self, LiveActivityShowCommand.self,
      LiveActivityTapCommand.self, LiveActivityAllowCommand.self,
    ], defaultSubcommand: LiveActivityListCommand.self)
}

/// `widgetlab activity list`.
struct LiveActivityListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the Live Activities of the device, in the order of their start.")

  @OptionGroup var options: InstanceOptions

  @Flag(help: "Print one JSON object: activities, each with number, id, phase, content and token.")
  var json = false

  func run() async throws {
    try await reporting {
      let reply = try await OperatorSession.with(options, reading: true) { try await $0.ask(ListActivities()) }
      if json {
        return Output.json(data: try BodyCoding.data(reply))
      }
      guard !reply.activities.isEmpty else { return Output.print("the device has no Live Activity") }
      for activity in reply.activities { for line in activity.lines { Output.print(line) } }
    }
  }
}

/// `widgetlab activity start`.
struct LiveActivityStartCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "start", abstract: "Starts a Live Activity, as the app does with Activity.request.",
    discussion: """
      The JSON is that of the author's Codable types, as JSONEncoder writes it: a Date is a number of seconds since \
      2001. An activity that an extension cannot decode is kept, and its views are not shown: see `widgetlab activity \
      show`. Unlike the app itself, this command does not need the app to be in the foreground.
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The name of the type of ActivityAttributes.")
  var attributesType: String

  @Option(help: "The attributes, JSON.")
  var attributes = "{}"

  @OptionGroup var content: ActivityContentOptions

  @Option(help: "The app's bundle identifier (default: the only app).")
  var app: String?

  @Flag(help: "Request a device token for updates: pushType: .token. The app needs the entitlement aps-environment.")
  var token = false

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        let bundle = try session.cluster.bundle(ofKnownApp: app)
        let id = UUID().uuidString
        let reply = try await session.ask(
          RequestActivity(
            id: id, app: bundle, attributesType: attributesType, attributes: attributes,
            content: try await content.record(session), usesToken: token), within: .seconds(60))
        guard let activity = reply.activities.first(where: { $0.id == id }) else { return }
        Output.print("Live Activity \(activity.number) of \(attributesType) is \(activity.phase.rawValue)")
      }
    }
  }
}

/// `widgetlab activity update`.
struct LiveActivityUpdateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Shows other content, as the app does with Activity.update.")

  @OptionGroup var options: InstanceOptions
  @Argument(help: "The number or the id of the activity.") var activity: String
  @OptionGroup var content: ActivityContentOptions

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        let record = try await content.record(session)
        _ = try await session.ask(ChangeActivity(id: activity, .update(record)))
        Output.print("Live Activity \(activity) is updated")
      }
    }
  }
}

/// `widgetlab activity end`.
struct LiveActivityEndCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "end", abstract: "Ends an activity, as the app does with Activity.end.",
    discussion: """
      An ended activity leaves the Dynamic Island at once, and the Lock Screen after four hours, or after --dismiss-in.
      """)

  @OptionGroup var options: InstanceOptions
  @Argument(help: "The number or the id of the activity.") var activity: String
  @Option(help: "The last content, JSON (default: the present one).") var state: String?
  @Option(help: "It leaves the Lock Screen after this time of the device, such as 0 or 10m.", transform: seconds)
  var dismissIn: Double?

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        let now = try await session.ask(SetClock(change: .ask)).now
        let dismissal = dismissIn.map { ChangeActivity.Dismissal.after(now.addingTimeInterval($0)) }
        let content = state.map { ActivityContentRecord(state: $0) }
        _ = try await session.ask(ChangeActivity(id: activity, .end(content, dismissal ?? .standard)))
        Output.print("Live Activity \(activity) has ended")
      }
    }
  }
}

/// `widgetlab activity dismiss`.
struct LiveActivityDismissCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dismiss", abstract: "Removes an activity from the Lock Screen, as the user does with a swipe.")

  @OptionGroup var options: InstanceOptions
  @Argument(help: "The number or the id of the activity.") var activity: String

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        _ = try await session.ask(ChangeActivity(id: activity, .dismiss))
        Output.print("Live Activity \(activity) is dismissed")
      }
    }
  }
}

/// `widgetlab activity tap`.
struct LiveActivityTapCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tap", abstract: "Taps an activity: a button, a toggle or a link of it, or the activity itself.",
    discussion: """
      The intent of a button or toggle is performed in the app if it is a LiveActivityIntent, and otherwise in the \
      extension, as `widgetlab tap` does for a widget. A tap elsewhere opens the app, with the link's URL or that of \
      widgetURL.

      Exit code 1 if the intent failed or had no reply.

      EXAMPLES
        widgetlab activity tap 1
        widgetlab activity tap 1 --presentation lockScreen --button 2
      """)

  @OptionGroup var options: InstanceOptions
  @Argument(help: "The number or the id of the activity.") var activity: String

  @Option(help: "lockScreen or expanded (default: lockScreen where the Lock Screen is visible or no island is).")
  var presentation: Presentation?

  @Option(help: "A button or toggle of the presentation, counted from 1 in reading order.")
  var button: Int?

  @Option(help: "A link, by its text or its URL.")
  var link: String?

  @Flag(help: "Print one JSON object: outcome, hasFailed.")
  var json = false

  enum Presentation: String, ExpressibleByArgument, CaseIterable {
    case lockScreen, expanded
    var value: TapActivity.Presentation { self == .lockScreen ? .lockScreen : .expanded }
  }

  func validate() throws {
    guard button == nil || link == nil else { throw ValidationError("Give --button or --link, not both.") }
  }

  func run() async throws {
    try await reporting {
      let reply = try await OperatorSession.with(options) { session in
        try await session.ask(
          TapActivity(id: activity, presentation: presentation?.value, control: button, link: link),
          within: .seconds(40))
      }
      if json { try Output.json(reply) } else { Output.print(reply.outcome) }
      if reply.hasFailed { throw Exit.no }
    }
  }
}

/// `widgetlab activity allow`.
struct LiveActivityAllowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "allow", abstract: "Allows the Live Activities of an app, or forbids them, as in Settings.",
    discussion: """
      It also answers the question of the Lock Screen below the first activity of an app: Allow, or Don't Allow. Until \
      then an activity that a push started has no token for updates (activityTokenNeedsConsent).

      EXAMPLES
        widgetlab activity allow no      the activities of the only app end, and it can start none
        widgetlab activity allow yes
      """)

  @OptionGroup var options: InstanceOptions
  @Argument(help: "yes or no.") var isAllowed: Answer
  @Argument(help: "The app's bundle identifier (default: the only app).") var app: String?

  enum Answer: String, ExpressibleByArgument, CaseIterable { case yes, no }

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        let bundle = try session.cluster.bundle(ofKnownApp: app)
        _ = try await session.ask(AllowActivities(app: bundle, isAllowed: isAllowed == .yes))
        Output.print("Live Activities of \(bundle) are \(isAllowed == .yes ? "allowed" : "forbidden")")
      }
    }
  }
}

/// Reads a duration.
private func seconds(_ text: String) throws -> Double {
  guard let seconds = text == "0" ? 0 : Amount.seconds(text) else {
    throw ValidationError("'\(text)' is not a duration; use 0, 90s, 5m or 2h.")
  }
  return seconds
}

/// The content of an activity, as options.
struct ActivityContentOptions: ParsableArguments {
  @Option(help: "The content state, JSON.")
  var state = "{}"

  @Option(help: "The content becomes stale after this time of the device, such as 10m.", transform: seconds)
  var staleIn: Double?

  @Option(help: "The relevance score: the highest is first.")
  var relevance = 0.0

  func record(_ session: OperatorSession) async throws -> ActivityContentRecord {
    let now = try await session.ask(SetClock(change: .ask)).now
    return ActivityContentRecord(
      state: state, staleDate: staleIn.map { now.addingTimeInterval($0) }, relevanceScore: relevance)
  }
}

extension ActivityRecord {
  /// The activity as `widgetlab activity list` prints it.
  var lines: [String] {
    var facts = [phase.rawValue, "started \(startedAt.formatted(.iso8601))"]
    if let staleDate = content.staleDate, phase == .active { facts.append("stale \(staleDate.formatted(.iso8601))") }
    if let endedAt { facts.append("ended \(endedAt.formatted(.iso8601))") }
    if let dismissAt { facts.append("dismissed \(dismissAt.formatted(.iso8601))") }
    var lines = ["\(number)  \(attributesType)  of \(app)  \(facts.joined(separator: ", "))", "   id \(id)"]
    if usesToken, token != nil || phase != .ended {
      lines.append("   token \(token ?? (awaitsConsent ? "none until the user allows Live Activities" : "none yet"))")
    }
    return lines + ["   attributes \(attributes)", "   state \(content.state)"]
  }
}

/// `widgetlab activity show`.
struct LiveActivityShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows the presentations of a Live Activity, wherever the device shows it.",
    discussion: """
      `widgetlab screen` shows an activity in its place: on the Lock Screen, or compact or minimal in the Dynamic \
      Island. This command shows all presentations, also the expanded one, which a person sees after a long touch. \
      --picture draws one of them, near to a phone's and not exact.

      EXAMPLES
        widgetlab activity show 1
        widgetlab activity show 1 --presentation expanded --picture island.png
      """)

  @OptionGroup var options: InstanceOptions
  @Argument(help: "The number or the id of the activity (default: the only one).") var activity: String?

  @Option(help: "lockScreen, compact, minimal or expanded (default: all; for a picture lockScreen).")
  var presentation: Presentation?

  @Option(help: ArgumentHelp("Draw the presentation into an SVG or a PNG file.", valueName: "FILE"))
  var picture: String?

  @Flag(help: "Print one JSON object: number, id, phase, state, and the texts of each part.")
  var json = false

  enum Presentation: String, ExpressibleByArgument, CaseIterable {
    case lockScreen, compact, minimal, expanded
    var value: ActivityPresentation { ActivityPresentation(rawValue: rawValue) ?? .lockScreen }
  }

  func validate() throws {
    guard let picture, PictureFormat(path: picture) == nil else { return }
    throw ValidationError("A picture is an SVG or a PNG file, and not '\(picture)'.")
  }

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options, reading: true) { session in
        let reply = try await session.ask(ShowScreen())
        let shown = try chosen(reply.activities ?? [], session)
        let clock = try await session.ask(SetClock(change: .ask))
        var print = ScreenPrint(
          reply: reply, now: clock.now,
          hidesSensitiveContent: session.cluster.configuration.settings.gallery.hidesSensitiveContent)
        let text = ActivityPrint(shown, print.appearance)
        if let picture {
          print.images = try await session.images(of: reply)
          try draw(shown, screen: print, session: session, to: picture)
        }
        if json {
          try Output.json(text.facts)
        } else if picture == nil {
          let all = presentation.map { [$0.value] } ?? ActivityPresentation.allCases
          for line in text.lines(of: all) { Output.print(line) }
        }
      }
    }
  }

  private func chosen(
    _ all: [ShowScreen.LiveActivity], _ session: OperatorSession
  ) throws -> ShowScreen.LiveActivity {
    let foundActivities = all.filter {
      activity == nil || activity == $0.activity.id || activity == "\($0.activity.number)"
    }
    guard !all.isEmpty else {
      throw CommandError(
        Exit.no, "the device has no Live Activity", at: session.folder,
        advice: "an app or a push starts one, or `widgetlab activity start`")
    }
    guard foundActivities.count == 1 else {
      throw CommandError(
        Exit.usage, "\(foundActivities.count) of \(all.count) Live Activities are meant", at: session.folder,
        advice: "`widgetlab activity list` shows their numbers")
    }
    return foundActivities[0]
  }

  private func draw(
    _ shown: ShowScreen.LiveActivity, screen: ScreenPrint, session: OperatorSession, to path: String
  ) throws {
    guard shown.views != nil else {
      throw CommandError(
        Exit.no, shown.note ?? "its extension has provided nothing yet", at: session.folder,
        advice: "`widgetlab activity show` shows what is known")
    }
    let files = try PictureFiles()
    let device = session.cluster.configuration.device
    let drawn = ActivityPicture(shown, screen: screen, device: device).picture(
      of: presentation?.value ?? .lockScreen, with: files.font)
    let (data, notices) = try files.contents(
      of: drawn, as: PictureFormat(path: path) ?? .svg, scale: device.screen.scale)
    do {
      try NamedFile.write(data, to: path)
    } catch {
      throw CommandError(Exit.no, "the picture cannot be written: \(error.localizedDescription)", at: path)
    }
    for notice in notices { Output.printError("widgetlab: \(notice)") }
    if !json { Output.print("\(path): \((presentation?.value ?? .lockScreen).title)") }
  }
}
