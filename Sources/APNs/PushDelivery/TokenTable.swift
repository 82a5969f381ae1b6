// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
package import Messages
import Stores
import Synchronization
import Timekeeping

/// The device tokens as the running transaction changes them. The others are those on disk.
struct TokenTable: Sendable {
  private let storedRegistry: TokenRegistry
  private var changed: [String: DeviceToken] = [:]
  /// The active tokens of subjects with changed tokens.
  private var active: [PushSubject: DeviceToken?] = [:]
  private let random: @Sendable (Int) -> [UInt8]

  /// - Parameter random: returns that many unpredictable bytes.
  init(_ registry: TokenRegistry, random: @escaping @Sendable (Int) -> [UInt8] = TokenTable.unguessable) {
    self.storedRegistry = registry
    self.random = random
  }

  subscript(token: String) -> DeviceToken? {
    get throws { try changed[token] ?? storedRegistry[token] }
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
    return try storedRegistry.active(subject)
  }

  /// Changes a token in the running transaction.
  mutating func put(_ token: DeviceToken) {
    changed[token.token] = token
    active[token.subject] = .some(token.state == .active ? token : nil)
  }

  /// The changed tokens are on disk, and the removed ones are not any more.
  mutating func commit(removing removed: [String] = []) {
    storedRegistry.publish(Array(changed.values), removing: removed)
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
    let made = DeviceToken(
      token: random(subject.use.tokenLength).hexadecimal, subject: subject, environment: environment, state: .active,
      since: now)
    put(made)
    return made
  }

  /// Bytes of the system's random number generator.
  static let unguessable: @Sendable (Int) -> [UInt8] = { count in
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}

/// Thread-safe access to the device tokens on disk, without waiting for the service. Memory has the tokens that were used
/// last.
package final class TokenRegistry: Sendable {
  private struct Cache: Sendable {
    /// At most half of the limit. When it is full, it becomes `formerTokens`.
    var recent: [String: DeviceToken] = [:]
    var formerTokens: [String: DeviceToken] = [:]
    /// The number of transactions that changed tokens.
    var changes = 0
    let half: Int

    mutating func find(_ token: String) -> DeviceToken? {
      if let found = recent[token] { return found }
      guard let found = formerTokens[token] else { return nil }
      insert(found)
      return found
    }

    mutating func insert(_ token: DeviceToken) {
      if recent.count >= half {
        formerTokens = recent
        recent = [:]
      }
      recent[token.token] = token
    }

    mutating func remove(_ token: String) {
      recent[token] = nil
      formerTokens[token] = nil
    }
  }

  private let store: any PushStore
  private let cache: Mutex<Cache>

  /// - Parameter limit: maximum number of tokens in memory.
  init(_ store: any PushStore, limit: Int) {
    self.store = store
    cache = Mutex(Cache(half: max(1, limit / 2)))
  }

  /// A token in any state, of either environment, by its lower-case hexadecimal.
  ///
  /// - Throws: the database error.
  package subscript(token: String) -> DeviceToken? {
    get throws {
      let (cachedToken, changes) = cache.withLock { cache in (cache.find(token), cache.changes) }
      if let cachedToken { return cachedToken }
      guard let read = try store.token(token) else { return nil }
      cache.withLock { cache in
        // A transaction may have ended the token since it was read.
        if cache.changes == changes { cache.insert(read) }
      }
      return read
    }
  }

  /// The active token of a subject.
  ///
  /// - Throws: the database error.
  package func active(_ subject: PushSubject) throws -> DeviceToken? { try store.active(subject) }

  /// A token in memory. Another replica may have ended it.
  func cached(_ token: String) -> DeviceToken? { cache.withLock { $0.find(token) } }

  /// The number of tokens in memory.
  var count: Int { cache.withLock { $0.recent.count + $0.formerTokens.count } }

  /// A transaction has written these tokens, and has removed others.
  func publish(_ changed: [DeviceToken], removing removed: [String]) {
    guard !changed.isEmpty || !removed.isEmpty else { return }
    cache.withLock { cache in
      cache.changes += 1
      for token in removed { cache.remove(token) }
      for token in changed {
        cache.remove(token.token)
        cache.insert(token)
      }
    }
  }
}

/// Reads tokens of a shared store. Those that are needed during a read are read together by the next one.
final class TokenLoader: Sendable {
  typealias Then = @Sendable (Result<DeviceToken?, any Error>) -> Void

  private struct State {
    var waitingCalls: [String: [Then]] = [:]
    var isTaken = false
  }

  private let state = Mutex(State())

  /// Appends a token.
  ///
  /// - Returns: whether the caller must start `work`.
  func put(_ token: String, then: @escaping Then) -> Bool {
    state.withLock { state in
      state.waitingCalls[token, default: []].append(then)
      defer { state.isTaken = true }
      return !state.isTaken
    }
  }

  /// Fails what is waiting: the push server is ending.
  func end() {
    let waitingCalls = state.withLock { state in
      defer { state = State() }
      return state.waitingCalls
    }
    let error = BusError(.closed, "the push server is ending", isDefinite: false)
    for then in waitingCalls.values.joined() { then(.failure(error)) }
  }

  /// Reads until nothing is waiting.
  ///
  /// - Parameter read: returns the known ones of these tokens.
  func work(_ read: ([String]) async throws -> [DeviceToken]) async {
    while true {
      let waitingCalls = state.withLock { state in
        defer { state.waitingCalls = [:] }
        state.isTaken = !state.waitingCalls.isEmpty
        return state.waitingCalls
      }
      if waitingCalls.isEmpty { return }
      do {
        let found = try await read(Array(waitingCalls.keys))
        let tokens = Dictionary(found.map { ($0.token, $0) }) { $1 }
        for (token, thens) in waitingCalls { for then in thens { then(.success(tokens[token])) } }
      } catch {
        for then in waitingCalls.values.joined() { then(.failure(error)) }
      }
    }
  }
}

extension PushDeliveryService {
  /// Finds a token in any state, of either environment, by its lower-case hexadecimal. Does not block for a shared store.
  ///
  /// - Parameter then: called once with the token or the database error, on any thread, if nothing is returned.
  package nonisolated func find(
    _ token: String, then: @escaping @Sendable (Result<DeviceToken?, any Error>) -> Void
  ) -> Result<DeviceToken?, any Error>? {
    guard let shared else { return Result { try tokens[token] } }
    if let cached = tokens.cached(token) { return .success(cached) }
    let begins = loader.put(token) { [tokens] result in
      if case .success(let found?) = result { tokens.publish([found], removing: []) }
      then(result)
    }
    let work: @Sendable () async -> Void = { [loader] in await loader.work { try await shared.tokens($0) } }
    if begins, tasks.start(work) == nil { loader.end() }
    return nil
  }

  /// Finds a token. See above.
  package nonisolated func find(_ token: String) async throws -> DeviceToken? {
    try await withCheckedContinuation { continuation in
      if let found = find(token, then: { continuation.resume(returning: $0) }) { continuation.resume(returning: found) }
    }.get()
  }

  /// The active token of a subject.
  ///
  /// - Throws: the database error.
  package nonisolated func current(_ subject: PushSubject) async throws -> DeviceToken? {
    guard let shared else { return try tokens.active(subject) }
    return try await shared.current(subject)
  }
}
