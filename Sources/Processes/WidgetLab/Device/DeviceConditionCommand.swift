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

/// `widgetlab network`.
struct NetworkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "network",
    abstract: "Shows the device's network, or makes it off, on, cellular or slow.",
    discussion: """
      Background transfers wait for connectivity and resume where they stopped; a session or a request that may not \
      use cellular waits for Wi-Fi. Requests that an author's process performs itself are also affected. It is the \
      device's network, not this machine's: nothing outside the cluster is affected. The setting survives a host \
      restart.

      STATES
        off        no network
        on, wifi   Wi-Fi, as fast as this machine
        cellular   expensive, as fast as this machine
        slow RATE  the current network, with RATE bytes per second in total:
                   800, 50k, 1M; Wi-Fi when it is off

      Low Data Mode (--low-data) makes any of them constrained, until --no-low-data.

      EXAMPLES
        widgetlab network
        widgetlab network off; widgetlab sessions; widgetlab network on
        widgetlab network cellular
        widgetlab network slow 50k
        widgetlab network --low-data
      """)

  enum Word: String, ExpressibleByArgument, CaseIterable { case off, on, wifi, cellular, slow }

  @OptionGroup var options: InstanceOptions

  @Argument(help: "off, on, wifi, cellular or slow; without it, the network is shown.")
  var word: Word?

  @Argument(help: "With slow: bytes per second, such as 50k or 1M.")
  var rate: String?

  @Flag(inversion: .prefixedNo, help: "Low Data Mode: transfers that may not use a constrained network wait.")
  var lowData: Bool?

  @Flag(help: "Print one JSON object: path, rate in bytes per second if limited, and isConstrained in Low Data Mode.")
  var json = false

  func validate() throws { _ = try wanted(NetworkState()) }

  func run() async throws {
    try await reporting {
      let state = try await OperatorSession.with(options) { session in
        let now = try await session.ask(ListSessions(offset: .max, sessionOffset: .max)).network
        guard let wanted = try wanted(now) else { return now }
        return try await session.ask(SetNetwork(state: wanted))
      }
      if json { Output.json(data: try BodyCoding.data(state)) } else { Output.print(state.text) }
    }
  }

  /// The new state of the network after `now`; `nil` when it is only shown.
  func wanted(_ now: NetworkState) throws -> NetworkState? {
    var state = now
    if let lowData { state.isConstrained = lowData }
    guard word == .slow else {
      if rate != nil { throw ValidationError("A rate needs slow: widgetlab network slow 50k.") }
      guard let word else { return lowData == nil ? nil : state }
      state.rate = nil
      switch word {
      case .off: state.path = .off
      case .cellular: state.path = .cellular
      case .on, .wifi, .slow: state.path = .wifi
      }
      return state
    }
    guard let rate else { throw ValidationError("Give a rate: widgetlab network slow 50k.") }
    guard let bytes = Amount.bytes(rate) else {
      throw ValidationError("'\(rate)' is not a rate; use bytes per second, such as 800, 50k or 1M.")
    }
    if state.path == .off { state.path = .wifi }
    state.rate = bytes
    return state
  }
}
