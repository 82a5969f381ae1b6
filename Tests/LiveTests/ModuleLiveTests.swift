// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The modules that only some authors import, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Modules that a widget imports, over real processes` {
  private func run(_ name: String, _ body: @Sendable (GalleryFixture) async throws -> Void) async throws {
    try await GalleryFixture.run("modules \(name)", executable: "FixtureModules", body)
  }

  @Test func `an intent of a definition is configured in the gallery, and its values reach the provider`() async throws
  {
    try await run("intent") { fixture in
      try await fixture.add("Modules")
      try await fixture.shows("Bern celsius [0, 42] at unknown")
      let choices = try await fixture.cluster.run("edit", "1")
      #expect(choices.contains("Degrees Fahrenheit"))
      try await fixture.cluster.run("edit", "1", "--set", "unit=fahrenheit", "--set", "city=Rome")
      try await fixture.shows("Rome fahrenheit [0, 42] at unknown")
    }
  }

  @Test func `a widget that imports every module shows what it made with them`() async throws {
    try await run("every") { fixture in
      try await fixture.add("Every")
      try await fixture.shows("4bf5 0 47.0 24.0 [12] satisfied -25300")
    }
  }

  @Test func `a line of the log is in the journal with its subsystem, category and level`() async throws {
    try await run("log") { fixture in
      let before = try await fixture.last
      try await fixture.add("Modules")
      let line = "[com.example.Modules:timeline] error: the weather of Bern: 21.5"
      #expect(try await fixture.printed(line, after: before).stream == "stderr")
    }
  }

  @Test(.rule("SETTING-09"))
  func `the location that the user sets reaches a running widget, and the next one after a kill`() async throws {
    try await run("location") { fixture in
      try await fixture.add("Modules")
      try await fixture.shows("Bern celsius [0, 42] at unknown")
      #expect(try await fixture.cluster.run("device", "location", "47.37,8.54") == "location 47.37,8.54\n")
      try await fixture.cluster.run("reload", "--all")
      try await fixture.shows("Bern celsius [0, 42] at Zurich")
      try await fixture.cluster.run("kill", "host")
      try await fixture.cluster.run("kill", "extension")
      try await fixture.cluster.run("reload", "--all")
      try await fixture.shows("Bern celsius [0, 42] at Zurich")
      try await fixture.cluster.run("setting", "location-access", "denied")
      try await fixture.cluster.run("reload", "--all")
      try await fixture.shows("Bern celsius [0, 42] at denied")
    }
  }

  @Test(.rule("MODEL-02", "MODEL-03"))
  func `models of a widget are in the store of its app group, and remain when the process is killed`() async throws {
    try await GalleryFixture.run(
      "models", executable: "FixtureModules", fixture: "models", groups: ["group.com.example.Readings"]
    ) { fixture in
      try await fixture.add("Readings")
      try await fixture.shows("1 samples, Bern")
      try await fixture.cluster.run("kill", "extension")
      try await fixture.cluster.run("reload", "--all")
      try await fixture.shows("2 samples, Bern")
    }
  }
}
