import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// The life of the device: locked, looked at, with an app in front or not.
@Suite(.live, .timeLimit(.live)) struct `the device's screen` {
  @Test func `is left by the app that goes to the background, which is told and suspended`() async throws {
    try await GalleryTrial.run("background", isLaunched: false) { trial in
      #expect(try await trial.refusal("app", "background").contains("not in front"))
      try await trial.cluster.run("app", "open")
      try await trial.journal.waitFor("the app is told that it is in front") {
        $0.reading(AppActivation.self)?.isActive == true
      }
      let said = try await trial.cluster.run("look", "light")
      #expect(said == "unlocked, \(GalleryTrial.app) is in front\n")
      try await trial.cluster.run("app", "background")
      let told = try await trial.journal.waitFor("the app is told that it is not") {
        $0.reading(AppActivation.self)?.isActive == false
      }
      try await trial.journal.waitFor("the app is suspended", after: told.sequence) {
        $0.reading(ProcessState.self).map { $0.address.role == .app && $0.state == "suspended" } ?? false
      }
      #expect(try await trial.cluster.run("look", "homeScreen") == "unlocked, homeScreen is seen\n")
    }
  }

  @Test func `is locked, over the host's death, and opens no app before it is unlocked`() async throws {
    try await GalleryTrial.run("lock") { trial in
      #expect(try await trial.cluster.run("lock") == "locked, the display is off\n")
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(9)
      try await host.ended()
      #expect(try await trial.refusal("app", "open").contains("locked"))
      #expect(try await trial.refusal("look", "homeScreen").contains("locked"))
      #expect(try await trial.cluster.run("look", "lockScreen") == "locked, lockScreen is seen\n")
      #expect(try await trial.cluster.run("unlock") == "unlocked, homeScreen is seen\n")
      try await trial.cluster.run("app", "open")
    }
  }

  @Test func `is started anew: every process ends, and it is locked and was not unlocked since`() async throws {
    try await GalleryTrial.run("restart") { trial in
      try await trial.cluster.run("app", "open")
      let said = try await trial.cluster.run("lock", "--restart")
      #expect(said == "locked, and not unlocked since it was started, the display is off\n")
      try await trial.journal.waitFor("the app ends") {
        $0.reading(ProcessExited.self)?.address.role == .app
      }
      #expect(try await trial.cluster.run("unlock") == "unlocked, homeScreen is seen\n")
    }
  }

  @Test func `hides what is private while it is locked, where the person wants it`() async throws {
    try await GalleryTrial.run("private") { trial in
      try await trial.add("Touch")
      #expect(try await trial.entry(of: 1).views.joined().contains("0 cups"))
      try await trial.cluster.run("lock")
      let locked = try await trial.entry(of: 1, at: "homeScreen").views.joined()
      #expect(!locked.contains("0 cups") && locked.contains("Text \"Drink\""))
      let told = try await trial.journal.all().filter { $0.kind == ShowScreen.kind.answered(.ok).name }
      let texts = try told.map { try BodyCoding.decode(ShowScreen.Reply.self, from: $0.envelope.body).tiles }
      #expect(texts.last?.flatMap(\.view.lines) == ["▒▒▒▒▒▒", "Drink", "More"])
    }
    try await GalleryTrial.run("shared", settings: ["placesEachKind: false", "hidesSensitiveContent: false"]) { trial in
      try await trial.add("Touch")
      _ = try await trial.entry(of: 1)
      try await trial.cluster.run("lock")
      #expect(try await trial.entry(of: 1, at: "homeScreen").views.joined().contains("0 cups"))
    }
  }

  @Test(arguments: [("complete", true), ("completeUnlessOpen", true), ("completeUntilFirstUserAuthentication", false)])
  func `hides all of a widget while it is locked when its data protection says so`(
    protection: String, isHidden: Bool
  ) async throws {
    try await GalleryTrial.run("protected", product: ["dataProtection: \(protection)"]) { trial in
      try await trial.add("Touch")
      _ = try await trial.entry(of: 1)
      try await trial.cluster.run("lock")
      let locked = try await trial.screen("homeScreen").first
      #expect(locked?.content == (isHidden ? "placeholder" : "entry"))
      #expect(locked?.views.joined().contains("Text \"Drink\"") == !isHidden)
      try await trial.cluster.run("unlock")
      #expect(try await trial.entry(of: 1).views.joined().contains("0 cups"))
    }
  }

  @Test func `shows placeholders alone until the device was unlocked once`() async throws {
    try await GalleryTrial.run("first unlock") { trial in
      try await trial.add("Touch")
      _ = try await trial.entry(of: 1)
      try await trial.cluster.run("lock", "--restart")
      #expect(try await trial.screen("homeScreen").first?.content == "placeholder")
      try await trial.cluster.run("unlock")
      #expect(try await trial.entry(of: 1).views.joined().contains("0 cups"))
    }
  }

  @Test func `has the first entry of a widget that is added while the clock is held, at whatever instant`() async throws
  {
    try await GalleryTrial.run("held") { trial in
      for number in 1...12 {
        try await trial.cluster.run("clock", "run")
        try await trial.cluster.run("clock", "hold")
        try await trial.add("TextName")
        _ = try await trial.entry(of: number)
      }
    }
  }

  @Test func `has a new timeline while the clock is held, also when the agent could not be told to wake its extension`()
    async throws
  {
    try await GalleryTrial.run("held agent") { trial in
      try await trial.add("TextName")
      _ = try await trial.entry(of: 1)
      try await trial.journal.waitFor("the extension is suspended") {
        $0.reading(ProcessState.self).map { $0.address.role == .widgetExtension && $0.state == "suspended" } ?? false
      }
      try await trial.cluster.run("clock", "hold")
      let before = try await trial.last
      // A stopped agent does not come to the next bus, where the host is told that nobody is there.
      let agent = LabProcess(pid: try #require(trial.cluster.pid(of: "agent-1")))
      try agent.signal(SIGSTOP)
      let bus = LabProcess(pid: try #require(trial.cluster.pid(of: "message-bus")))
      try bus.signal(SIGKILL)
      try await bus.ended()
      try await trial.cluster.run("reload", "TextName")
      try await trial.journal.waitFor("nobody continues it", after: before) {
        $0.kind == "bus.undelivered" && String(decoding: $0.body, as: UTF8.self).contains(SignalProcess.kind.name)
      }
      try agent.signal(SIGCONT)
      try await trial.journal.waitFor("its timeline comes", after: before) {
        $0.reading(TimelineStored.self)?.because == .operator
      }
    }
  }

  @Test func `has a button perform its intent in the extension, and the widget a new timeline`() async throws {
    try await GalleryTrial.run("button") { trial in
      try await trial.add("Touch")
      _ = try await trial.entry(of: 1)
      #expect(try await trial.refusal("tap", "1", "--control", "2").contains("1 (Button Drink)"))
      try await trial.cluster.run("lock")
      #expect(try await trial.cluster.run("tap", "1", "--control", "1").contains("locked"))
      try await trial.cluster.run("unlock")
      let said = try await trial.cluster.run("tap", "1", "--control", "1")
      #expect(said.contains("was performed by extension"))
      try await trial.cluster.eventually("the widget shows what the intent did") {
        try await trial.entry(of: 1).views.joined().contains("2 cups")
      }
      let performed = try await trial.journal.all().filter { $0.reading(PerformIntent.self) != nil }
      #expect(performed.map(\.destination) == [GalleryTrial.widgetExtension.text])
    }
  }

  @Test func `opens the app with the link's URL, or the widget's, or an activity`() async throws {
    try await GalleryTrial.run("open") { trial in
      try await trial.add("Touch")
      try await trial.add("Plain")
      _ = try await trial.entry(of: 1)
      _ = try await trial.entry(of: 2)
      for (words, url) in [
        (["tap", "1", "--link", "More"], "trial://more"), (["tap", "1"], "trial://touch"), (["tap", "2"], nil),
      ] {
        let before = try await trial.journal.all().last?.sequence ?? 0
        let answer = try await trial.cluster.attempt(words)
        #expect(answer.status == 0, "\(answer.errors)")
        let opened = try await trial.journal.waitFor("the app is told", after: before) {
          $0.reading(OpenFromWidget.self) != nil
        }
        #expect(opened.reading(OpenFromWidget.self)?.url == url)
        try await trial.journal.waitFor("the app has heard it", after: opened.sequence) {
          $0.kind == "app.open-from-widget/ack"
        }
        #expect(try await trial.cluster.run("look", "light").contains("in front"))
        try await trial.cluster.run("app", "background")
      }
    }
  }
}
