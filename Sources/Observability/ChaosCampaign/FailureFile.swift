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

/// Files in one file, in the format of `tar` (POSIX ustar), so that every tool can open it.
package struct TarArchive: Sendable, Equatable {
  /// One file.
  package struct Member: Sendable, Equatable {
    package let name: String
    package let data: Data

    package init(name: String, data: Data) {
      self.name = name
      self.data = data
    }
  }

  /// Why an archive cannot be read.
  package struct Problem: Error, CustomStringConvertible {
    package let description: String
  }

  private static let block = 512

  package var members: [Member]

  package init(_ members: [Member] = []) { self.members = members }

  /// The content of a file; `nil` when no member has this name.
  package subscript(name: String) -> Data? { members.first { $0.name == name }?.data }

  // MARK: Writing

  /// The archive's bytes.
  package var bytes: Data {
    var bytes = Data()
    for member in members {
      bytes += Self.head(of: member)
      bytes += member.data
      bytes += Data(count: (Self.block - member.data.count % Self.block) % Self.block)
    }
    return bytes + Data(count: 2 * Self.block)
  }

  private static func head(of member: Member) -> Data {
    var head = [UInt8](repeating: 0, count: block)
    func put(_ text: String, at offset: Int) {
      head.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
    }
    func octal(_ value: Int, _ digits: Int) -> String {
      let text = String(value, radix: 8)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    precondition(member.name.utf8.count < 100, "the name of a member has fewer than 100 bytes: \(member.name)")
    put(member.name, at: 0)
    put(octal(0o644, 7), at: 100)
    put(octal(0, 7), at: 108)
    put(octal(0, 7), at: 116)
    put(octal(member.data.count, 11), at: 124)
    put(octal(0, 11), at: 136)
    put("        ", at: 148)
    put("0", at: 156)
    put("ustar", at: 257)
    put("00", at: 263)
    put(octal(head.reduce(0) { $0 + Int($1) }, 6) + "\0 ", at: 148)
    return Data(head)
  }

  // MARK: Reading

  /// Whether the bytes begin like an archive.
  package static func isArchive(_ bytes: Data) -> Bool {
    bytes.count >= block && bytes.dropFirst(257).prefix(5) == Data("ustar".utf8)
  }

  /// Reads an archive of plain files.
  ///
  /// - Throws: `Problem` for other content.
  package init(reading bytes: Data) throws(Problem) {
    members = []
    var rest = bytes[...]
    while rest.count >= Self.block, rest.first != 0 {
      let head = Array(rest.prefix(Self.block))
      guard Self.isArchive(Data(head)), let size = Int(Self.text(head[124..<136]), radix: 8), size >= 0,
        Self.checksum(head) == Int(Self.text(head[148..<156]), radix: 8)
      else { throw Problem(description: "the file is not a tar archive, or it is damaged") }
      rest = rest.dropFirst(Self.block)
      guard rest.count >= size else {
        throw Problem(description: "the archive ends within \(Self.text(head[0..<100]))")
      }
      if head[156] == UInt8(ascii: "0") || head[156] == 0 {
        members.append(Member(name: Self.text(head[0..<100]), data: Data(rest.prefix(size))))
      }
      rest = rest.dropFirst((size + Self.block - 1) / Self.block * Self.block)
    }
  }

  private static func text(_ field: ArraySlice<UInt8>) -> String {
    String(decoding: field.prefix { $0 != 0 && $0 != UInt8(ascii: " ") }, as: UTF8.self)
  }

  /// The checksum counts its own field as spaces.
  private static func checksum(_ head: [UInt8]) -> Int {
    head.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
  }
}
