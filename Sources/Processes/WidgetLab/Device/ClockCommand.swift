import ArgumentParser
import Cluster
import Conversations
import Foundation
import MessageBus

/// `widgetlab clock`.
struct ClockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clock",
    abstract: "Shows the device's clock; holds it, lets it go, sets it, advances it, changes its rate, or resets it.",
    discussion: """
      Everything of the device that waits for a time waits by this clock: timelines, budgets, back-offs, deadlines, the \
      resume rate limiter, the limits of seven days, the pause before a process is suspended. While it is held, none of it \
      comes. `Date()` in an app or an extension is this clock's time. It stays as it was set when the host dies.

      `advance` goes from one due instant to the next, so that what is due happens in the order of time, and stands still \
      while a process has not answered, an extension that was asked for its timeline for instance: the same day twice comes \
      out alike. Who has not answered after `advancePatience` (30 s of this machine's time) is not waited for, so that its \
      deadline comes. A rate waits for nobody: 30 s for a completion handler are half a second at the rate of 60, and 8 ms at 3600.

      Not of this clock: sleeps, timers and time-outs in an author's process, and what happens on the network (a connection's \
      idle time, the bytes of a second).

      ACTIONS
        hold              it stands still
        run               it goes on from where it is, at its rate
        set TIME          it is 2026-03-01T06:00:00Z now (or 2026-03-01), and stands
                          or goes on as it did. What was to happen before that is due
                          at once; set back, all goes on waiting for the same instants
        rate NUMBER       device seconds in one of the machine's: 0.001 to 100000
        advance DURATION  by 90s, 5m, 24h, 7d or 1d12h; held or not
        reset             this machine's time again, running at its rate

      EXAMPLES
        widgetlab clock
        widgetlab clock hold; widgetlab clock advance 30s
        widgetlab clock set 2026-03-01T06:00:00Z
        widgetlab clock advance 24h      a day of all widgets in some seconds
        widgetlab clock rate 60          a minute in a second
        widgetlab clock advance 7d       what is not done in a week fails now
        widgetlab clock reset
      """)

  enum Action: String, ExpressibleByArgument, CaseIterable { case hold, run, set, rate, advance, reset }

  @OptionGroup var options: InstanceOptions

  @Argument(help: "hold, run, set, rate, advance or reset; nothing to see the clock.")
  var action: Action?

  @Argument(help: "With set: a time; with rate: a number; with advance: a duration.")
  var value: String?

  @Option(help: "Seconds to wait for the host's answer.")
  var timeout = 600.0

  @Flag(help: "One JSON object: now (seconds since 1970), isHeld, offset (seconds ahead of this machine), rate.")
  var json = false

  func validate() throws { _ = try change() }

  func run() async throws {
    try await reporting {
      let change = try change()
      let begun = ContinuousClock.now
      let state = try await OperatorSession.with(options) { session in
        let progress = ClockProgress(change, folder: session.cluster.instance.journal)
        defer { progress?.end() }
        return try await session.ask(SetClock(change: change), within: .seconds(timeout))
      }
      if json { return Output.say(String(decoding: try BodyCoding.data(state), as: UTF8.self)) }
      Output.say(state.text)
      guard case .advance(let seconds) = change else { return }
      Output.say(ClockProgress.summary(of: seconds, in: (ContinuousClock.now - begun) / .seconds(1)))
    }
  }

  func change() throws -> SetClock.Change {
    switch (action, value) {
    case (nil, nil): return .ask
    case (.hold, nil): return .hold
    case (.run, nil): return .run
    case (.reset, nil): return .reset
    case (.set, let value?):
      guard let seconds = ISOTime.seconds(of: value) else {
        throw ValidationError("'\(value)' is no time; say 2026-03-01T06:00:00Z or 2026-03-01T07:00:00+01:00.")
      }
      return .set(Date(timeIntervalSince1970: seconds))
    case (.rate, let value?):
      guard let rate = Double(value), (1e-3...1e5).contains(rate) else {
        throw ValidationError("'\(value)' is no rate; say 0.001 to 100000. A clock that is to stand is held.")
      }
      return .rate(rate)
    case (.advance, let value?):
      guard let seconds = Amount.seconds(value) else {
        throw ValidationError("'\(value)' is no duration; say 90s, 5m, 24h, 7d or 1d12h.")
      }
      return .advance(seconds)
    case (.set, nil): throw ValidationError("Say to what time: widgetlab clock set 2026-03-01T06:00:00Z.")
    case (.rate, nil): throw ValidationError("Say how fast: widgetlab clock rate 3600.")
    case (.advance, nil): throw ValidationError("Say by how much: widgetlab clock advance 24h.")
    case (_, let value?):
      throw ValidationError("'\(value)' goes with set, rate or advance: widgetlab clock advance 24h.")
    }
  }
}

extension ClockState {
  /// `2026-11-21 07:15:03Z, held, 1 d 2 h ahead of this machine`.
  var text: String {
    let pace = rate == 1 ? "" : ", \(Amount.text(factor: rate)) times as fast"
    return "\(Amount.text(now)), \(isHeld ? "held" : "running")\(pace), \(distance)"
  }

  private var distance: String {
    // A clock that runs with the machine's is some microseconds off when it is read.
    guard abs(offset) >= 0.05 else { return "as this machine's" }
    return "\(Amount.text(seconds: abs(offset))) \(offset > 0 ? "ahead of" : "behind") this machine's"
  }
}
