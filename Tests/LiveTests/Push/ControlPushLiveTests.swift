// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Pushes to controls, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Pushes to controls` {
  @Test(.rule("CONTROL-06", "CONTROL-09", "CONTROL-10", "CONTROL-11"))
  func `a push reloads one of two controls, also after a host kill, until that control is removed`() async throws {
    try await PushesFixture.run(
      "controls pushed", settings: ["developerMode: true", "placesEachKind: false"], environment: ["TRIAL_CONTROLS: 1"]
    ) { fixture in
      // A control whose app was never launched cannot be added.
      try await fixture.cluster.run("app", "open")
      try await fixture.app.prints("app token ")
      for _ in 1...2 { try await fixture.cluster.run("add", "Door", "--location", "controlCenter") }
      let tokens = try await fixture.tokens(of: [1, 2])
      #expect(Set(tokens).count == 2)
      try await fixture.widget.prints("DoorHandler on main: Door \(tokens[0]), Door \(tokens[1])")
      #expect(try await fixture.cluster.run("token", "list").contains("control-2 of \(PushesFixture.bundle)"))
      try await fixture.cluster.eventually("both controls show a value") { try await fixture.values().count == 2 }

      let before = try await fixture.values()
      let push = try await fixture.push("--type", "controls", "--control", "2")
      try await fixture.step(push, name: .reloaded, detail: "placement 2 (Door)")
      try await fixture.widget.prints("placed controls: Door \(tokens[0]), Door \(tokens[1])")
      let after = try await fixture.values()
      #expect(after[1] == before[1] && after[2] != before[2])

      let calls = try await fixture.calls().count
      try await fixture.cluster.run("kill", "host")
      let next = try await fixture.push("--type", "controls", "--control", "2")
      try await fixture.step(next, name: .reloaded, detail: "placement 2 (Door)")
      let last = try await fixture.values()
      #expect(last[1] == before[1] && last[2] != after[2])
      // The host kept that the handler has been called.
      #expect(try await fixture.calls().count == calls)

      try await fixture.cluster.run("remove", "2")
      try await fixture.journal.waitFor("the token of the removed control is unregistered") {
        let token = $0.reading(TokenChanged.self)?.token
        return token?.token == tokens[1] && token?.state == .unregistered
      }
      let refused = try await fixture.cluster.attempt(["push", "--type", "controls", "--token", tokens[1]])
      #expect(refused.status == 1 && refused.output.contains("410 Unregistered"), "\(refused.output)")
      #expect(try await fixture.tokens(of: [1]) == [tokens[0]])
      // To the only control.
      try await fixture.step(
        try await fixture.push("--type", "controls"), name: .reloaded, detail: "placement 1 (Door)")
    }
  }
}

extension PushesFixture {
  /// The calls of the control push handlers, in order.
  fileprivate func calls() async throws -> [(envelope: LabEnvelope, body: TellControlPushHandlers)] {
    var seen: Set<UUID> = []
    return try await journal.all().compactMap { envelope in
      guard let body = envelope.reading(TellControlPushHandlers.self), seen.insert(envelope.id).inserted else {
        return nil
      }
      return (envelope, body)
    }
  }

  /// Waits until the handlers have returned from a call with these controls, and returns their tokens.
  fileprivate func tokens(of controls: [Int]) async throws -> [String] {
    var tokens: [String] = []
    try await cluster.eventually("the control push handlers have the controls \(controls)") {
      guard let last = try await calls().last, last.body.controls.map(\.placement.id) == controls else { return false }
      tokens = last.body.controls.map(\.token)
      return try await journal.all().contains { $0.cause == last.envelope.id }
    }
    return tokens
  }

  /// What each control shows, by placement number, as soon as the device can be asked; without placeholders.
  fileprivate func values() async throws -> [Int: String] {
    let gallery = GalleryFixture(cluster: cluster)
    let seen = try await gallery.screen("controlCenter").filter { $0.content == "entry" }
    return Dictionary(uniqueKeysWithValues: seen.map { ($0.number, $0.views.joined(separator: "\n")) })
  }
}
