// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Foundation
import JournalAnalysis

/// `widgetlab chaos merge`.
struct ChaosMergeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Merges the JSON reports of several campaigns, such as the shards of several machines.",
    discussion: """
      The exit code is that of a campaign: 0 when all laws hold in all of them, 1 when one is broken, 2 when none is \
      broken and one is unknown.

      EXAMPLES
        widgetlab chaos merge shard-*.json --report chaos.html
      """)

  @Argument(help: "Reports that `chaos run --report FILE.json` wrote.", completion: .file())
  var files: [String]

  @Option(name: .customLong("report"), help: ReportFile.help, completion: .file())
  var reports: [ReportFile] = []

  func run() async throws {
    try await reporting {
      var merged = try read(files[0])
      for file in files.dropFirst() { merged.merge(try read(file)) }
      for file in reports { try file.write(merged) }
      for line in CampaignText.lines(merged, isColored: Output.isColored) { Output.print(line) }
      try CheckCommand.exit(with: merged.answer)
    }
  }

  private func read(_ path: String) throws -> CampaignReport {
    do {
      return try JSONDecoder().decode(CampaignReport.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw CommandError(
        Exit.usage, "this is not a report of a campaign: \(error)", at: path,
        advice: "give the files that `widgetlab chaos --report FILE.json` wrote")
    }
  }
}
