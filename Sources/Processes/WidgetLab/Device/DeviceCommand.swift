import ArgumentParser
import Conversations
import Foundation
import MessageBus

/// `widgetlab device`.
struct DeviceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device",
    abstract: "Puts the device to sleep and wakes it, takes its network away and gives it back.",
    discussion: """
      What is pushed to a device that is asleep waits until it wakes, unless its priority is 10; what is pushed to one \
      without network waits until it has one, as long as the notification may be stored. It stays so when the host dies. \
      How good the network is says `widgetlab network`.

      EXAMPLES
        widgetlab device sleep
        widgetlab device wake
        widgetlab device offline
        widgetlab device online          Wi-Fi, unless it has a network
        widgetlab device                 how it is
      """)

  enum Word: String, ExpressibleByArgument, CaseIterable { case sleep, wake, offline, online }

  @OptionGroup var options: InstanceOptions

  @Argument(help: "sleep, wake, offline or online; nothing to see how it is.")
  var word: Word?

  @Flag(help: "One JSON object: isAwake, and the network.")
  var json = false

  func run() async throws {
    try await reporting {
      let state = try await OperatorSession.with(options) { session in
        var network = try await session.ask(ListSessions(offset: .max, sessionOffset: .max)).network
        switch word {
        case .sleep, .wake: return try await session.ask(SetPower(isAwake: word == .wake))
        case .offline, .online:
          if word == .offline { network.path = .off } else if network.path == .off { network.path = .wifi }
          network = try await session.ask(SetNetwork(state: network))
        case nil: break
        }
        return try await session.ask(SetPower(isAwake: nil))
      }
      Output.say(json ? String(decoding: try BodyCoding.data(state), as: UTF8.self) : state.text)
    }
  }
}

extension SetPower.Reply {
  /// `asleep, cellular`.
  var text: String { "\(isAwake ? "awake" : "asleep"), network: \(network.text)" }
}
