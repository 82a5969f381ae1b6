// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import PushDelivery

/// Marks a schema of a database as used by the push servers of one cluster. The mark is a shared advisory lock: it ends
/// with the connection, however the process ends.
package struct ClusterMark: Sendable {
  /// The same for the replicas of a cluster on all machines.
  private let id: String
  private let folder: String

  /// - Parameters:
  ///   - authority: the certificate of the authority that the replicas share.
  ///   - folder: the folder of the instance.
  package init(authority: Data, folder: String) {
    id = String(decoding: authority, as: UTF8.self)
    self.folder = folder
  }

  /// The name in `pg_stat_activity`, which has at most 63 bytes.
  var connectionName: String { "push server of \(folder.utf8.count > 48 ? "…" + String(folder.suffix(40)) : folder)" }

  /// Sets the mark on a connection.
  ///
  /// - Throws: `PostgresError.taken` if another cluster has one.
  func claim(_ connection: PostgresConnection) throws {
    let schema = "hashtext('widgetlab ' || current_schema())"
    try connection.execute([
      .init("SELECT pg_advisory_lock_shared(\(schema), hashtext($1::text))", [.text(id)])
    ])
    let others = try connection.execute(
      .init(
        """
        SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
          WHERE locktype = 'advisory' AND granted AND mode = 'ShareLock' AND objsubid = 2
            AND datname = current_database() AND classid::int8 = (\(schema)::int8 & 4294967295)
            AND objid::int8 <> (hashtext($1::text)::int8 & 4294967295)
        """, [.text(id)]))
    guard others.count > 0 else { return }
    throw PostgresError(
      state: PostgresError.taken,
      "another cluster uses this database: \(others.text(0, 0) ?? "its name is not known"). Give each cluster its own "
        + "database, or its own schema: ?options=-c%20search_path%3DNAME")
  }
}

extension PostgresPushStore {
  /// Opens the connection of the service, as the first statement does otherwise.
  ///
  /// - Throws: `taken` if the push servers of another cluster use the database, or why it cannot be reached.
  package func connect() throws(PushStoreError) {
    do {
      try perform { _, _ in }
    } catch {
      throw error as? PushStoreError ?? PushStoreError(.refused, "\(error)")
    }
  }
}
