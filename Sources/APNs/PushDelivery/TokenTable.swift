// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages
import Synchronization

/// All device tokens, and the active one of each subject.
package struct TokenTable: Sendable {
  package private(set) var tokens: [String: DeviceToken] = [:]
  private var active: [PushSubject: String] = [:]
  private let random: @Sendable (Int) -> [UInt8]

  /// - Parameter random: returns that many unpredictable bytes.
  package init(random: @escaping @Sendable (Int) -> [UInt8] = TokenTable.unguessable) { self.random = random }

  package subscript(token: String) -> DeviceToken? { tokens[token] }

  /// The active token of a subject.
  package func active(_ subject: PushSubject) -> DeviceToken? { active[subject].flatMap { tokens[$0] } }

  /// Inserts an existing token, such as one from disk.
  package mutating func put(_ token: DeviceToken) {
    tokens[token.token] = token
    if token.state == .active {
      active[token.subject] = token.token
    } else if active[token.subject] == token.token {
      active[token.subject] = nil
    }
  }

  /// Returns the active token for a request of the device. A token of another environment is replaced.
  ///
  /// - Returns: the token, and the changed tokens in order.
  package mutating func issue(
    _ subject: PushSubject, _ environment: PushEnvironment, now: Date
  ) -> (token: DeviceToken, changed: [DeviceToken]) {
    if let present = active(subject), present.environment == environment { return (present, []) }
    let ended = end(subject, .unregistered, now: now)
    let made = make(subject, environment, now: now)
    return (made, (ended.map { [$0] } ?? []) + [made])
  }

  /// Replaces the active token of a subject.
  ///
  /// - Returns: the old token and the new one; empty when no token is active.
  package mutating func rotate(_ subject: PushSubject, now: Date) -> [DeviceToken] {
    guard let former = end(subject, .unregistered, now: now) else { return [] }
    return [former, make(subject, former.environment, now: now)]
  }

  /// Deactivates the active token of a subject.
  ///
  /// - Returns: the token, or `nil` when none is active.
  package mutating func end(_ subject: PushSubject, _ state: DeviceToken.State, now: Date) -> DeviceToken? {
    guard let former = active(subject) else { return nil }
    let ended = DeviceToken(
      token: former.token, subject: subject, environment: former.environment, state: state, since: now)
    put(ended)
    return ended
  }

  private mutating func make(_ subject: PushSubject, _ environment: PushEnvironment, now: Date) -> DeviceToken {
    let hexadecimal = random(Self.length(of: subject.use)).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }
    let made = DeviceToken(
      token: hexadecimal.joined(), subject: subject, environment: environment, state: .active, since: now)
    put(made)
    return made
  }

  /// The length of a token in bytes. Ours: Apple does not promise a length, and a provider that assumes 64 digits fails
  /// here.
  private static func length(of use: PushTokenUse) -> Int {
    switch use {
    case .app: 32
    case .widgets, .control: 80
    }
  }

  /// Bytes of the system's random number generator.
  package static let unguessable: @Sendable (Int) -> [UInt8] = { count in
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}

/// Thread-safe access to the persisted device tokens, without waiting for the service.
package final class TokenRegistry: Sendable {
  private let table: Mutex<TokenTable>

  package init(_ table: TokenTable = TokenTable()) { self.table = Mutex(table) }

  /// A token in any state, of either environment, by its lower-case hexadecimal.
  package subscript(token: String) -> DeviceToken? { table.withLock { $0[token] } }

  /// The active token of a subject.
  package func active(_ subject: PushSubject) -> DeviceToken? { table.withLock { $0.active(subject) } }

  /// All tokens, oldest first.
  package var all: [DeviceToken] {
    table.withLock { Array($0.tokens.values) }.sorted { ($0.since, $0.token) < ($1.since, $1.token) }
  }

  func publish(_ changed: [DeviceToken]) {
    guard !changed.isEmpty else { return }
    table.withLock { for token in changed { $0.put(token) } }
  }
}
