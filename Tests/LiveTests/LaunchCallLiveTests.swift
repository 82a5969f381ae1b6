// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Calls of the author's code before its process is announced, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Calls while a process launches` {
  @Test(.rule("TASK-01"))
  func `calls of initializers and of the launch method are answered before the process is announced`() async throws {
    let urls = ["/figures?size=1000&seed=launch"]
    try await HandlersFixture.run("launch calls", extensionForm: "launching", appForm: "launching", urls: urls) {
      fixture in
      try await fixture.cluster.run("app", "open")
      try await fixture.cluster.run("reload", LiveFixture.kind)
      let places = [
        (LiveFixture.widgetExtension, ["Widget.init"]), (LiveFixture.app, ["App.init", "didFinishLaunching"]),
      ]
      for (owner, names) in places {
        let ready = try await fixture.journal.waitFor("\(owner.short) is announced") {
          $0.kind == ProcessReady.kind.name && $0.envelope.header.source == owner
        }
        for name in names {
          try await fixture.prints("\(name): 1000 bytes")
          try await fixture.prints("\(name): 0 widgets")
        }
        // A provider that is asked afterwards may create others.
        let stored = try await fixture.journal.all().count {
          $0.kind == CreateTransfer.kind.answered(.ok).name && $0.envelope.header.destination == owner
            && $0.sequence < ready.sequence
        }
        #expect(stored == names.count, "\(owner.short)")
      }
      try await fixture.prints("activities are enabled: true")
      for (owner, names) in places {
        try await fixture.cluster.eventually("the tasks of \(owner.short) have ended") {
          let progress = try await fixture.journal.all().compactMap { $0.reading(TransferProgress.self) }
          return progress.count { $0.owner == owner && $0.step == .finished } >= names.count
        }
      }
      try await fixture.journal.waitFor("the events are acknowledged") {
        $0.reading(SessionAcknowledged.self)?.owner == LiveFixture.widgetExtension
      }
      // A provider that is asked before the first result exists creates a second task.
      let ends = try await fixture.journal.all().filter { $0.envelope.header.source == LiveFixture.widgetExtension }
        .compactMap { $0.reading(DelegateCalled.self) }
      #expect(ends.count { $0.method == "didCompleteWithError" && $0.taskIdentifier == 1 } == 1)
    }
  }
}
