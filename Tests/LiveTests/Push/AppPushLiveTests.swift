// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Pushes to the containing app, as opposed to its widgets, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Pushes to an app` {
  @Test(.rule("PUSH-18", "PUSH-20", "PUSH-21", "PUSH-25", "PUSH-26"))
  func `an app registers, and its delegate receives alert and background pushes by Apple's rules`() async throws {
    try await PushesFixture.run("app") { fixture in
      try await fixture.cluster.run("app", "open")
      let token = try await appToken(fixture)
      try await fixture.cluster.eventually("the app is in the foreground") {
        try await output("in front, registered", fixture)
      }
      let shown = try await fixture.push("--type", "alert", payload: story("news"))
      try await fixture.app.prints("received news, in front")
      try await fixture.step(shown, name: .handled, detail: "newData")

      // In the background: an alert is only shown to the user, if the app has asked, and a background push wakes the app.
      try await fixture.cluster.run("app", "background")
      let unseen = try await fixture.push("--type", "alert", payload: story("seen"))
      try await fixture.step(unseen, name: .discarded, detail: "the app has not asked")
      try await fixture.cluster.run("app", "open")
      let asks = try await fixture.push("--type", "alert", payload: story("asks"))
      try await fixture.step(asks, name: .handled, detail: "newData")
      try await fixture.app.prints("may show notifications: true")
      let presented = try await fixture.push("--type", "alert", payload: story("presented"))
      try await fixture.app.prints("will present x")
      try await fixture.step(presented, name: .handled, detail: "willPresent: banner, list")
      try await fixture.cluster.run("app", "background")
      let seen = try await fixture.push("--type", "alert", payload: story("seen"))
      try await fixture.step(seen, name: .handled, detail: "shown")
      try await fixture.app.state("suspended")
      let woken = try await fixture.push("--type", "background", payload: story("fails", wakes: true))
      try await fixture.app.prints("received fails, in the background")
      try await fixture.step(woken, name: .handled, detail: "failed")

      // Not running: the push launches the app.
      try await fixture.cluster.run("kill", "app")
      let launched = try await fixture.push("--type", "background", payload: story("dawn", wakes: true))
      try await fixture.app.prints("received dawn, in the background")
      try await fixture.step(launched, name: .handled, detail: "newData")

      // Force quit: only the user can start the app.
      try await fixture.cluster.run("force-quit")
      let lost = try await fixture.push("--type", "background", payload: story("lost", wakes: true))
      try await fixture.step(lost, name: .discarded, detail: "force-quit")
      #expect(try await !output("received lost", fixture))
      #expect(try await !output("received seen", fixture))
      #expect(try await !output("received presented", fixture))
      #expect(try await fixture.cluster.run("token", "list").contains(token))
    }
  }

  @Test func `a running app receives its new token after a rotation`() async throws {
    try await PushesFixture.run("app token") { fixture in
      try await fixture.cluster.run("app", "open")
      let first = try await appToken(fixture)
      try await fixture.cluster.run("token", "rotate", "--use", "app")
      try await fixture.cluster.eventually("the app has received another token") {
        try await fixture.journal.all().contains { envelope in
          let line = envelope.line(printedBy: PushesFixture.app)
          return line?.hasPrefix("app token ") == true && line != "app token \(first)"
        }
      }
    }
  }

  @Test(.rule("PUSH-23"))
  func `a background push is discarded after the app exits twice while it handles the push`() async throws {
    try await PushesFixture.run("app exits") { fixture in
      try await fixture.cluster.run("app", "open")
      _ = try await appToken(fixture)
      try await fixture.cluster.run("app", "background")
      let push = try await fixture.push("--type", "background", payload: story("dies", wakes: true))
      try await fixture.step(push, name: .discarded, detail: "exited twice")
    }
  }

  private func appToken(_ fixture: PushesFixture) async throws -> String {
    let line = try await fixture.app.prints("app token ")
    return String(line.line(printedBy: PushesFixture.app)?.dropFirst("app token ".count) ?? "")
  }

  private func output(_ text: String, _ fixture: PushesFixture) async throws -> Bool {
    try await fixture.journal.all().contains { $0.line(printedBy: PushesFixture.app)?.contains(text) == true }
  }

  private func story(_ name: String, wakes: Bool = false) -> String {
    #"{"aps":{\#(wakes ? #""content-available":1"# : #""alert":"x""#)},"story":"\#(name)"}"#
  }
}

/// `widgetlab diagnose` on an author who forgets the entitlement.
@Suite(.live, .timeLimit(.live)) struct `Live diagnoses of pushes` {
  // Apple's article requires the capability of the extension; the mistake is to add it only to the app.
  @Test(.rule("PUSH-03"))
  func `diagnose reports a push handler without the entitlement, but not one with it`() async throws {
    let products = ["Wrong", "Right"].map { name in
      let entitlements = name == "Right" ? "\n    entitlements: {aps-environment: development}" : ""
      return """
          - bundle: com.example.\(name).Widget
            executable: FixtureWidgets
            environment: {TRIAL_FIXTURE: pushes, TRIAL_MISTAKE: \(name)}\(entitlements)
        """
    }
    let configuration = """
      device: {name: \(LiveFixture.device), version: "26.0"}
      extensions:
      \(products.joined(separator: "\n"))
      settings: {suspendAfter: 0.5, developerMode: true}
      """
    try await LabCluster.with("no entitlement", configuration: configuration) { cluster in
      let authors = ["Wrong", "Right"].map {
        TrapAuthor(.widgetExtension(LiveFixture.device, "com.example.\($0).Widget"), cluster)
      }
      try await cluster.run("reload", "--all")
      try await authors[1].prints("SharedHandler on main: ")
      let earned = try await cluster.expect("no-push-entitlement", of: authors[0], notOf: authors[1])
      #expect(earned.subject == "SharedHandler")
    }
  }
}
