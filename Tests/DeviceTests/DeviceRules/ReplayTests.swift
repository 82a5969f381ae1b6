// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Foundation
import Messages
import Testing

@testable import DeviceRules

/// The whole device without a process: the same events at the same times.
@Suite(.timeLimit(.minutes(2))) struct ReplayTests {
  private static let file = "WIDGETLAB_REPLAY"

  private static func day(isReversed: Bool = false) -> [String] {
    var day = ModelDay(isReversed: isReversed)
    day.run()
    return day.steps
  }

  @Test func `the model of a day meets every concern of the device`() {
    let steps = Self.day()
    for part in [
      "launching: (spawn", "signal: ", "timelines: (ask", "timelines: (shown", "timelines: (decided", "loading: (load",
      "delivery: (deliver", "delivery: (forget", "tokens: (notify", "notifications: (step", "notifications: (ask",
      "gallery: (placement", "gallery: (turned", "gallery: (screen", "conditions: (", "settings: (", "apps: (",
    ] {
      #expect(steps.contains { $0.contains(part) }, "\(part)")
    }
    if let path = ProcessInfo.processInfo.environment[Self.file] {
      try? Data(steps.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
    }
  }

  @Test func `equal events give equal steps`() { #expect(Self.day() == Self.day()) }

  @Test func `events of one instant that concern different processes have one result in both orders`() {
    let (one, other) = (Self.day(), Self.day(isReversed: true))
    #expect(one != other)
    let differences = one.sorted().difference(from: other.sorted())
    #expect(differences.isEmpty, "\(differences.prefix(6).map { "\($0)" }.joined(separator: "\n"))")
  }

  /// Dictionaries and sets have another order in each process.
  @Test func `two processes give equal steps, byte for byte`() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/replay-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var results: [Data] = []
    for number in 1...2 {
      var environment = ProcessInfo.processInfo.environment
      environment[Self.file] = "\(folder)/\(number)"
      let child = try await SpawnedProcess.start(
        ChildCommand(
          CommandLine.arguments[0],
          ["--testing-library", "swift-testing", "--filter", "the model of a day meets every concern of the device"],
          environment: environment, output: .file("\(folder)/out"), errors: .file("\(folder)/out")))
      #expect(await child.ending() == .exited(code: 0))
      results.append(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(number)")))
    }
    #expect(results[0] == results[1] && results[0].count > 100_000)
    #expect(results[0] == Data(Self.day().joined(separator: "\n").utf8))
  }

  @Test func `a later host adds and removes placements that the earlier host did not pass on`() {
    let (widget, now) = (ModelDay.widgets[0], ModelDay.morning)
    let placements = (1...3).map { id in
      Placement(
        id: id, bundle: widget.bundleIdentifier ?? "", kind: "Tea", family: .systemSmall, location: .homeScreen)
    }
    var timelines = TimelineStateMachine(extensions: [widget])
    _ = timelines.handle(.kindsReported(widget, ["Tea": .systemSmall]), now: now)
    for placement in placements[..<2] { _ = timelines.handle(.placed(placement, .none), now: now) }
    var gallery = GalleryStateMachine.State()
    gallery.placements = Array(placements[1...])
    var device = DeviceStateMachine()
    device.timelines = timelines
    device.gallery = GalleryStateMachine(device: .phone, state: gallery)
    for _ in 1...2 {
      _ = device.handle(.gallery(.began), now: now)
      let reloads = device.timelines.placements.all.mapValues { $0.pendingReload?.reload }
      #expect(reloads == [2: 2, 3: 3], "a placement that timelines have is not reloaded")
    }
  }
}
