import ArgumentParser
import Cluster
import Conversations
import Foundation
import Journal

/// Which journal a command reads: that of an instance, or a folder that came from elsewhere.
struct JournalPlace: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A journal, or the folder of an instance, that was copied from elsewhere; nothing need run.", valueName: "folder"
    ))
  var journal: String?

  /// The folder of the segments; it need not exist, unless it was named.
  ///
  /// - Throws: a complaint when there is no such folder.
  func folder(_ options: InstanceOptions) throws -> String {
    guard let journal else { return InstanceFolder(try options.folder()).journal }
    let path = URL(fileURLWithPath: journal).standardizedFileURL.path
    let inside = InstanceFolder(path).journal
    if isFolder(inside) { return inside }
    guard isFolder(path) else {
      throw Complaint(Exit.unavailable, "there is no such folder", at: path, advice: "name the folder of the segments")
    }
    return path
  }

  /// The reader of a folder that exists.
  ///
  /// - Throws: a complaint when nothing has ever been written there.
  func reader(_ options: InstanceOptions) throws -> JournalReader {
    let folder = try folder(options)
    guard isFolder(folder) else {
      throw Complaint(
        Exit.unavailable, "there is no journal", at: folder,
        advice: "start the instance with `widgetlab up`, or name a copied one with --journal FOLDER")
    }
    return JournalReader(folder: URL(fileURLWithPath: folder))
  }

  private func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
