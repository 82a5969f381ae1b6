// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The states of the device's screen: locked or not, which place is visible, and which app is in the foreground.
@Suite(.live, .timeLimit(.live)) struct `The device's screen` {
  @Test(.rule("GALLERY-33"))
  func `an app that goes to the background is notified and suspended, and the Home Screen is visible again`()
    async throws
  {
    try await GalleryFixture.run("background", isLaunched: false) { fixture in
      #expect(try await fixture.refusal("app", "background").contains("not in the foreground"))
      try await fixture.cluster.run("app", "open")
      try await fixture.journal.waitFor("the app is notified that it is in the foreground") {
        $0.reading(AppActivation.self)?.isActive == true
      }
      let output = try await fixture.cluster.run("look", "light")
      #expect(output == "unlocked, \(GalleryFixture.app) is in front\n")
      try await fixture.cluster.run("app", "background")
      let received = try await fixture.journal.waitFor("the app is notified that it is in the background") {
        $0.reading(AppActivation.self)?.isActive == false
      }
      try await fixture.journal.waitFor("the app is suspended", after: received.sequence) {
        $0.reading(ProcessState.self).map { $0.address.role == .app && $0.state == "suspended" } ?? false
      }
      #expect(try await fixture.cluster.run("look", "homeScreen") == "unlocked, homeScreen is visible\n")
    }
  }

  @Test(.rule("GALLERY-34"))
  func `a locked device stays locked across a host kill and opens no app until it is unlocked`() async throws {
    try await GalleryFixture.run("lock") { fixture in
      #expect(try await fixture.cluster.run("lock") == "locked, the display is off\n")
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(9)
      try await host.ended()
      try await fixture.cluster.isBack("host")
      #expect(try await fixture.refusal("app", "open").contains("locked"))
      #expect(try await fixture.refusal("look", "homeScreen").contains("locked"))
      #expect(try await fixture.cluster.run("look", "lockScreen") == "locked, lockScreen is visible\n")
      #expect(try await fixture.cluster.run("unlock") == "unlocked, homeScreen is visible\n")
      try await fixture.cluster.run("app", "open")
    }
  }

  @Test(.rule("GALLERY-26", "GALLERY-45"))
  func `a device restart ends every process and leaves the device locked before its first unlock`() async throws {
    try await GalleryFixture.run("restart") { fixture in
      try await fixture.cluster.run("app", "open")
      let output = try await fixture.cluster.run("lock", "--restart")
      #expect(output == "locked, not unlocked since the restart, the display is off\n")
      try await fixture.journal.waitFor("the app exits") {
        $0.reading(ProcessExited.self)?.address.role == .app
      }
      #expect(try await fixture.cluster.run("unlock") == "unlocked, homeScreen is visible\n")
    }
  }

  @Test(.rule("GALLERY-28", "GALLERY-32"))
  func `a locked device hides privacy-sensitive content when the user's setting asks for it`() async throws {
    try await GalleryFixture.run("private") { fixture in
      try await fixture.add("Touch")
      #expect(try await fixture.entry(of: 1).views.joined().contains("0 cups"))
      try await fixture.cluster.run("lock")
      let locked = try await fixture.entry(of: 1, at: "homeScreen").views.joined()
      #expect(!locked.contains("0 cups") && locked.contains("Text \"Drink\""))
      let replies = try await fixture.journal.all().filter { $0.kind == ShowScreen.kind.answered(.ok).name }
      let texts = try replies.map { try BodyCoding.decode(ShowScreen.Reply.self, from: $0.envelope.body).tiles }
      #expect(texts.last?.flatMap(\.view.lines) == ["▒▒▒▒▒▒", "Drink", "More"])
    }
    try await GalleryFixture.run("shared", settings: ["placesEachKind: false", "hidesSensitiveContent: false"]) {
      fixture in
      try await fixture.add("Touch")
      _ = try await fixture.entry(of: 1)
      try await fixture.cluster.run("lock")
      #expect(try await fixture.entry(of: 1, at: "homeScreen").views.joined().contains("0 cups"))
    }
  }

  @Test(
    .rule("GALLERY-27"),
    arguments: [("complete", true), ("completeUnlessOpen", true), ("completeUntilFirstUserAuthentication", false)])
  func `a locked device hides the whole widget when its data protection requires it`(
    protection: String, isHidden: Bool
  ) async throws {
    try await GalleryFixture.run("protected", product: ["dataProtection: \(protection)"]) { fixture in
      try await fixture.add("Touch")
      _ = try await fixture.entry(of: 1)
      try await fixture.cluster.run("lock")
      let locked = try await fixture.screen("homeScreen").first
      #expect(locked?.content == (isHidden ? "placeholder" : "entry"))
      #expect(locked?.views.joined().contains("Text \"Drink\"") == !isHidden)
      try await fixture.cluster.run("unlock")
      #expect(try await fixture.entry(of: 1).views.joined().contains("0 cups"))
    }
  }

  @Test(.rule("GALLERY-26"))
  func `a device shows only placeholders until it is unlocked once after a restart`() async throws {
    try await GalleryFixture.run("first unlock") { fixture in
      try await fixture.add("Touch")
      _ = try await fixture.entry(of: 1)
      try await fixture.cluster.run("lock", "--restart")
      #expect(try await fixture.screen("homeScreen").first?.content == "placeholder")
      try await fixture.cluster.run("unlock")
      #expect(try await fixture.entry(of: 1).views.joined().contains("0 cups"))
    }
  }

  @Test(.rule("CLOCK-05"))
  func `a widget that is added while the clock is held at any time shows its first entry`() async throws {
    try await GalleryFixture.run("held") { fixture in
      for number in 1...12 {
        try await fixture.cluster.run("clock", "run")
        try await fixture.cluster.run("clock", "hold")
        try await fixture.add("TextName")
        _ = try await fixture.entry(of: number)
      }
    }
  }

  @Test(.rule("CLOCK-03"))
  func `a reload with a held clock completes although the agent missed the request to resume the extension`()
    async throws
  {
    try await GalleryFixture.run("held agent") { fixture in
      try await fixture.add("TextName")
      _ = try await fixture.entry(of: 1)
      try await fixture.journal.waitFor("the extension is suspended") {
        $0.reading(ProcessState.self).map { $0.address.role == .widgetExtension && $0.state == "suspended" } ?? false
      }
      try await fixture.cluster.run("clock", "hold")
      let before = try await fixture.last
      // A stopped agent does not connect to the next bus, so the host's message to it is undelivered.
      let agent = LabProcess(pid: try #require(fixture.cluster.pid(of: "agent-1")))
      try agent.signal(SIGSTOP)
      let bus = LabProcess(pid: try #require(fixture.cluster.pid(of: "message-bus")))
      try bus.signal(SIGKILL)
      try await bus.ended()
      try await fixture.cluster.run("reload", "TextName")
      try await fixture.journal.waitFor("the request to resume it is undelivered", after: before) {
        $0.kind == "bus.undelivered" && String(decoding: $0.body, as: UTF8.self).contains(SignalProcess.kind.name)
      }
      try agent.signal(SIGCONT)
      try await fixture.journal.waitFor("its timeline is stored", after: before) {
        $0.reading(TimelineStored.self)?.because == .operator
      }
    }
  }

  @Test(.rule("GALLERY-35", "GALLERY-36", "GALLERY-39"))
  func `a button performs its intent in the extension, and the widget gets a new timeline`() async throws {
    try await GalleryFixture.run("button") { fixture in
      try await fixture.add("Touch")
      _ = try await fixture.entry(of: 1)
      #expect(try await fixture.refusal("tap", "1", "--button", "2").contains("1 (Button Drink)"))
      try await fixture.cluster.run("lock")
      #expect(try await fixture.cluster.run("tap", "1", "--button", "1").contains("locked"))
      try await fixture.cluster.run("unlock")
      let output = try await fixture.cluster.run("tap", "1", "--button", "1")
      #expect(output.contains("was performed by extension"))
      try await fixture.cluster.eventually("the widget shows the intent's effect") {
        try await fixture.entry(of: 1).views.joined().contains("2 cups")
      }
      let performed = try await fixture.journal.all().filter { $0.reading(PerformIntent.self) != nil }
      #expect(performed.map(\.destination) == [GalleryFixture.widgetExtension.text])
    }
  }

  @Test(.rule("GALLERY-42", "GALLERY-44"))
  func `a tap opens the app with the link's URL, the widget's URL or an activity`() async throws {
    try await GalleryFixture.run("open") { fixture in
      try await fixture.add("Touch")
      try await fixture.add("Plain")
      _ = try await fixture.entry(of: 1)
      _ = try await fixture.entry(of: 2)
      for (words, url) in [
        (["tap", "1", "--link", "More"], "trial://more"), (["tap", "1"], "trial://touch"), (["tap", "2"], nil),
      ] {
        let before = try await fixture.journal.all().last?.sequence ?? 0
        let answer = try await fixture.cluster.attempt(words)
        #expect(answer.status == 0, "\(answer.errors)")
        let opened = try await fixture.journal.waitFor("the app receives the tap", after: before) {
          $0.reading(OpenFromWidget.self) != nil
        }
        #expect(opened.reading(OpenFromWidget.self)?.url == url)
        try await fixture.journal.waitFor("the app has acknowledged the tap", after: opened.sequence) {
          $0.kind == "app.open-from-widget/ack"
        }
        #expect(try await fixture.cluster.run("look", "light").contains("in front"))
        try await fixture.cluster.run("app", "background")
      }
    }
  }
}
