// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import Foundation
import Journal
import Messages

/// The journal that a command reads: that of an instance, or a copied folder.
struct JournalLocation: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      A journal or an instance folder that was copied from elsewhere, or the failure file of a campaign (`widgetlab \
      chaos`). No cluster needs to run.
      """, valueName: "path"))
  var journal: String?

  /// Returns the folder of the segments. It may not exist yet, unless it was given explicitly.
  ///
  /// - Throws: a command error when the given folder does not exist.
  func folder(_ options: InstanceOptions) throws -> String {
    guard let journal else { return InstanceFolder(try options.folder()).journal }
    let path = URL(fileURLWithPath: journal).standardizedFileURL.path
    let inside = InstanceFolder(path).journal
    if isFolder(inside) { return inside }
    if let extracted = try ChaosFailure.journal(in: path) { return extracted }
    guard isFolder(path) else {
      throw CommandError(Exit.unavailable, "no such folder", at: path, advice: "give the folder of the segments")
    }
    return path
  }

  /// Returns a reader of an existing folder.
  ///
  /// - Throws: a command error when the journal does not exist yet.
  func reader(_ options: InstanceOptions) throws -> JournalReader {
    let folder = try folder(options)
    guard isFolder(folder) else {
      throw CommandError(
        Exit.unavailable, "the journal does not exist", at: folder,
        advice: "start the instance with `widgetlab up`, or give a copied one with --journal FOLDER")
    }
    return JournalReader(folder: URL(fileURLWithPath: folder))
  }

  private func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
