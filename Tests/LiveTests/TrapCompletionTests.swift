// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// When the completion is stored and when it is called: the results of wrong code and of right code.
@Suite(.live, .timeLimit(.live)) struct `Pitfalls of completions` {
  @Test(.rule("TRAP-03"))
  func `pitfall 3: a handler that is called after the finish event gets a completion that is never called`()
    async throws
  {
    try await TrapFixture.run(3, suspendAfter: 0.2, settings: ["observedEventOrder: true"]) { fixture in
      try await fixture.beginAndSleep()
      fixture.release()
      try await fixture.right.acknowledged()
      let calls = ["didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents", "handler"]
      #expect(try await fixture.right.calls() == calls + ["completion 0"])
      try await fixture.wrong.handlerCalled()
      for author in [fixture.wrong, fixture.right] { try await author.shows("20000 bytes") }
      try await fixture.expectEviction(of: fixture.wrong)
      #expect(try await fixture.wrong.calls() == calls)
      #expect(try await fixture.right.endings().isEmpty)
    }
  }

  @Test(.rule("TRAP-04"))
  func `pitfall 4: a finish event without a handler call crashes code that relies on one`() async throws {
    try await TrapFixture.run(4, settings: ["observedEventOrder: true"]) { fixture in
      try await fixture.begin()
      fixture.release()
      try await fixture.right.acknowledged()
      let calls = ["didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents"]
      #expect(try await fixture.right.calls() == calls)
      let end = try await fixture.wrong.ended(1)
      guard case .signalled? = end.reading(ProcessExited.self)?.ending else {
        throw LabError("it ended in another way: \(end)")
      }
      try await fixture.wrong.acknowledged()
      // The first process may have exited before its last message was on the bus.
      let woken = try await fixture.wrong.calls().drop { $0 != "handler" }
      #expect(Array(woken) == ["handler"] + calls + ["completion 0"], "its second process is woken")
    }
  }

  @Test(.rule("TRAP-20"))
  func `pitfall 20: a running extension gets no finish event, and code that reloads only there shows nothing`()
    async throws
  {
    try await TrapFixture.run(20) { fixture in
      try await fixture.begin()
      fixture.release()
      try await fixture.right.shows("20000 bytes")
      try await fixture.wrong.acknowledged()
      try await fixture.wrong.prints("came 20000")
      #expect(try await fixture.wrong.calls() == ["didFinishDownloadingTo", "didCompleteWithError"])
      #expect(try await fixture.wrong.texts() == ["nothing yet"])
    }
  }

  @Test(.rule("TRAP-22")) func `pitfall 22: a handler that ignores both arguments and reloads is evicted`() async throws
  {
    try await TrapFixture.run(22, suspendAfter: 0.2) { fixture in
      try await fixture.beginAndSleep()
      fixture.release()
      for author in [fixture.wrong, fixture.right] { try await author.shows("20000 bytes") }
      try await fixture.right.acknowledged()
      try await fixture.expectEviction(of: fixture.wrong)
      #expect(try await fixture.wrong.calls().allSatisfy { !$0.hasPrefix("completion") })
      #expect(try await fixture.right.endings().isEmpty)
    }
  }

  @Test(.rule("TRAP-23"))
  func `pitfall 23: a handler that completes and reloads at once shows the old content`() async throws {
    try await TrapFixture.run(23) { fixture in
      try await fixture.beginAndDie()
      fixture.release()
      let unclaimed = try await fixture.journal.waitFor("the events are unclaimed") {
        $0.reading(SessionUnclaimed.self)?.owner == fixture.wrong.owner
      }
      #expect(unclaimed.reading(SessionUnclaimed.self)?.reason.contains("its handlers have called") == true)
      try await fixture.right.shows("20000 bytes")
      try await fixture.right.acknowledged()
      try await fixture.cluster.eventually("the wrong extension has a second timeline") {
        try await fixture.wrong.texts().count == 2
      }
      #expect(try await fixture.wrong.texts() == ["nothing yet", "nothing yet"])
      #expect(try await fixture.wrong.calls() == ["handler", "completion 0"])
    }
  }

  @Test(.rule("TRAP-24")) func `pitfall 24: two widgets that share one variable lose a completion`() async throws {
    let environment = ["TRIAL_WIDGETS: 2"]
    try await TrapFixture.run(24, suspendAfter: 0.2, environment: environment) { fixture in
      try await fixture.beginAndSleep()
      fixture.release()
      try await fixture.right.acknowledged()
      #expect(try await fixture.right.calls().suffix(2) == ["completion 1", "completion 0"])
      for author in [fixture.wrong, fixture.right] {
        for kind in ["Trap", "Other"] { try await author.prints("handler \(kind)") }
        try await author.shows("20000 bytes")
      }
      try await fixture.expectEviction(of: fixture.wrong)
      #expect(try await fixture.wrong.calls().filter { $0.hasPrefix("completion") } == ["completion 1"])
    }
  }

  @Test(.rule("TRAP-25"))
  func `pitfall 25: a completion that is stored after the handler returns is too late for the finish event`()
    async throws
  {
    try await TrapFixture.run(25, inline: "/held", suspendAfter: 0.2) { fixture in
      try await fixture.beginAndSleep()
      fixture.release()
      try await fixture.wrong.prints("finished")
      try await fixture.right.acknowledged()
      fixture.release()
      try await fixture.wrong.prints("stored")
      try await fixture.expectEviction(of: fixture.wrong)
      #expect(try await fixture.wrong.calls().allSatisfy { !$0.hasPrefix("completion") })
      #expect(try await fixture.right.endings().isEmpty)
    }
  }
}
