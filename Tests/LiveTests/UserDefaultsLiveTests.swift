// SPDX-License-Identifier: Apache-2.0

import Cluster
import DefaultsLog
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The user defaults of an app and its extension, over real processes.
@Suite(.live, .timeLimit(.live)) struct `User defaults over real processes` {
  @Test(.rule("DEFAULTS-01", "DEFAULTS-02", "DEFAULTS-03"))
  func `what an app wrote before a SIGKILL is there for its widget and for its next process`() async throws {
    try await ScriptFixture.run("defaults") { fixture in
      try fixture.script(
        .app, ["set group drinks 3", "set group name Anna", "set standard mine 7", "die now"])
      try await fixture.cluster.run("app", "open")
      let exit = try await fixture.journal.waitFor("the app is killed") {
        $0.reading(ProcessExited.self)?.address == LiveFixture.app
      }
      #expect(exit.reading(ProcessExited.self)?.ending == .signalled(signal: SIGKILL))
      try fixture.script(.widget, ["get group drinks", "get standard mine", "set group seen 1"])
      try await fixture.cluster.run("reload", LiveFixture.kind)
      try await fixture.prints("finished widget")
      #expect(try await fixture.lines(of: LiveFixture.widgetExtension).prefix(2) == ["drinks = 3", "mine = nothing"])
      try await fixture.shows("Anna 3")
      try fixture.script(.app, ["get standard mine", "get group seen"])
      try await fixture.cluster.run("app", "open")
      try await fixture.prints("finished app")
      #expect(try await fixture.lines(of: LiveFixture.app) == ["mine = 7", "seen = 1", "finished app"])
    }
  }

  @Test(.rule("DEFAULTS-04", "DEFAULTS-05"))
  func `two processes that write ten thousand keys each at once lose none while the host is killed`() async throws {
    try await ScriptFixture.run("concurrent defaults") { fixture in
      guard mkfifo("\(fixture.groupFolder)/meeting", 0o600) == 0 else { throw LabError("no pipe") }
      for form in ScriptFixture.Form.allCases {
        try fixture.script(form, ["meet now", "many group \(form)- 10000 killed", "count group \(form)- 10000"])
      }
      try await fixture.cluster.run("app", "open")
      try await fixture.cluster.run("reload", LiveFixture.kind)
      for address in [LiveFixture.app, LiveFixture.widgetExtension] {
        try await fixture.journal.waitFor("\(address.short) writes") {
          $0.kind == DefaultsChanged.kind.name && $0.envelope.header.source == address
        }
      }
      try await fixture.cluster.run("kill", "host")
      // Until this file exists both write, and occupy all threads of Swift concurrency.
      try Data().write(to: URL(filePath: "\(fixture.groupFolder)/killed"))
      for form in ["app", "widget"] {
        try await fixture.prints("\(form)- has 10000, with 0: true")
        try await fixture.prints("finished \(form)")
      }
      let file = DefaultsFile(DefaultsFile.path(of: LiveFixture.group, in: fixture.groupFolder))
      let values = try file.values()
      let missing = ["app", "widget"].flatMap { form in (0..<10_000).map { "\(form)-\($0)" } }
        .filter { values[$0] == nil }
      #expect(missing.isEmpty && values.count == 20_000)
      let read = try await fixture.cluster.run("defaults", "read", LiveFixture.group, "widget-9999")
      #expect(read == "9999\n")
      let notices = try await fixture.journal.all().compactMap { $0.reading(DefaultsChanged.self) }
      #expect(notices.allSatisfy { $0.keys.count <= DefaultsChanged.namedKeys } && notices.count < 2_000)
    }
  }

  @Test(.rule("DEFAULTS-01", "DEFAULTS-06", "DEFAULTS-14"))
  func `a process sees what the operator wrote at its next read, and the operator what it wrote`() async throws {
    try await ScriptFixture.run("operator's defaults") { fixture in
      let group = LiveFixture.group
      let cluster = fixture.cluster
      let nothing = try await cluster.attempt(["defaults"])
      #expect(nothing.output.isEmpty && nothing.errors == "No domain has a value yet.\n")
      try await cluster.run("defaults", "write", group, "drinks", "-int", "5")
      try await cluster.run("defaults", "write", group, "name", "Ben")
      try await cluster.run("defaults", "write", group, "list", "-array", "a", "b")
      try fixture.script(.widget, ["set standard own yes"])
      try await cluster.run("reload", LiveFixture.kind)
      try await fixture.shows("Ben 5")
      try await fixture.prints("finished widget")
      try await cluster.run("defaults", "write", group, "drinks", "-int", "-6")
      try fixture.script(.widget, ["get group drinks"])
      try await cluster.run("reload", LiveFixture.kind)
      try await fixture.prints("drinks = -6")
      try await fixture.shows("Ben -6")
      #expect(
        try await cluster.run("defaults", "read", group, "--json")
          == #"{"drinks":-6,"list":["a","b"],"name":"Ben"}"# + "\n")
      #expect(try await cluster.run("defaults") == "\(group)\ncom.example.Trial.Widget\n")
      #expect(try await cluster.run("defaults", "read", "com.example.Trial.Widget") == "own = yes\n")
      try await cluster.run("defaults", "delete", group, "drinks")
      try await cluster.run("defaults", "delete", "com.example.Trial.Widget")
      #expect(try await cluster.run("defaults", "read", group) == "list = (a, b)\nname = Ben\n")
      #expect(try await cluster.run("defaults", "read") == "\(group)\n")
      for wrong in [["read", group, "drinks"], ["read", "com.example.Trial.Widget"], ["delete", "nowhere"]] {
        let refusal = try await cluster.attempt(["defaults"] + wrong)
        #expect(refusal.status == 1 && refusal.errors.contains("`widgetlab defaults` lists"), "\(wrong)")
      }
      try fixture.script(.widget, ["set group.com.example.Foreign a 1"])
      try await cluster.run("reload", LiveFixture.kind)
      try await fixture.journal.waitFor("the extension reports a group that it has not") {
        $0.reading(ProcessOutput.self)?.line.contains("is not a member of this app group") == true
      }
      let tail = try await cluster.run("tail", "--no-follow", "--color", "never")
      #expect(tail.contains("\(group) drinks = 5") && tail.contains("com.example.Trial.Widget own"))
    }
  }
}
