import Conversations
import Foundation
import Timekeeping

@testable import Launching

/// A decision whose agent has said that it holds `children`, and the time.
struct LaunchBench {
  static let agent = Address.agent("iphone", 1)
  static let widget = Address.widgetExtension("iphone", "com.example.Widget")
  static let first = Life(generation: 1, pid: 101)
  static let origin = Date(timeIntervalSince1970: 1_000_000_000)

  var decision: LaunchDecision
  var now = LaunchBench.origin
  let incarnation = UUID()

  init(suspendAfter: Double = 1, backoff: Backoff = Backoff(first: 1, limit: 60)) {
    decision = LaunchDecision(agents: [Self.widget: Self.agent], suspendAfter: suspendAfter, backoff: backoff)
    _ = decision.take(.agentReported(Self.agent, incarnation: incarnation, children: []), now: now)
  }

  mutating func take(_ event: LaunchDecision.Event) -> [LaunchDecision.Answer] {
    decision.take(event, now: now).filter { if case .changed = $0 { false } else { true } }
  }

  mutating func launch(because reason: String = "timeline") {
    _ = take(.wanted(Self.widget, Assertion(reason)))
    _ = take(.spawned(Self.widget, Self.first))
    _ = take(.ready(Self.widget, generation: 1))
  }

  mutating func sleepAndSuspend() {
    _ = take(.released(Self.widget, Assertion("timeline")))
    now += 1
    _ = take(.instantCame)
    _ = take(.signalled(Self.widget, generation: 1, signal: SIGSTOP))
  }

  var process: LaunchDecision.Process? { decision.processes[Self.widget] }
}
