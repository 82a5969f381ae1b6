// SPDX-License-Identifier: Apache-2.0

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
      widgetlab.yaml) are reloaded, free of budget, when they are next seen. The location itself is not simulated.

      EXAMPLES
        widgetlab device sleep
        widgetlab device wake
        widgetlab device offline
        widgetlab device online          Wi-Fi, unless it has a network
        widgetlab device moved           a significant location change
        widgetlab device                 shows its state
      """)

  enum Word: String, ExpressibleByArgument, CaseIterable { case sleep, wake, offline, online, moved }

  @OptionGroup var options: InstanceOptions

  @Argument(help: "sleep, wake, offline, online or moved; without it, the state is shown.")
  var word: Word?

  @Flag(help: "Print one JSON object: isAwake and the network; with moved: reloaded and whenSeen.")
  var json = false

  func run() async throws {
    try await reporting {
      if word == .moved { return try await move() }
      let state = try await OperatorSession.with(options) { session in
        var network = try await session.ask(ListSessions(offset: .max, sessionOffset: .max)).network
        switch word {
        case .sleep, .wake: return try await session.ask(SetPower(isAwake: word == .wake))
        case .offline, .online:
          if word == .offline { network.path = .off } else if network.path == .off { network.path = .wifi }
          network = try await session.ask(SetNetwork(state: network))
        case .moved, nil: break
        }
        return try await session.ask(SetPower(isAwake: nil))
      }
      Output.print(json ? String(decoding: try BodyCoding.data(state), as: UTF8.self) : state.text)
    }
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
