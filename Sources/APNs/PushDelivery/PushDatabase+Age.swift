// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

extension PushDatabase {
  /// Maximum number of requests examined, and of tokens deleted, by one transaction.
  static let forgottenAtOnce = 1000

  func forget(_ old: OldPushes, _ db: Database) throws -> ForgottenPushes {
    var forgotten = ForgottenPushes()
    try forgetRequests(old, &forgotten, db)
    try forgetTokens(old, &forgotten, db)
    return forgotten
  }

  /// Deletes the oldest requests, except for those whose notification is kept. Recent requests are not read.
  private func forgetRequests(_ old: OldPushes, _ forgotten: inout ForgottenPushes, _ db: Database) throws {
    let page = try Row.fetchOne(
      try db.cachedStatement(
        sql: """
          SELECT MAX(number) AS last, COUNT(*) AS count FROM (
            SELECT number, at FROM requests WHERE number > ? ORDER BY number LIMIT \(Self.forgottenAtOnce))
            WHERE number <= ? OR at < ?
          """), arguments: [old.after, old.number, old.date.timeIntervalSince1970])
    guard let page, let last = page["last"] as Int64? else { return }
    forgotten.last = last
    forgotten.hasMore = page["count"] == Self.forgottenAtOnce
    let kept = "SELECT number FROM requests CROSS JOIN kept USING (device, bundle, use, number) WHERE requests.number"
    for (table, column) in [("steps", "request"), ("requests", "number")] {
      try db.cachedStatement(
        sql: """
          DELETE FROM \(table) WHERE \(column) > ? AND \(column) <= ? AND \(column) NOT IN (
            \(kept) > ?1 AND requests.number <= ?2)
          """
      ).perform(old.after, last)
    }
    forgotten.requests = db.changesCount
  }

  /// Deletes the tokens that ended first.
  private func forgetTokens(_ old: OldPushes, _ forgotten: inout ForgottenPushes, _ db: Database) throws {
    forgotten.tokens = try String.fetchAll(
      try db.cachedStatement(
        sql: """
          SELECT token FROM tokens WHERE state <> 'active' AND since < ? ORDER BY since LIMIT \(Self.forgottenAtOnce)
          """), arguments: [old.ended.timeIntervalSince1970])
    let delete = try db.cachedStatement(sql: "DELETE FROM tokens WHERE token = ?")
    for token in forgotten.tokens { try delete.perform(token) }
    forgotten.hasMore = forgotten.hasMore || forgotten.tokens.count == Self.forgottenAtOnce
  }
}
