// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Glibc
import Journal
import Messages
import WidgetLabTesting

/// The folder of a test that runs `widgetlab chaos`: the campaign's cluster, and the files that the command writes.
struct CampaignPlace: Sendable {
  let folder: String
  let executables: String
  /// The folder of the campaign's cluster.
  var instance: String { folder + "/cluster" }
  var failure: String { folder + "/failure.tar" }
  private var reportFile: String { folder + "/report.json" }

  init(_ name: String) throws {
    executables = try LabCluster.findExecutables()
    let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(temporary)/widgetlab-\(name)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw LabError("no folder: \(String(cString: strerror(errno)))") }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Starts a campaign in its own cluster.
  func start(_ arguments: [String], environment: [String: String] = [:]) async throws -> LabChild {
    try await LabChild.start(
      executables + "/widgetlab",
      ["chaos", "--instance", instance, "--report", reportFile, "--failure", failure] + arguments,
      environment: environment, output: folder + "/chaos.out", errors: folder + "/chaos.err")
  }

  /// Runs a command of the tool to its end.
  func tool(_ arguments: String...) async throws -> LabCluster.Answer {
    try await LabCluster.tool(arguments, executables: executables, in: folder)
  }

  /// What the campaign has printed.
  func output() throws -> String {
    try String(contentsOfFile: folder + "/chaos.out", encoding: .utf8)
      + String(contentsOfFile: folder + "/chaos.err", encoding: .utf8)
  }

  func report() throws -> CampaignReport {
    try JSONDecoder().decode(CampaignReport.self, from: Data(contentsOf: URL(fileURLWithPath: reportFile)))
  }

  /// All envelopes in the journal of the campaign.
  func envelopes() throws -> [Envelope] {
    try JournalReader(folder: URL(fileURLWithPath: instance + "/journal")).read()
  }

  func eventually(_ what: String, _ isSo: () throws -> Bool) async throws {
    let deadline = ContinuousClock.now + LabTimeout.usual
    while try !isSo() {
      guard ContinuousClock.now < deadline else { throw LabError("not within 60 s: \(what)\n\(try output())") }
      // A file sends no notification.
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  func remove() throws { try LabRemains.retire(folder) }
}
