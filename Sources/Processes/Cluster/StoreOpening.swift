// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc

/// The identity of a process's database, and how often it was opened. The process states both in its hello, so that the
/// journal shows when it began with an empty database or with an older copy.
///
/// They are in a file beside the database, because the hello is sent while the database is opened.
package struct StoreOpening: Sendable, Equatable {
  /// Another one for each database that began empty.
  package let store: UUID
  /// 1, 2, 3 … for this database.
  package let opening: Int

  /// The path of the file.
  package static func path(of database: String) -> String { database + ".opening" }

  /// The next opening of a database, which is written to its file. A database that does not exist or is empty gets a new
  /// identity, and so does one whose file is damaged. The file does not wait for the disk: a start is not slower by that,
  /// and after a power failure an opening that is counted again tells the same as an older copy.
  ///
  /// - Throws: `instance-folder` when the file cannot be written.
  package static func next(of database: String) throws(ClusterError) -> StoreOpening {
    let path = path(of: database)
    let size = try? FileManager.default.attributesOfItem(atPath: database)[.size] as? Int
    let isEmpty = (size ?? 0) == 0
    let formerOpening = isEmpty ? nil : (try? String(contentsOfFile: path, encoding: .utf8)).flatMap(StoreOpening.init)
    let next = StoreOpening(store: formerOpening?.store ?? UUID(), opening: (formerOpening?.opening ?? 0) + 1)
    // Renamed when it is complete: a process that is killed now, or a full disk, leaves the former one.
    let text = Array("\(next.store.uuidString) \(next.opening)\n".utf8)
    let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { if file >= 0 { close(file) } }
    guard file >= 0, write(file, text, text.count) == text.count, rename(path + ".new", path) == 0 else {
      throw ClusterError(
        .folder, "cannot write \(path): \(String(cString: strerror(errno))). Is the disk full? Restart to continue")
    }
    return next
  }

  /// - Parameter opening: 1 for the first.
  package init(store: UUID, opening: Int) {
    self.store = store
    self.opening = opening
  }

  private init?(_ text: String) {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let store = UUID(uuidString: String(words[0])), let opening = UInt32(words[1]) else {
      return nil
    }
    self.init(store: store, opening: Int(opening))
  }
}
