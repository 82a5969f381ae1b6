// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The keychain and the network's path of an app and its extension, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Keychain and network path over real processes` {
  private static let shared = "ABCDE12345.com.example.Shared"

  @Test(.rule("KEYCHAIN-01", "KEYCHAIN-02", "KEYCHAIN-03"))
  func `an item that the app added before a SIGKILL is there for its widget, in a shared access group only`()
    async throws
  {
    let both = "entitlements: {keychain-access-groups: [\(Self.shared)]}"
    let ownEntitlements = "entitlements: {keychain-access-groups: [ABCDE12345.com.example.Mine, \(Self.shared)]}"
    try await ScriptFixture.run("keychain", app: ownEntitlements, widget: both) { fixture in
      try fixture.script(
        .app,
        [
          "add \(Self.shared) token secret", "add \(LiveFixture.group) name Anna", "add default mine 7",
          "add ABCDE12345.com.example.Other other 8", "die now",
        ])
      try await fixture.cluster.run("app", "open")
      try await fixture.journal.waitFor("the app is killed") {
        $0.reading(ProcessExited.self)?.address == LiveFixture.app
      }
      let added = try await fixture.lines(of: LiveFixture.app).filter { $0.hasPrefix("add ") }
      #expect(added == ["add token: 0", "add name: 0", "add mine: 0", "add other: -34018"])
      let foundTexts = try await fixture.both(["read token", "read name", "read mine", "delete token"], only: .widget)
      #expect(
        foundTexts.widget.prefix(4) == [
          "read token: secret in \(Self.shared)", "read name: Anna in \(LiveFixture.group)", "read mine: -25300",
          "delete token: 0",
        ])
      let after = try await fixture.both(["read token", "read mine"], only: .app)
      #expect(after.app.prefix(2) == ["read token: -25300", "read mine: 7 in ABCDE12345.com.example.Mine"])
    }
  }

  @Test(.rule("NETWORK-16"))
  func `a monitor of the network sees what the user sets, and a process started later has it too`() async throws {
    try await ScriptFixture.run("network path") { fixture in
      try fixture.script(.app, ["paths now"])
      try await fixture.cluster.run("app", "open")
      try await fixture.prints("path changed: satisfied wifi")
      try await fixture.cluster.run("network", "cellular", "--low-data")
      try await fixture.prints("path changed: satisfied cellular expensive low")
      try await fixture.cluster.run("network", "off")
      try await fixture.prints("path changed: unsatisfied")
      let found = try await fixture.both(["path now"], only: .widget)
      #expect(found.widget.first == "path unsatisfied")
    }
  }
}
