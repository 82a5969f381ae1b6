import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// Pushes to the containing app beside those to its widgets, over real processes.
@Suite(.live, .timeLimit(.live)) struct `An app that is pushed to` {
  @Test func `registers, and its delegate is told of alert and background pushes as Apple says`() async throws {
    try await PushesTrial.run("app") { trial in
      try await trial.cluster.run("app", "open")
      let token = try await appToken(trial)
      try await trial.cluster.eventually("it is in front") { try await said("in front, registered", trial) }
      let shown = try await trial.push("--type", "alert", payload: story("news"))
      try await trial.app.says("received news, in front")
      try await trial.station(shown, .handled, "newData")

      // Not in front: an alert is the person's, and a background push wakes the app.
      try await trial.cluster.run("app", "background")
      let seen = try await trial.push("--type", "alert", payload: story("seen"))
      try await trial.station(seen, .handled, "shown")
      try await trial.app.state("suspended")
      let woken = try await trial.push("--type", "background", payload: story("fails", wakes: true))
      try await trial.app.says("received fails, in the background")
      try await trial.station(woken, .handled, "failed")

      // Dead: launched for it.
      try await trial.cluster.run("kill", "app")
      let launched = try await trial.push("--type", "background", payload: story("dawn", wakes: true))
      try await trial.app.says("received dawn, in the background")
      try await trial.station(launched, .handled, "newData")

      // A person ended it: nothing starts it but a person.
      try await trial.cluster.run("force-quit")
      let lost = try await trial.push("--type", "background", payload: story("lost", wakes: true))
      try await trial.station(lost, .discarded, "force-quit")
      #expect(try await !said("received lost", trial))
      #expect(try await !said("received seen", trial))
      #expect(try await trial.cluster.run("token", "list").contains(token))
    }
  }

  @Test func `is told of another token while it lives`() async throws {
    try await PushesTrial.run("app token") { trial in
      try await trial.cluster.run("app", "open")
      let first = try await appToken(trial)
      try await trial.cluster.run("token", "rotate", "--use", "app")
      try await trial.cluster.eventually("it has heard of another token") {
        try await trial.journal.all().contains { envelope in
          let line = envelope.saidBy(PushesTrial.app)
          return line?.hasPrefix("app token ") == true && line != "app token \(first)"
        }
      }
    }
  }

  @Test func `that dies over a push is told in its next life, and no more after the second death`() async throws {
    try await PushesTrial.run("app dies") { trial in
      try await trial.cluster.run("app", "open")
      _ = try await appToken(trial)
      try await trial.cluster.run("app", "background")
      let push = try await trial.push("--type", "background", payload: story("dies", wakes: true))
      try await trial.station(push, .discarded, "ended twice")
    }
  }

  private func appToken(_ trial: PushesTrial) async throws -> String {
    let line = try await trial.app.says("app token ")
    return String(line.saidBy(PushesTrial.app)?.dropFirst("app token ".count) ?? "")
  }

  private func said(_ text: String, _ trial: PushesTrial) async throws -> Bool {
    try await trial.journal.all().contains { $0.saidBy(PushesTrial.app)?.contains(text) == true }
  }

  private func story(_ name: String, wakes: Bool = false) -> String {
    #"{"aps":{\#(wakes ? #""content-available":1"# : #""alert":"x""#)},"story":"\#(name)"}"#
  }
}

/// What `widgetlab diagnose` says of authors who forget the entitlement.
@Suite(.live, .timeLimit(.live)) struct `Diagnoses of pushes:` {
  // Apple's article says that the capability is the extension's; one added to the app alone is the trap.
  @Test func `an extension without the entitlement, and one with it`() async throws {
    let products = ["Wrong", "Right"].map { name in
      """
        - bundle: com.example.\(name).Widget
          executable: TrialPushes
          environment: {TRIAL_MISTAKE: \(name)}\(name == "Right" ? "\n    entitlements: {aps-environment: development}" : "")
      """
    }
    let configuration = """
      device: {name: \(Trial.device), version: "26.0"}
      extensions:
      \(products.joined(separator: "\n"))
      settings: {suspendAfter: 0.5, developerMode: true}
      """
    try await LabCluster.with("no entitlement", configuration: configuration) { cluster in
      let authors = ["Wrong", "Right"].map {
        TrapAuthor(.widgetExtension(Trial.device, "com.example.\($0).Widget"), cluster)
      }
      try await cluster.run("reload", "--all")
      try await authors[1].says("SharedHandler on main: ")
      let earned = try await cluster.expect("no-push-entitlement", of: authors[0], notOf: authors[1])
      #expect(earned.subject == "SharedHandler")
    }
  }
}
