import ArgumentParser
import Conversations
import Foundation
import MessageBus

/// `widgetlab clock`.
struct ClockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clock",
    abstract: "Shows the device's clock; holds it, lets it go, advances or resets it.",
    discussion: """
      Everything of the device that waits for a time waits by this clock: back-offs, deadlines, the resume rate limiter, the \
      limits of seven days, the pause before a process is suspended. While it is held, none of it comes. `advance` goes from \
      one due instant to the next, so that what is due happens in the order of time, and returns when it is there. The clock \
      stays as it was set when the host dies.

      Not of this clock: `Date()` in an author's process, and what happens on the network (a connection's idle time, the \
      bytes of a second).

      ACTIONS
        hold              it stands still
        run               it goes on from where it is, at this machine's rate
        advance DURATION  by 90s, 5m, 24h, 7d or 1d12h; held or not
        reset             this machine's time again, running

      EXAMPLES
        widgetlab clock
        widgetlab clock hold; widgetlab clock advance 30s
        widgetlab clock advance 7d       what is not done in a week fails now
        widgetlab clock reset
      """)

  enum Action: String, ExpressibleByArgument, CaseIterable { case hold, run, advance, reset }

  @OptionGroup var options: InstanceOptions

  @Argument(help: "hold, run, advance or reset; nothing to see the clock.")
  var action: Action?

  @Argument(help: "With advance: 90s, 5m, 24h, 7d, 1d12h.")
  var duration: String?

  @Option(help: "Seconds to wait for the host's answer.")
  var timeout = 600.0

  @Flag(help: "One JSON object: now (seconds since 1970), isHeld, offset (seconds ahead of this machine).")
  var json = false

  func validate() throws { _ = try change() }

  func run() async throws {
    try await reporting {
      let change = try change()
      let state = try await OperatorSession.with(options) { session in
        try await session.ask(SetClock(change: change), within: .seconds(timeout))
      }
      Output.say(json ? String(decoding: try BodyCoding.data(state), as: UTF8.self) : state.text)
    }
  }

  func change() throws -> SetClock.Change {
    guard action == .advance else {
      if duration != nil { throw ValidationError("A duration goes with advance: widgetlab clock advance 24h.") }
      return switch action {
      case .hold: .hold
      case .run: .run
      case .reset: .reset
      case .advance, nil: .ask
      }
    }
    guard let duration else { throw ValidationError("Say by how much: widgetlab clock advance 24h.") }
    guard let seconds = Amount.seconds(duration) else {
      throw ValidationError("'\(duration)' is no duration; say 90s, 5m, 24h, 7d or 1d12h.")
    }
    return .advance(seconds)
  }
}

extension ClockState {
  /// `2026-11-21 07:15:03Z, held, 1 d 2 h ahead of this machine`.
  var text: String { "\(Amount.text(now)), \(isHeld ? "held" : "running"), \(distance)" }

  private var distance: String {
    // A clock that runs with the machine's is some microseconds off when it is read.
    guard abs(offset) >= 0.05 else { return "as this machine's" }
    return "\(Amount.text(seconds: abs(offset))) \(offset > 0 ? "ahead of" : "behind") this machine's"
  }
}
