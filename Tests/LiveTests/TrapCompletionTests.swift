import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// When the completion is stored, and when it is called: what an author sees who does it wrong, and one who does it right.
@Suite(.live, .timeLimit(.live)) struct `Traps of completions:` {
  @Test func `trap 3: a handler that is called after the finish has a completion that nobody calls`() async throws {
    try await TrapTrial.run(3, suspendAfter: 0.2, settings: ["observedEventOrder: true"]) { trial in
      try await trial.beginAndSleep()
      trial.release()
      try await trial.right.acknowledged()
      let calls = ["didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents", "handler"]
      #expect(try await trial.right.calls() == calls + ["completion 0"])
      try await trial.wrong.handlerCalled()
      for author in [trial.wrong, trial.right] { try await author.shows("20000 bytes") }
      try await trial.expectEviction(of: trial.wrong)
      #expect(try await trial.wrong.calls() == calls)
      #expect(try await trial.right.endings().isEmpty)
    }
  }

  @Test func `trap 4: a finish without a handler call crashes who counts on one`() async throws {
    try await TrapTrial.run(4, settings: ["observedEventOrder: true"]) { trial in
      try await trial.begin()
      trial.release()
      try await trial.right.acknowledged()
      let calls = ["didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents"]
      #expect(try await trial.right.calls() == calls)
      let end = try await trial.wrong.ended(1)
      guard case .signalled? = end.reading(ProcessExited.self)?.ending else {
        throw LabError("it ended otherwise: \(end)")
      }
      try await trial.wrong.acknowledged()
      // The first life may have died before its last word was on the bus.
      let woken = try await trial.wrong.calls().drop { $0 != "handler" }
      #expect(Array(woken) == ["handler"] + calls + ["completion 0"], "its second life is woken")
    }
  }

  @Test func `trap 20: nobody is told of a finish while the extension runs, and who reloads there alone shows nothing`()
    async throws
  {
    try await TrapTrial.run(20) { trial in
      try await trial.begin()
      trial.release()
      try await trial.right.shows("20000 bytes")
      try await trial.wrong.acknowledged()
      try await trial.wrong.says("came 20000")
      #expect(try await trial.wrong.calls() == ["didFinishDownloadingTo", "didCompleteWithError"])
      #expect(try await trial.wrong.texts() == ["nothing yet"])
    }
  }

  @Test func `trap 22: a handler that ignores both arguments and reloads is evicted`() async throws {
    try await TrapTrial.run(22, suspendAfter: 0.2) { trial in
      try await trial.beginAndSleep()
      trial.release()
      for author in [trial.wrong, trial.right] { try await author.shows("20000 bytes") }
      try await trial.right.acknowledged()
      try await trial.expectEviction(of: trial.wrong)
      #expect(try await trial.wrong.calls().allSatisfy { !$0.hasPrefix("completion") })
      #expect(try await trial.right.endings().isEmpty)
    }
  }

  @Test func `trap 23: a handler that completes and reloads at once shows what it showed before`() async throws {
    try await TrapTrial.run(23) { trial in
      try await trial.beginAndDie()
      trial.release()
      let unclaimed = try await trial.journal.waitFor("the events are unclaimed") {
        $0.reading(SessionUnclaimed.self)?.owner == trial.wrong.owner
      }
      #expect(unclaimed.reading(SessionUnclaimed.self)?.reason.contains("its handlers have called") == true)
      try await trial.right.shows("20000 bytes")
      try await trial.right.acknowledged()
      try await trial.cluster.eventually("the wrong one has shown something again") {
        try await trial.wrong.texts().count == 2
      }
      #expect(try await trial.wrong.texts() == ["nothing yet", "nothing yet"])
      #expect(try await trial.wrong.calls() == ["handler", "completion 0"])
    }
  }

  @Test func `trap 24: two widgets with one variable lose a completion`() async throws {
    let environment = ["TRIAL_WIDGETS: 2"]
    try await TrapTrial.run(24, suspendAfter: 0.2, environment: environment) { trial in
      try await trial.beginAndSleep()
      trial.release()
      try await trial.right.acknowledged()
      #expect(try await trial.right.calls().suffix(2) == ["completion 1", "completion 0"])
      for author in [trial.wrong, trial.right] {
        for kind in ["Trap", "Other"] { try await author.says("handler \(kind)") }
        try await author.shows("20000 bytes")
      }
      try await trial.expectEviction(of: trial.wrong)
      #expect(try await trial.wrong.calls().filter { $0.hasPrefix("completion") } == ["completion 1"])
    }
  }

  @Test func `trap 25: a completion that is stored after the handler returned comes too late for the finish`()
    async throws
  {
    try await TrapTrial.run(25, inline: "/held", suspendAfter: 0.2) { trial in
      try await trial.beginAndSleep()
      trial.release()
      try await trial.wrong.says("finished")
      try await trial.right.acknowledged()
      trial.release()
      try await trial.wrong.says("stored")
      try await trial.expectEviction(of: trial.wrong)
      #expect(try await trial.wrong.calls().allSatisfy { !$0.hasPrefix("completion") })
      #expect(try await trial.right.endings().isEmpty)
    }
  }
}
