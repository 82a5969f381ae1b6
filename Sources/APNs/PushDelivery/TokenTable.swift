// SPDX-License-Identifier: Apache-2.0

import FleetTokenDerivation
import Foundation
import Messages

/// The device tokens as the running transaction changes them. The others are those on disk.
struct TokenTable: Sendable {
  private let stored: TokenRegistry
  private var changed: [String: DeviceToken] = [:]
  /// The active tokens of subjects with changed tokens.
  private var active: [PushSubject: DeviceToken?] = [:]
  private let random: @Sendable (Int) -> [UInt8]

  /// - Parameter random: returns that many unpredictable bytes.
  init(_ stored: TokenRegistry, random: @escaping @Sendable (Int) -> [UInt8] = TokenTable.unguessable) {
    self.stored = stored
    self.random = random
  }

  subscript(token: String) -> DeviceToken? {
    get throws { try changed[token] ?? stored[token] }
  }

  /// A token that the running transaction has changed.
  func changed(_ token: String) -> DeviceToken? { changed[token] }

  /// The running transaction has failed.
  mutating func rollBack() {
    changed = [:]
    active = [:]
  }

  /// The active token of a subject.
  func active(_ subject: PushSubject) throws -> DeviceToken? {
    if let active = active[subject] { return active }
    return try stored.active(subject)
  }

  /// Changes a token in the running transaction.
  mutating func put(_ token: DeviceToken) {
    changed[token.token] = token
    active[token.subject] = .some(token.state == .active ? token : nil)
  }

  /// The changed tokens are on disk, and the removed ones are not any more.
  mutating func commit(removing removed: [String] = []) {
    stored.publish(Array(changed.values), removing: removed)
    changed = [:]
    active = [:]
  }

  /// Returns the active token for a request of the device. A token of another environment is replaced.
  ///
  /// - Returns: the token, and the changed tokens in order.
  mutating func issue(
    _ subject: PushSubject, _ environment: PushEnvironment, now: Date
  ) throws -> (token: DeviceToken, changed: [DeviceToken]) {
    if let present = try active(subject), present.environment == environment { return (present, []) }
    let ended = try end(subject, .unregistered, now: now)
    let made = make(subject, environment, now: now)
    return (made, (ended.map { [$0] } ?? []) + [made])
  }

  /// Replaces the active token of a subject.
  ///
  /// - Returns: the old token and the new one; empty when no token is active.
  mutating func rotate(_ subject: PushSubject, now: Date) throws -> [DeviceToken] {
    guard let former = try end(subject, .unregistered, now: now) else { return [] }
    return [former, make(subject, former.environment, now: now)]
  }

  /// Deactivates the active token of a subject.
  ///
  /// - Returns: the token, or `nil` when none is active.
  mutating func end(_ subject: PushSubject, _ state: DeviceToken.State, now: Date) throws -> DeviceToken? {
    guard let former = try active(subject) else { return nil }
    let ended = DeviceToken(
      token: former.token, subject: subject, environment: former.environment, state: state, since: now)
    put(ended)
    return ended
  }

  private mutating func make(_ subject: PushSubject, _ environment: PushEnvironment, now: Date) -> DeviceToken {
    let hexadecimal = random(subject.use.tokenLength).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }
    let made = DeviceToken(
      token: hexadecimal.joined(), subject: subject, environment: environment, state: .active, since: now)
    put(made)
    return made
  }

  /// Bytes of the system's random number generator.
  static let unguessable: @Sendable (Int) -> [UInt8] = { count in
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
