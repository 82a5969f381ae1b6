// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import PushDelivery

private let origin = Date(timeIntervalSince1970: 1_000_000_000)
private let widgets = PushSubject(device: "iphone", bundle: "com.example.A", use: .widgets)

@Suite struct `Device tokens` {
  @Test(.rule("APNS-31")) func `a subject gets the same token until it ends, and each subject has its own token`() {
    var table = TokenTable()
    let first = table.issue(widgets, .development, now: origin)
    #expect(first.changed == [first.token] && first.token.token.count == 160)
    let again = table.issue(widgets, .development, now: origin + 1)
    #expect(again.token == first.token && again.changed.isEmpty)
    let app = PushSubject(device: "iphone", bundle: "com.example.A", use: .app)
    let other = table.issue(app, .development, now: origin).token
    #expect(other.token.count == 64 && other.token != first.token.token)
    #expect(first.token.token.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    let controls = [1, 2].map { number in
      let subject = PushSubject(device: "iphone", bundle: "com.example.A", use: .control(number))
      return table.issue(subject, .development, now: origin).token
    }
    #expect(controls.allSatisfy { $0.token.count == 160 } && Set(controls.map(\.token)).count == 2)
  }

  @Test func `a rotation unregisters the old token and activates a new one`() {
    var table = TokenTable()
    let first = table.issue(widgets, .production, now: origin).token
    let changed = table.rotate(widgets, now: origin + 5)
    #expect(changed.map(\.state) == [.unregistered, .active])
    #expect(table[first.token]?.state == .unregistered && table[first.token]?.since == origin + 5)
    #expect(table.active(widgets) == changed.last && changed.last?.environment == .production)
    #expect(table.issue(widgets, .production, now: origin + 6).token == changed.last)
  }

  @Test func `a new token is issued after the previous one has expired`() {
    var table = TokenTable()
    let first = table.issue(widgets, .development, now: origin).token
    #expect(table.end(widgets, .expired, now: origin + 1)?.state == .expired)
    #expect(table.active(widgets) == nil && table.end(widgets, .expired, now: origin + 2) == nil)
    #expect(table.rotate(widgets, now: origin + 2).isEmpty)
    let second = table.issue(widgets, .development, now: origin + 3).token
    #expect(second.token != first.token && table[first.token]?.state == .expired)
  }

  @Test func `a request for another environment unregisters the previous token`() {
    var table = TokenTable()
    let first = table.issue(widgets, .development, now: origin).token
    let second = table.issue(widgets, .production, now: origin + 1)
    #expect(second.changed.map(\.state) == [.unregistered, .active] && second.token.environment == .production)
    #expect(table[first.token]?.state == .unregistered)
  }

  @Test func `a table and a registry that are restored from the changes have the same tokens`() {
    var table = TokenTable()
    let first = table.issue(widgets, .development, now: origin).token
    let changed = table.rotate(widgets, now: origin + 1)
    var copy = TokenTable()
    for token in changed { copy.put(token) }
    #expect(copy.active(widgets) == table.active(widgets) && copy[first.token]?.state == .unregistered)
    let registry = TokenRegistry(copy)
    #expect(registry[first.token]?.state == .unregistered && registry.active(widgets) == changed.last)
    #expect(registry.all.count == 2)
  }
}
