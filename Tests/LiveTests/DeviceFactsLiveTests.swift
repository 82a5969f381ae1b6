// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing
import WidgetLabTesting

/// What an app and its extension read of their device, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Facts of a device over real processes` {
  @Test(.rule("PROCESS-29", "PROCESS-30", "SETTING-10"))
  func `app and extension have one identifier for their vendor, and the battery that the user sets`() async throws {
    try await ScriptFixture.run("facts") { fixture in
      let first = try await fixture.both(["device"])
      let vendor = try #require(first.app.first)
      #expect(UUID(uuidString: String(vendor.dropFirst("vendor ".count))) != nil, "\(vendor)")
      #expect(first.app == [vendor, "battery 0.8 unplugged false", "launched inactive", "finished app"])
      #expect(first.widget == [vendor, "battery 0.8 unplugged false", "finished widget"])
      try await fixture.cluster.run("setting", "battery", "15,charging")
      try await fixture.cluster.run("setting", "low-power-mode", "on")
      let second = try await fixture.both(["device"], only: .widget)
      #expect(second.widget == [vendor, "battery 0.15 charging true", "finished widget"])
      try await fixture.cluster.run("update")
      let third = try await fixture.both(["device"])
      #expect(third.app == [vendor, "battery 0.15 charging true", "launched inactive", "finished app"])
      #expect(third.widget == [vendor, "battery 0.15 charging true", "finished widget"])
    }
  }
}
