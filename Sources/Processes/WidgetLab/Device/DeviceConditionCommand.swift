// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Foundation
import JournalAnalysis
import MessageBus
import Messages

/// `widgetlab device`.
struct DeviceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device",
    abstract: "Puts the device to sleep, wakes it, takes it offline or online, or moves it.",
    discussion: """
      Pushes to a sleeping device wait until it wakes, unless their priority is 10; pushes to an offline device wait \
      until it is online, as long as the notification may be stored. `offline` and `online` are synonyms of `widgetlab \
      network off` and `on`, so transfers wait too; `online` keeps a network that is not off. The setting survives a \
      host restart.

      When it moved far, widgets whose extension has NSWidgetWantsLocation in its Info.plist (infoPlist in \
      widgetlab.yaml) are reloaded, free of budget, when they are next seen. `location` sets where it is, which \
      CLLocationManager reads, as `widgetlab setting location` does, and then it has moved far; without a place it \
      shows where the device is.

      EXAMPLES
        widgetlab device sleep
        widgetlab device wake
        widgetlab device offline
        widgetlab device online          Wi-Fi, unless it has a network
        widgetlab device moved           a significant location change
        widgetlab device location 47.3769,8.5417
        widgetlab device                 shows its state
      """)

  enum Word: String, ExpressibleByArgument, CaseIterable { case sleep, wake, offline, online, moved, location }

  @OptionGroup var options: InstanceOptions

  @Argument(help: "sleep, wake, offline, online, moved or location; without it, the state is shown.")
  var word: Word?

  @Argument(help: "With location: latitude,longitude in degrees, or unknown.")
  var place: String?

  @Flag(help: "Print one JSON object: isAwake and the network; with moved: reloaded and whenSeen.")
  var json = false

  func validate() throws {
    guard let place else { return }
    guard word == .location else { throw ValidationError("only location has a second argument, not '\(place)'.") }
    do {
      var settings = DeviceSettings()
      try settings.set(.location, to: place)
    } catch {
      throw ValidationError("\(error).")
    }
  }

  func run() async throws {
    try await reporting {
      if word == .moved { return try await move() }
      if word == .location { return try await locate() }
      let state = try await OperatorSession.with(options) { session in
        var network = try await session.ask(ListSessions(offset: .max, sessionOffset: .max)).network
        switch word {
        case .sleep, .wake: return try await session.ask(SetPower(isAwake: word == .wake))
        case .offline, .online:
          if word == .offline { network.path = .off } else if network.path == .off { network.path = .wifi }
          network = try await session.ask(SetNetwork(state: network))
        case .location, .moved, nil: break
        }
        return try await session.ask(SetPower(isAwake: nil))
      }
      if json { Output.json(data: try BodyCoding.data(state)) } else { Output.print(state.text) }
    }
  }

  private func locate() async throws {
    let settings = try await OperatorSession.with(options) { session in
      guard let place else { return try await session.ask(ChangeSetting(.ask)).settings }
      let before = try await session.ask(ChangeSetting(.ask)).settings
      let settings = try await session.ask(ChangeSetting(.set(.location, place))).settings
      if settings.location != before.location { _ = try await session.ask(MoveDevice()) }
      return settings
    }
    if json { try Output.json(settings) } else { Output.print("location \(settings[.location])") }
  }

  private func move() async throws {
    let reply = try await OperatorSession.with(options) { session in try await session.ask(MoveDevice()) }
    if json { try Output.json(reply) } else { Output.print(reply.text) }
  }
}

extension SetPower.Reply {
  /// `asleep, cellular`.
  var text: String { "\(isAwake ? "awake" : "asleep"), network: \(network.text)" }
}
