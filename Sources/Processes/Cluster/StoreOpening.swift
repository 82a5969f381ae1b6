// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The identity of a process's database, and how often it was opened. The process states both in its hello, so that the
/// journal shows when it began with an empty database or with an older copy.
///
/// They are in a file beside the database, because the hello is sent while the database is opened.
package struct StoreOpening: Codable, Sendable, Equatable {
  /// Another one for each database that began empty.
  package let store: UUID
  /// 1, 2, 3 … for this database.
  package let opening: Int

  /// The next opening of a database, which is written to its file. A database that does not exist or is empty gets a new
  /// identity, and so does one whose file is damaged.
  ///
  /// - Throws: `instance-folder` when the file cannot be written.
  package static func next(of database: String) throws(ClusterError) -> StoreOpening {
    let file = URL(fileURLWithPath: database + ".opening")
    let size = try? FileManager.default.attributesOfItem(atPath: database)[.size] as? Int
    let isEmpty = (size ?? 0) == 0
    let former =
      isEmpty ? nil : (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(Self.self, from: $0) }
    let next = StoreOpening(store: former?.store ?? UUID(), opening: (former?.opening ?? 0) + 1)
    do {
      try JSONEncoder().encode(next).write(to: file, options: .atomic)
    } catch {
      throw ClusterError(.folder, "cannot write \(file.path): \(error). Is the disk full? Restart to continue")
    }
    return next
  }
}
