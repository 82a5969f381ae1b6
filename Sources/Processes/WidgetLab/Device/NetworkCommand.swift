// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import JournalAnalysis
import MessageBus
import Messages

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
