// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing
import WidgetLabTesting

/// From a figure that changes at the developer's backend to the new entry on the screen, over real processes, without a
/// reload request of the app. `WIDGETLAB_REPEAT=20` runs each test twenty times.
@Suite(.live, .timeLimit(.live)) struct `From a backend change to the screen` {
  @Test func `a backend change appears on the screen while the extension is suspended`() async throws {
    try await SampleFixture.run("push to a suspended extension") { fixture in
      let change = try await fixture.drink()
      let shown = try await fixture.shown(change)
      let instances = try await fixture.journal.all().compactMap { $0.reading(ProcessStarted.self) }
        .filter { $0.address == SampleFixture.widgetExtension }
      #expect(instances.count == 1, "shown by #\(shown.sequence)")
      try await fixture.expectOneOfEach(1, since: change)
    }
  }

  @Test func `a backend change appears on the screen while the extension is not running`() async throws {
    try await SampleFixture.run("push to an extension that is not running") { fixture in
      try await fixture.cluster.run("kill", "extension")
      try await fixture.journal.waitFor("the extension has exited") {
        $0.reading(ProcessExited.self)?.address == SampleFixture.widgetExtension
      }
      let change = try await fixture.drink()
      try await fixture.shown(change)
      let instances = try await fixture.journal.all().compactMap { $0.reading(ProcessStarted.self) }
        .filter { $0.address == SampleFixture.widgetExtension }
      #expect(instances.count == 2)
      try await fixture.expectOneOfEach(1, since: change)
    }
  }

  @Test func `an offline device shows only the newest backend change when it is online again`() async throws {
    try await SampleFixture.run("push to a device offline") { fixture in
      try await fixture.cluster.run("device", "offline")
      let first = try await fixture.drink()
      let superseded = try await fixture.step(.storedOffline, after: first.after)
      try await fixture.pushIs("sent")
      let second = try await fixture.drink()
      let delivered = try await fixture.step(.storedOffline, after: second.after)
      #expect(try await fixture.step(.superseded, after: first.after) == superseded)
      #expect(!(try await fixture.journal.all().contains { $0.kind == "push.deliver" }))
      try await fixture.cluster.run("device", "online")
      try await fixture.shown(second)
      #expect(try await fixture.step(.delivered, after: second.after) == delivered)
      try await fixture.expectOneOfEach(2, since: first, superseded: 1)
    }
  }

  @Test func `a backend change appears after the host is killed before it acknowledges the push`() async throws {
    try await SampleFixture.run("host killed before its acknowledgement") { fixture in
      try fixture.process(named: "host").signal(SIGSTOP)
      let change = try await fixture.drink()
      try await fixture.pushIs("sent")
      try await fixture.journal.waitFor("the push is sent to the host") { $0.kind == "push.deliver" }
      try await fixture.killAndReturn("host", .host(LiveFixture.device))
      try await fixture.shown(change)
      try await fixture.expectOneOfEach(1, since: change)
    }
  }

  @Test
  func `a backend change appears after the push server is killed while the host does not acknowledge`() async throws {
    try await SampleFixture.run("push server killed before the acknowledgement") { fixture in
      let host = try fixture.process(named: "host")
      try host.signal(SIGSTOP)
      let change = try await fixture.drink()
      do {
        try await fixture.pushIs("sent")
        try await fixture.journal.waitFor("the push is sent to the host") { $0.kind == "push.deliver" }
        try await fixture.killAndReturn("push-server", .pushServer)
      } catch {
        try host.signal(SIGCONT)
        throw error
      }
      try host.signal(SIGCONT)
      try await fixture.shown(change)
      try await fixture.expectOneOfEach(1, since: change)
    }
  }

  @Test func `a backend change appears after the push server is killed while the device is offline`() async throws {
    try await SampleFixture.run("push server killed with a stored push") { fixture in
      try await fixture.cluster.run("device", "offline")
      let change = try await fixture.drink()
      try await fixture.pushIs("sent")
      try await fixture.killAndReturn("push-server", .pushServer)
      try await fixture.cluster.run("device", "online")
      try await fixture.shown(change)
      try await fixture.expectOneOfEach(1, since: change)
    }
  }

  @Test func `a backend change appears after a token rotation: the old token gets 410 and the new one is used`()
    async throws
  {
    try await SampleFixture.run("push to a rotated token") { fixture in
      let old = try #require(try await fixture.subscriptions().first?.token)
      // The new token's upload waits for the network, so the backend does not have it.
      try await fixture.cluster.run("device", "offline")
      try await fixture.cluster.run("token", "rotate")
      let change = try await fixture.drink()
      try await fixture.pushIs("tokenless")
      let refused = try await fixture.push()
      #expect(refused?.status == 410 && refused?.reason == "Unregistered" && refused?.attempts == 1)
      #expect(try await fixture.subscriptions().isEmpty)
      try await fixture.cluster.run("device", "online")
      try await fixture.shown(change)
      let new = try #require(try await fixture.subscriptions().first?.token)
      #expect(new != old)
      try await fixture.expectOneOfEach(1, since: change)
    }
  }
}
