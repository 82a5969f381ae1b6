// SPDX-License-Identifier: Apache-2.0

package import Messages
import Synchronization

/// Thread-safe access to the device tokens on disk, without waiting for the service. Memory has the tokens that were used
/// last.
package final class TokenRegistry: Sendable {
  private struct Cache: Sendable {
    /// At most half of the limit. When it is full, it becomes `former`.
    var recent: [String: DeviceToken] = [:]
    var former: [String: DeviceToken] = [:]
    /// The number of transactions that changed tokens.
    var changes = 0
    let half: Int

    mutating func find(_ token: String) -> DeviceToken? {
      if let found = recent[token] { return found }
      guard let found = former[token] else { return nil }
      insert(found)
      return found
    }

    mutating func insert(_ token: DeviceToken) {
      if recent.count >= half {
        former = recent
        recent = [:]
      }
      recent[token.token] = token
    }

    mutating func remove(_ token: String) {
      recent[token] = nil
      former[token] = nil
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
      let (found, changes) = cache.withLock { cache in (cache.find(token), cache.changes) }
      if let found { return found }
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
  var count: Int { cache.withLock { $0.recent.count + $0.former.count } }

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
