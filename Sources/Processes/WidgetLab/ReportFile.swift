// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import FleetReports
import Foundation

/// A file for the report of a campaign or a fleet; its name determines the format.
struct ReportFile: ExpressibleByArgument, Sendable {
  private enum Format: String { case json, md, html }

  let path: String
  private let format: Format

  /// `nil` when the name has another extension.
  init?(argument: String) {
    guard let format = Format(rawValue: URL(fileURLWithPath: argument).pathExtension) else { return nil }
    path = argument
    self.format = format
  }

  /// Writes the report of a campaign. Replaces an existing file.
  func write(_ report: CampaignReport) throws {
    try write {
      switch format {
      case .json: try Output.jsonData(report)
      case .md: Data(CampaignMarkdown.page(report).utf8)
      case .html: Data(CampaignPage.page(report).utf8)
      }
    }
  }

  /// Writes the report of a fleet. Replaces an existing file.
  func write(_ report: FleetReport) throws {
    try write {
      switch format {
      case .json: try Output.jsonData(report, pretty: true)
      case .md: Data(report.markdown.utf8)
      case .html: Data(report.page.utf8)
      }
    }
  }

  private func write(_ data: () throws -> Data) throws {
    do {
      try data().write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw CommandError(
        Exit.broken, "the report cannot be written: \(error.localizedDescription)", at: path,
        advice: "name a file in a writable folder")
    }
  }

  static let help = ArgumentHelp(
    "A file for the report: .json, .md or .html (a page with plots); may be repeated.", valueName: "file")
}
