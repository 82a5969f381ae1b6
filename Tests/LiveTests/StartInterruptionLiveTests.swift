// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WidgetLabTesting

/// Ctrl-C while a cluster starts.
@Suite(.live, .timeLimit(.live)) struct `A cluster that is interrupted while it starts` {
  private static let configuration = """
    device: { name: phone, model: iPhone 16, platform: iOS, version: "18.0" }
    """
  /// Milliseconds after the start: each of the first, in which signals begin to be received, and fewer later.
  private static let moments = Array(0..<48) + Array(stride(from: 48, to: 1_000, by: 24))

  @Test func `a cluster ends at each moment of its start at which Ctrl-C is pressed, and leaves nothing`() async throws
  {
    let executables = try LabCluster.findExecutables()
    let clock = ContinuousClock()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<4 {
        group.addTask {
          for moment in Self.moments where moment % 4 == lane || moment >= 48 && moment / 24 % 4 == lane {
            try await Self.interrupt(after: .milliseconds(moment), executables, clock)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func interrupt(
    after pause: Duration, _ executables: String, _ clock: ContinuousClock
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-interrupted-\(UUID().uuidString)")
      .path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try configuration.write(toFile: folder + "/widgetlab.yaml", atomically: true, encoding: .utf8)
    let up = try await LabChild.start(
      executables + "/widgetlab",
      [
        "up", "--instance", folder + "/i", "--config", folder + "/widgetlab.yaml", "--executables", executables,
        "--die-with-parent", "\(getpid())",
      ], output: folder + "/up.out", errors: folder + "/up.err")
    // The moment is what is tested.
    try await clock.sleep(for: pause)
    up.signal(SIGINT)
    let status = try await withThrowingTaskGroup(of: Int32.self) { group in
      group.addTask { await up.ending() }
      group.addTask {
        try await clock.sleep(for: .seconds(60))
        throw LabError("\(pause) after its start, Ctrl-C was lost: `up` still runs")
      }
      // Cancels the other task: that of the child kills it.
      defer { group.cancelAll() }
      return try await group.next() ?? -1
    }
    // 130: the signal came before any process was started.
    #expect(
      status == 0 || status == 130,
      "\(pause): \((try? String(contentsOfFile: folder + "/up.err", encoding: .utf8)) ?? "")")
    for process in LabProcess.all(naming: folder + "/i") { try await process.ended() }
    #expect(!FileManager.default.fileExists(atPath: folder + "/i/up.lock"), "\(pause)")
  }
}
