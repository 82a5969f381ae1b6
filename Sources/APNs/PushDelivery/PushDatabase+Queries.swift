// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Messages
import Stores

// What is read when it is needed. A query is one statement, and sees what is committed.

extension PushDatabase {
  func kept(of device: String) throws -> [StoredPush] {
    try database.unsafeRead { db in
      let select = try db.cachedStatement(sql: Self.keptOfDevice)
      return try Row.fetchAll(select, arguments: [device]).map(kept)
    }
  }

  static let keptOfDevice = """
    SELECT requests.uniqueID, requests.apnsID, requests.token, kept.*
      FROM kept CROSS JOIN requests ON requests.number = kept.number WHERE kept.device = ? ORDER BY kept.number
    """

  func ends(after place: StoredEnd, by date: Date?, limit: Int) throws -> [StoredEnd] {
    try database.unsafeRead { db in
      let select = try db.cachedStatement(
        sql: """
          SELECT ends, device, bundle, use, number FROM kept
            WHERE ends >= ?1 AND ends <= ?2 AND (ends, device, bundle, use, number) > (?1, ?3, ?4, ?5, ?6)
            ORDER BY ends, device, bundle, use, number LIMIT ?7
          """)
      let subject = place.subject
      let arguments: StatementArguments = [
        place.at.timeIntervalSince1970, (date ?? .distantFuture).timeIntervalSince1970, subject.device, subject.bundle,
        subject.device.isEmpty ? "" : subject.use.rawValue, place.number, limit,
      ]
      return try Row.fetchAll(select, arguments: arguments).map { row in
        StoredEnd(at: row.date("ends"), subject: try self.subject(row), number: row["number"])
      }
    }
  }

  // MARK: Tokens

  func token(_ token: String) throws -> DeviceToken? {
    try database.unsafeRead { db in
      let select = try db.cachedStatement(sql: "SELECT * FROM tokens WHERE token = ?")
      return try Row.fetchOne(select, arguments: [token]).map(self.token)
    }
  }

  func active(_ subject: PushSubject) throws -> DeviceToken? {
    try database.unsafeRead { db in
      let select = try db.cachedStatement(
        sql: """
          SELECT * FROM tokens INDEXED BY activeTokens
            WHERE device = ? AND bundle = ? AND use = ? AND state = 'active' ORDER BY since DESC LIMIT 1
          """)
      return try Row.fetchOne(select, arguments: [subject.device, subject.bundle, subject.use.rawValue]).map(token)
    }
  }

  /// Maximum number of tokens in a page, because envelopes have a size limit.
  static let tokensInPage = 250

  func page(_ request: ListTokens) async throws -> [DeviceToken] {
    try await database.read { db in
      let rows =
        if let device = request.device {
          try Row.fetchAll(
            db,
            sql: """
              SELECT * FROM tokens INDEXED BY activeTokens WHERE device = ? AND state = 'active' AND (since, token) > (?, ?)
                ORDER BY since, token LIMIT \(Self.tokensInPage)
              """,
            arguments: [device, request.after?.since.timeIntervalSince1970 ?? -.infinity, request.after?.token ?? ""])
        } else {
          try Row.fetchAll(
            db,
            sql: "SELECT * FROM tokens WHERE (since, token) > (?, ?) ORDER BY since, token LIMIT \(Self.tokensInPage)",
            arguments: [request.after?.since.timeIntervalSince1970 ?? -.infinity, request.after?.token ?? ""])
        }
      return try rows.map(token)
    }
  }
}
