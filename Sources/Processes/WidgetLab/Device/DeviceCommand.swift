import ArgumentParser
import Conversations
import Foundation
import MessageBus

/// `widgetlab device`.
struct DeviceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device",
    abstract: "Puts the device to sleep and wakes it, takes its network away and gives it back, moves it.",
    discussion: """
      What is pushed to a device that is asleep waits until it wakes, unless its priority is 10; what is pushed to one \
      without network waits until it has one, as long as the notification may be stored. It stays so when the host dies. \
      How good the network is says `widgetlab network`.

      When it moved far, widgets whose extension says NSWidgetWantsLocation in its Info.plist (infoPlist in widgetlab.yaml) \
      are reloaded, free of budget, when they are seen next. Where it is nobody says.

      EXAMPLES
        widgetlab device sleep
        widgetlab device wake
        widgetlab device offline
        widgetlab device online          Wi-Fi, unless it has a network
        widgetlab device moved           a significant change of its location
        widgetlab device                 how it is
      """)

  enum Word: String, ExpressibleByArgument, CaseIterable { case sleep, wake, offline, online, moved }

  @OptionGroup var options: InstanceOptions

  @Argument(help: "sleep, wake, offline, online or moved; nothing to see how it is.")
  var word: Word?

  @Flag(help: "One JSON object: isAwake and the network; reloaded and whenSeen of a device that moved.")
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
      Output.say(json ? String(decoding: try BodyCoding.data(state), as: UTF8.self) : state.text)
    }
  }

  private func move() async throws {
    let reply = try await OperatorSession.with(options) { session in try await session.ask(MoveDevice()) }
    if json { try Output.json(reply) } else { Output.say(reply.text) }
  }
}

extension MoveDevice.Reply {
  /// `reloaded: 1, 2; when they are seen: 3`.
  var text: String {
    let parts = [("reloaded", reloaded), ("when they are seen", whenSeen)].filter { !$0.1.isEmpty }
    guard !parts.isEmpty else {
      return "no widget wants the location: NSWidgetWantsLocation stands in no Info.plist that widgetlab.yaml names"
    }
    return parts.map { "\($0.0): \($0.1.map { "\($0)" }.joined(separator: ", "))" }.joined(separator: "; ")
  }
}

extension SetPower.Reply {
  /// `asleep, cellular`.
  var text: String { "\(isAwake ? "awake" : "asleep"), network: \(network.text)" }
}
