package import Conversations
package import Foundation
import Synchronization

/// The device tokens: which there are, and which one of a subject is active.
package struct TokenTable: Sendable {
  package private(set) var tokens: [String: DeviceToken] = [:]
  private var active: [PushSubject: String] = [:]
  private let random: @Sendable (Int) -> [UInt8]

  /// - Parameter random: that many bytes which nobody can guess.
  package init(random: @escaping @Sendable (Int) -> [UInt8] = TokenTable.unguessable) { self.random = random }

  package subscript(token: String) -> DeviceToken? { tokens[token] }

  /// The one active token of a subject.
  package func active(_ subject: PushSubject) -> DeviceToken? { active[subject].flatMap { tokens[$0] } }

  /// Takes a token as it is, such as from disk.
  package mutating func put(_ token: DeviceToken) {
    tokens[token.token] = token
    if token.state == .active {
      active[token.subject] = token.token
    } else if active[token.subject] == token.token {
      active[token.subject] = nil
    }
  }

  /// The device asks: the active token, or a new one in the place of one of another environment.
  ///
  /// - Returns: the token, and what has changed, in order.
  package mutating func issue(
    _ subject: PushSubject, _ environment: PushEnvironment, now: Date
  ) -> (token: DeviceToken, changed: [DeviceToken]) {
    if let present = active(subject), present.environment == environment { return (present, []) }
    let ended = end(subject, .unregistered, now: now)
    let made = make(subject, environment, now: now)
    return (made, (ended.map { [$0] } ?? []) + [made])
  }

  /// Another token takes the place of the active one.
  ///
  /// - Returns: the former one and the new one; nothing when there is no active one.
  package mutating func rotate(_ subject: PushSubject, now: Date) -> [DeviceToken] {
    guard let former = end(subject, .unregistered, now: now) else { return [] }
    return [former, make(subject, former.environment, now: now)]
  }

  /// The active token is active no longer.
  ///
  /// - Returns: it, or `nil` when there is none.
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

  /// Bytes of a token. Ours: their length is not promised, and a provider that counts on 64 digits finds out.
  private static func length(of use: PushTokenUse) -> Int {
    switch use {
    case .app: 32
    case .widgets: 80
    }
  }

  /// Bytes of the system's generator.
  package static let unguessable: @Sendable (Int) -> [UInt8] = { count in
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}

/// The device tokens as they are on disk, for whoever must know at once: any thread.
package final class TokenRegistry: Sendable {
  private let table: Mutex<TokenTable>

  package init(_ table: TokenTable = TokenTable()) { self.table = Mutex(table) }

  /// A token of either environment and of any state, by its lower-case hexadecimal.
  package subscript(token: String) -> DeviceToken? { table.withLock { $0[token] } }

  /// The one active token of a subject.
  package func active(_ subject: PushSubject) -> DeviceToken? { table.withLock { $0.active(subject) } }

  /// All of them, the oldest first.
  package var all: [DeviceToken] {
    table.withLock { Array($0.tokens.values) }.sorted { ($0.since, $0.token) < ($1.since, $1.token) }
  }

  func publish(_ changed: [DeviceToken]) {
    guard !changed.isEmpty else { return }
    table.withLock { for token in changed { $0.put(token) } }
  }
}
