// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import OwnedTasks

/// The mistakes of a process with its SQLite database: temporary triggers change what its connection writes.
package enum FaultyDatabase {
  /// Makes a process whose database this is make the mistake.
  ///
  /// - Parameters:
  ///   - database: with all tables of the process.
  ///   - tasks: the owner of a task that writes later.
  /// - Throws: errors of the database.
  package static func plant(_ fault: PlantedFault, in database: any DatabaseWriter, _ tasks: TaskOwner) throws {
    guard let sql = triggers[fault] else { return }
    try database.writeWithoutTransaction { try $0.execute(sql: sql) }
    if fault == .answeredBeforeSaved { tasks.start { await saveHeld(database) } }
  }

  private static let triggers: [PlantedFault: String] = [
    .loadedAgain: """
    CREATE TEMP TRIGGER forgetEnd AFTER UPDATE OF endedOrder ON tasks WHEN NEW.endedOrder IS NOT NULL BEGIN
      UPDATE tasks SET endedOrder = NULL, ended = NULL WHERE rowid = NEW.rowid;
    END;
    """,
    .acknowledgementForgotten: """
    CREATE TEMP TRIGGER keepDeliveries BEFORE DELETE ON deliveries BEGIN SELECT RAISE(IGNORE); END;
    CREATE TEMP TRIGGER keepTasks BEFORE DELETE ON tasks BEGIN SELECT RAISE(IGNORE); END;
    """,
    // A request goes to a table in memory first. It is then written from there, which this trigger permits.
    .answeredBeforeSaved: """
    CREATE TEMP TABLE held AS SELECT * FROM requests WHERE FALSE;
    CREATE TEMP TRIGGER hold BEFORE INSERT ON requests
    WHEN NOT EXISTS (SELECT 1 FROM held WHERE number = NEW.number) BEGIN
      INSERT INTO held VALUES (NEW.number, NEW.uniqueID, NEW.apnsID, NEW.device, NEW.bundle, NEW.use, NEW.token,
        NEW.type, NEW.status, NEW.reason, NEW.at, NEW.detail, NEW.next, NEW.nextDetail);
      SELECT RAISE(IGNORE);
    END;
    """,
  ]

  private static func saveHeld(_ database: any DatabaseWriter) async {
    while !Task.isCancelled {
      // Longer than a commit, so that a kill can fall between the answer and the commit.
      try? await Task.sleep(for: .milliseconds(200))
      try? await database.write { db in
        try db.execute(sql: "INSERT INTO requests SELECT * FROM held; DELETE FROM held")
      }
    }
  }
}
