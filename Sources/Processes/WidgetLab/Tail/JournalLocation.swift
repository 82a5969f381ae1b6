// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import Foundation
import Journal
import Messages

/// The journal that a command reads: that of an instance, or a copied one.
struct JournalLocation: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      A journal that was copied from elsewhere: its folder, the instance folder, one file of it (a segment), or the \
      failure file of a campaign (`widgetlab chaos`). No cluster needs to run.
      """, valueName: "path"))
  var journal: String?

  /// Returns the folder of the segments, or the file of one. It may not exist yet, unless it was given explicitly.
  ///
  /// - Throws: a command error when what was given does not exist, or is a file of something else.
  func folder(_ options: InstanceOptions, reading: Bool = true) throws -> String {
    guard let journal else { return InstanceFolder(try options.folder(reading: reading)).journal }
    let path = URL(fileURLWithPath: journal).standardizedFileURL.path
    let inside = InstanceFolder(path).journal
    if isFolder(inside) { return inside }
    if let extracted = try ChaosFailure.journal(in: path) { return extracted }
    guard FileManager.default.fileExists(atPath: path) else {
      throw CommandError(
        Exit.unavailable, "no such folder or file", at: path, advice: "give the folder of the segments, or one segment")
    }
    guard isFolder(path) || JournalReader.isSegment(URL(fileURLWithPath: path)) else {
      throw CommandError(
        Exit.unavailable, "this file is not a segment of a journal", at: path,
        advice: "give a file of the folder `journal` of an instance, or that folder")
    }
    return path
  }

  /// Returns a reader of an existing journal.
  ///
  /// - Throws: a command error when the journal does not exist yet.
  func reader(_ options: InstanceOptions, reading: Bool = true) throws -> JournalReader {
    let folder = try folder(options, reading: reading)
    guard FileManager.default.fileExists(atPath: folder) else {
      throw CommandError(
        Exit.unavailable, "the journal does not exist", at: folder,
        advice:
          "start the instance with `widgetlab up`, or give a copied one with --journal\(InstanceOptions.adviceToName)")
    }
    return JournalReader(folder: URL(fileURLWithPath: folder))
  }

  private func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
