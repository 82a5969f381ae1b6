// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Cluster
import Foundation
import Messages

/// `widgetlab gallery`.
struct GalleryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gallery",
    abstract: "Shows the widget gallery: what can be placed where, and what cannot and why.",
    discussion: """
      Shows what a user sees when adding a widget: display name, description and families; at the end, under *Other*, \
      what its author disfavours there; and, which no gallery shows, what is left out and why. The gallery depends on \
      the device in widgetlab.yaml: its model and system version. Exit code 78, and the cause, when an extension whose \
      widgets are not known yet cannot be started.

      Then each widget is asked for its snapshot in its first family, as the gallery of a phone does, with `isPreview`: its \
      texts, or why it has none. --json prints the list and asks for no snapshot.

      LOCATIONS
        \(ScreenLocation.list)

      EXAMPLES
        widgetlab gallery
        widgetlab gallery --location lockScreen
        widgetlab gallery --json
      """)

  @OptionGroup var options: InstanceOptions

  @Option(help: "Show only the gallery of one location.")
  var location: ScreenLocation?

  @Flag(help: "Print one JSON object: items, each with bundle, widgetKind, location, families, section and reason.")
  var json = false

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options, reading: true) { session in
        try location?.check(session.cluster)
        let reply = try await session.ask(ListGallery(location: location?.name), within: .seconds(30))
        if json { try Output.json(reply) } else { for line in reply.lines { Output.print(line) } }
        if !json { try await showSnapshots(of: reply.offers, session) }
        if let failures = reply.failures { throw CommandError(notLaunched: failures.map(\.error), in: session.folder) }
      }
    }
  }
}

extension GalleryCommand {
  /// Longer than `timelineDeadline` is by default.
  private static let patience = Duration.seconds(60)

  private func showSnapshots(of offers: [TakeSnapshot], _ session: OperatorSession) async throws {
    if !offers.isEmpty { for line in ["", "snapshots"] { Output.print(line) } }
    for offer in offers {
      do {
        Output.print(Self.line(offer, .success(try await session.ask(offer, within: Self.patience).text)))
      } catch let error as BusError where error.code != .closed {
        Output.print(Self.line(offer, .failure(error)))
      }
    }
  }

  static func line(_ offer: TakeSnapshot, _ result: Result<[String], BusError>) -> String {
    let content =
      switch result {
      case .success(let text): text.isEmpty ? "without text" : text.joined(separator: " | ")
      case .failure(let error): "none: \(error)"
      }
    return "  \(offer.widgetKind) \(offer.family?.rawValue ?? ""): \(content)"
  }
}

/// A location for widgets, as users name it. `iPadLockScreen` is the Lock Screen of an iPad.
struct ScreenLocation: ExpressibleByArgument, Sendable {
  let name: WidgetLocationName
  private let word: String

  private static let names = WidgetLocationName.allCases.map(\.rawValue) + ["iPadLockScreen"]
  /// For help texts, in lines that are not wrapped.
  static let list = """
    homeScreen, todayView, lockScreen (iPadLockScreen on an iPad), standBy,
      carPlay, controlCenter for controls; and on other devices
      iPhoneWidgetsOnMac, watchFace, smartStack
    """
  static var allValueStrings: [String] { names }

  static let homeScreen = ScreenLocation(name: .homeScreen, word: "homeScreen")

  private init(name: WidgetLocationName, word: String) {
    self.name = name
    self.word = word
  }

  init?(argument: String) {
    guard let name = argument == "iPadLockScreen" ? .lockScreen : WidgetLocationName(rawValue: argument) else {
      return nil
    }
    self.init(name: name, word: argument)
  }

  /// - Throws: a command error for the Lock Screen of an iPad on a phone.
  func check(_ cluster: ClusterFacts) throws {
    guard word == "iPadLockScreen", !cluster.configuration.device.isPad else { return }
    throw CommandError(
      Exit.no, "the device is an \(cluster.configuration.device.model), not an iPad", at: cluster.configurationPath,
      advice: "use an iPad, such as `model: iPad Pro 11-inch`")
  }
}

extension ListGallery.Reply {
  /// The requests for the snapshots that the gallery shows: one for each widget, in the first family that is offered.
  var offers: [TakeSnapshot] {
    items.reduce(into: []) { offers, item in
      guard item.section != .leftOut, let family = item.families.first, family != .control,
        !offers.contains(where: { $0.widgetKind == item.widgetKind && $0.bundle == item.bundle })
      else { return }
      offers.append(TakeSnapshot(widgetKind: item.widgetKind, bundle: item.bundle, family: family))
    }
  }

  /// The gallery as text, by location and section.
  var lines: [String] {
    guard !items.isEmpty else { return ["the gallery is empty: no extension has declared a widget"] }
    var lines: [String] = []
    for location in WidgetLocationName.allCases {
      let here = items.filter { $0.location == location }
      guard !here.isEmpty else { continue }
      if !lines.isEmpty { lines.append("") }
      lines.append(location.rawValue)
      let main = here.filter { $0.section == .main }
      if main.isEmpty { lines.append("  nothing") }
      lines += main.flatMap(\.lines)
      let other = here.filter { $0.section == .other }
      if !other.isEmpty { lines += ["  Other"] + other.flatMap(\.lines).map { "  " + $0 } }
      let leftOut = here.filter { $0.section == .leftOut }
      if !leftOut.isEmpty {
        lines.append("  left out")
        lines += leftOut.map { "    \($0.widgetKind) \($0.familyList): \($0.reason ?? "")" }
      }
    }
    return lines
  }
}

extension ListGallery.Item {
  fileprivate var familyList: String { families.map(\.rawValue).joined(separator: ", ") }

  fileprivate var lines: [String] {
    let text = description.isEmpty ? [] : ["    \(description)"]
    return ["  \(displayName)\(displayName == widgetKind ? "" : "  (\(widgetKind))")"] + text + ["    \(familyList)"]
  }
}
