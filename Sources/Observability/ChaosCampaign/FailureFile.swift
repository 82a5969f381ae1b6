// SPDX-License-Identifier: Apache-2.0

package import Foundation
import JournalAnalysis

/// A campaign that broke a law, in one file: what was done, the report, the journal and the outputs of the processes.
/// It is a tar archive.
///
/// ```text
/// campaign.json       settings, steps and the verdict
/// report.json         the report
/// journal/…           the segments of the journal
/// logs/…              what the standing processes wrote to standard error
/// widgetlab.yaml      the configuration of the cluster
/// ```
package struct FailureFile: Sendable {
  /// What is needed to run it again.
  package struct Campaign: Sendable, Codable {
    package let version: String
    package let seed: UInt64
    /// The steps with their faults, shrunk if that was possible.
    package let steps: [CampaignStep]
    /// How many faults the campaign had before it was shrunk.
    package let faultsBefore: Int
    /// The codes of the broken laws and the names of the failed checks.
    package let broken: [String]

    package init(version: String, seed: UInt64, steps: [CampaignStep], faultsBefore: Int, broken: [String]) {
      self.version = version
      self.seed = seed
      self.steps = steps
      self.faultsBefore = faultsBefore
      self.broken = broken
    }

    /// The faults, one line each.
    package var lines: [String] {
      steps.compactMap { step in step.fault.map { "step \(step.number), after \(step.delay) ms: \($0.text)" } }
    }
  }

  private static let campaignName = "campaign.json"
  private static let reportName = "report.json"
  /// The folder of the journal's segments.
  package static let journalFolder = "journal/"

  package let campaign: Campaign
  package let archive: TarArchive

  /// Creates a failure file from a campaign and the files of its cluster.
  package init(_ campaign: Campaign, report: CampaignReport, files: [TarArchive.Member]) throws {
    self.campaign = campaign
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    archive = TarArchive(
      [
        TarArchive.Member(name: Self.campaignName, data: try encoder.encode(campaign)),
        TarArchive.Member(name: Self.reportName, data: try encoder.encode(report)),
      ] + files)
  }

  /// Reads a failure file.
  package init(reading bytes: Data) throws {
    archive = try TarArchive(reading: bytes)
    guard let data = archive[Self.campaignName] else {
      throw TarArchive.Problem(description: "the archive has no \(Self.campaignName)")
    }
    campaign = try JSONDecoder().decode(Campaign.self, from: data)
  }

  /// The segments of the journal, by file name.
  package var segments: [TarArchive.Member] {
    archive.members.compactMap { member in
      let name = member.name.dropFirst(Self.journalFolder.count)
      // A name with a slash could lead out of the folder into which they are extracted.
      guard member.name.hasPrefix(Self.journalFolder), !name.contains("/"), name.first != "." else { return nil }
      return TarArchive.Member(name: String(name), data: member.data)
    }
  }
}

extension CampaignReport {
  /// The codes of the broken laws and the names of the failed checks.
  package var broken: [String] {
    laws.filter { $0.answer == .broken }.map(\.code) + checks.filter { !$0.holds }.map(\.name)
  }
}
