// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages
import OwnedTasks
import Synchronization

/// Reads tokens of a shared store. Those that are needed during a read are read together by the next one.
final class TokenLoader: Sendable {
  typealias Then = @Sendable (Result<DeviceToken?, any Error>) -> Void

  private struct State {
    var waiting: [String: [Then]] = [:]
    var isTaken = false
  }

  private let state = Mutex(State())

  /// Appends a token.
  ///
  /// - Returns: whether the caller must start `work`.
  func put(_ token: String, then: @escaping Then) -> Bool {
    state.withLock { state in
      state.waiting[token, default: []].append(then)
      defer { state.isTaken = true }
      return !state.isTaken
    }
  }

  /// Fails what is waiting: the push server is ending.
  func end() {
    let waiting = state.withLock { state in
      defer { state = State() }
      return state.waiting
    }
    let error = BusError(.closed, "the push server is ending", isDefinite: false)
    for then in waiting.values.joined() { then(.failure(error)) }
  }

  /// Reads until nothing is waiting.
  ///
  /// - Parameter read: returns the known ones of these tokens.
  func work(_ read: ([String]) async throws -> [DeviceToken]) async {
    while true {
      let waiting = state.withLock { state in
        defer { state.waiting = [:] }
        state.isTaken = !state.waiting.isEmpty
        return state.waiting
      }
      if waiting.isEmpty { return }
      do {
        let found = try await read(Array(waiting.keys))
        let tokens = Dictionary(found.map { ($0.token, $0) }) { $1 }
        for (token, thens) in waiting { for then in thens { then(.success(tokens[token])) } }
      } catch {
        for then in waiting.values.joined() { then(.failure(error)) }
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
