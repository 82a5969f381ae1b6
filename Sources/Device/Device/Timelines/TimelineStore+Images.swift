// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import GRDB
import Stores

// The bytes of images. Each image is stored once, whichever entries of whichever placements show it, and deleted with the
// last entry that does.

extension TimelineStore {
  /// The triggers follow the entries: they are moved, and deleted, in several places.
  func createImages() throws {
    try database.createTables(
      of: "timelineImages",
      """
      CREATE TABLE images (digest TEXT PRIMARY KEY NOT NULL, bytes BLOB NOT NULL);
      CREATE TABLE entryImages (
        placement INTEGER NOT NULL, position INTEGER NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (placement, position, digest));
      CREATE INDEX entryImagesByDigest ON entryImages (digest);
      CREATE TRIGGER entryDeleted AFTER DELETE ON entries BEGIN
        DELETE FROM entryImages WHERE placement = OLD.placement AND position = OLD.position;
      END;
      CREATE TRIGGER entryMoved AFTER UPDATE OF position ON entries BEGIN
        UPDATE entryImages SET position = NEW.position WHERE placement = OLD.placement AND position = OLD.position;
      END;
      CREATE TRIGGER imageUnused AFTER DELETE ON entryImages
      WHEN NOT EXISTS (SELECT 1 FROM entryImages WHERE digest = OLD.digest) BEGIN
        DELETE FROM images WHERE digest = OLD.digest;
      END;
      """)
  }

  /// Stores which images an entry shows, in place of those of an entry that it replaces.
  func insert(_ images: [String], of id: Int, _ position: Int, _ db: Database) throws {
    try db.run("DELETE FROM entryImages WHERE placement = ? AND position = ?", [id, position])
    for digest in images {
      try db.run("INSERT INTO entryImages (placement, position, digest) VALUES (?, ?, ?)", [id, position, digest])
    }
  }

  /// Stores the bytes of images that entries show. Call after the entries are stored.
  func insert(_ images: [String: Data], _ db: Database) throws {
    for (digest, bytes) in images {
      try db.run("INSERT OR IGNORE INTO images (digest, bytes) VALUES (?, ?)", [digest, bytes])
    }
  }

  /// A piece of an image, and the length of the whole; `nil` if no entry shows it.
  func image(_ digest: String, from offset: Int, limit: Int) throws -> (piece: Data, count: Int)? {
    transactions.commit()
    return try database.read { db in
      let row = try Row.fetchOne(
        db, sql: "SELECT substr(bytes, ?, ?) AS piece, length(bytes) AS count FROM images WHERE digest = ?",
        arguments: [offset + 1, limit, digest])
      return row.map { ($0["piece"], $0["count"]) }
    }
  }
}
