// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Glibc
import Synchronization

/// Failure files on disk.
enum ChaosFailure {
  /// The folders to remove when this process exits, by the path of the file.
  private static let extracted = Mutex<[String: String]>([:])

  static func read(_ path: String) throws -> FailureFile {
    do {
      return try FailureFile(reading: Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe))
    } catch let problem as TarArchive.Problem {
      throw CommandError(
        Exit.usage, "this is not a failure file of a campaign: \(problem)", at: path,
        advice: "give the file that `widgetlab chaos` wrote, chaos-SEED.tar")
    } catch {
      throw CommandError(Exit.usage, "the failure file cannot be read: \(error.localizedDescription)", at: path)
    }
  }

  /// Extracts the journal of a failure file into a folder that is removed when this process exits.
  ///
  /// - Returns: the folder; `nil` when the file is not an archive.
  static func journal(in path: String) throws -> String? {
    if let folder = extracted.withLock({ $0[path] }) { return folder }
    guard let file = FileHandle(forReadingAtPath: path), let head = try? file.read(upToCount: 512),
      TarArchive.isArchive(head)
    else { return nil }
    let segments = try read(path).segments
    let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(temporary)/widgetlab-failure-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandError(
        Exit.broken, "cannot create a temporary folder: \(String(cString: strerror(errno)))", at: temporary,
        advice: "set TMPDIR to a writable folder")
    }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let isFirst = extracted.withLock { folders in
      folders[path] = folder
      return folders.count == 1
    }
    if isFirst { atexit { ChaosFailure.removeExtracted() } }
    for segment in segments { try segment.data.write(to: URL(fileURLWithPath: "\(folder)/\(segment.name)")) }
    return folder
  }

  private static func removeExtracted() {
    for folder in extracted.withLock({ $0 }).values { try? FileManager.default.removeItem(atPath: folder) }
  }
}
