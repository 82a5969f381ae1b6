// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import GRDB
import Messages
import Testing

@testable import PushDelivery

private let origin = Date(timeIntervalSince1970: 1_000_000_000)
private let widgets = PushSubject(device: "iphone", bundle: "com.example.A", use: .widgets)

@Suite struct `Device tokens` {
  /// A table without tokens on disk.
  private func table() throws -> TokenTable {
    try TokenTable(TokenRegistry(PushDatabase(DatabaseQueue()), limit: 4))
  }

  @Test(.rule("APNS-31")) func `a subject gets the same token until it ends, and each subject has its own token`()
    throws
  {
    var table = try table()
    let first = try table.issue(widgets, .development, now: origin)
    #expect(first.changed == [first.token] && first.token.token.count == 2 * 80)
    let again = try table.issue(widgets, .development, now: origin + 1)
    #expect(again.token == first.token && again.changed.isEmpty)
    let app = PushSubject(device: "iphone", bundle: "com.example.A", use: .app)
    let other = try table.issue(app, .development, now: origin).token
    #expect(other.token.count == 2 * 32 && other.token != first.token.token)
    #expect(first.token.token.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    let controls = try [1, 2].map { number in
      let subject = PushSubject(device: "iphone", bundle: "com.example.A", use: .control(number))
      return try table.issue(subject, .development, now: origin).token
    }
    #expect(controls.allSatisfy { $0.token.count == 160 } && Set(controls.map(\.token)).count == 2)
  }

  @Test func `a rotation unregisters the old token and activates a new one`() throws {
    var table = try table()
    let first = try table.issue(widgets, .production, now: origin).token
    let changed = try table.rotate(widgets, now: origin + 5)
    #expect(changed.map(\.state) == [.unregistered, .active])
    #expect(try table[first.token]?.state == .unregistered && table[first.token]?.since == origin + 5)
    #expect(try table.active(widgets) == changed.last && changed.last?.environment == .production)
    #expect(try table.issue(widgets, .production, now: origin + 6).token == changed.last)
  }

  @Test func `a new token is issued after the previous one has expired`() throws {
    var table = try table()
    let first = try table.issue(widgets, .development, now: origin).token
    #expect(try table.end(widgets, .expired, now: origin + 1)?.state == .expired)
    #expect(try table.active(widgets) == nil && table.end(widgets, .expired, now: origin + 2) == nil)
    #expect(try table.rotate(widgets, now: origin + 2).isEmpty)
    let second = try table.issue(widgets, .development, now: origin + 3).token
    #expect(try second.token != first.token && table[first.token]?.state == .expired)
  }

  @Test func `a request for another environment unregisters the previous token`() throws {
    var table = try table()
    let first = try table.issue(widgets, .development, now: origin).token
    let second = try table.issue(widgets, .production, now: origin + 1)
    #expect(second.changed.map(\.state) == [.unregistered, .active] && second.token.environment == .production)
    #expect(try table[first.token]?.state == .unregistered)
  }

  @Test func `changes of a transaction are seen by it at once, and by all after its commit`() throws {
    let database = try PushDatabase(DatabaseQueue())
    let registry = TokenRegistry(database, limit: 4)
    var table = TokenTable(registry)
    func commit(_ changed: [DeviceToken]) throws {
      var changes = PushChanges()
      changes.tokens = changed.map { .token($0) }
      try database.write(changes)
      table.commit()
    }
    let first = try table.issue(widgets, .development, now: origin)
    #expect(try registry[first.token.token] == nil && registry.active(widgets) == nil)
    try commit(first.changed)
    #expect(try registry[first.token.token] == first.token && registry.active(widgets) == first.token)
    let changed = try table.rotate(widgets, now: origin + 1)
    #expect(try table[first.token.token]?.state == .unregistered && table.active(widgets) == changed.last)
    #expect(try registry[first.token.token]?.state == .active && registry.active(widgets) == first.token)
    try commit(changed)
    #expect(try registry[first.token.token]?.state == .unregistered && registry.active(widgets) == changed.last)
    #expect(try registry[first.token.token]?.since == origin + 1)
  }

  @Test(arguments: [4, 100]) func `memory has the tokens that were used last, and the disk has all`(limit: Int) throws {
    let database = try PushDatabase(DatabaseQueue())
    let registry = TokenRegistry(database, limit: limit)
    var changes = PushChanges()
    let tokens = (0..<1000).map { number in
      DeviceToken(
        token: "\(number)", subject: PushSubject(device: "device-\(number)", bundle: "com.example.A", use: .app),
        environment: .production, state: number % 3 == 0 ? .unregistered : .active, since: origin + Double(number))
    }
    changes.tokens = tokens.map { .token($0) }
    try database.write(changes)
    for token in tokens + tokens.reversed() {
      #expect(try registry[token.token] == token)
      #expect(registry.count <= limit)
    }
    #expect(try registry["unknown"] == nil && registry.active(tokens[1].subject) == tokens[1])
    #expect(try registry.active(tokens[0].subject) == nil)
  }
}
