import Conversations
import Foundation
import Testing
import WidgetLabTesting

@Suite(.live, .timeLimit(.live)) struct `the change of entries on the screen` {
  @Test func `is animated as the author says or by the system's spring, two seconds at most, and costs nothing`()
    async throws
  {
    try await TimelinesTrial.run("animated", only: "Animated") { trial in
      try await trial.begin()
      let ledger = try await trial.ledger()
      try await trial.cluster.run("clock", "advance", "70m")
      let shown = try await trial.all(EntryShown.self).map(\.animation)
      let spring = EntryAnimation(curve: "spring", seconds: 0.5, transition: "interpolate")
      #expect(
        shown == [
          nil, EntryAnimation(curve: "easeInOut", seconds: 0.7, transition: "interpolate"),
          EntryAnimation(curve: "linear", seconds: 2, transition: "interpolate"), nil, spring,
          EntryAnimation(curve: "spring", seconds: 0.5, transition: "numericText"),
          EntryAnimation(curve: "linear", seconds: 1, transition: "push bottom"),
          EntryAnimation(curve: "linear", seconds: 1, transition: "push bottom"),
        ])
      #expect(try await trial.ledger() == ledger)
      #expect(
        try await trial.cluster.run("tail", "--kind", "timeline.shown", "--no-follow").contains("by easeInOut in 0.7 s")
      )
    }
  }

  @Test func `is not animated on an Always-On display, nor out of sight, over the host's death`() async throws {
    try await TimelinesTrial.run("always on", only: "Animated", model: "iPhone 16 Pro") { trial in
      try await trial.begin()
      try await trial.cluster.run("app", "open")
      try await trial.journal.waitFor("the app runs") { $0.reading(AppActivation.self) != nil }
      try await trial.cluster.run("add", "Animated", "--location", "lockScreen")
      try await trial.stored(2)
      let refused = try await trial.cluster.attempt(["look", "alwaysOn"])
      #expect(refused.status == 1 && refused.errors.contains("widgetlab lock"), "\(refused.errors)")
      try await trial.cluster.run("lock")
      #expect(try await trial.cluster.run("look", "alwaysOn") == "locked, lockScreen is seen, Always-On\n")
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      #expect(try await animations(trial, advancing: "10m") == [nil, nil])
      #expect(try await trial.cluster.run("look", "lockScreen") == "locked, lockScreen is seen\n")
      let second = try await animations(trial, advancing: "10m")
      #expect(second.first == .some(nil) && second.last??.curve == "linear", "\(second)")
    }
  }

  /// Of what is shown next of the widget on the Home Screen, then of the one on the Lock Screen.
  private func animations(_ trial: TimelinesTrial, advancing time: String) async throws -> [EntryAnimation?] {
    let before = try await trial.all(EntryShown.self).count
    try await trial.cluster.run("clock", "advance", time)
    return try await trial.all(EntryShown.self).dropFirst(before).sorted { $0.placement < $1.placement }.map(
      \.animation)
  }
}
