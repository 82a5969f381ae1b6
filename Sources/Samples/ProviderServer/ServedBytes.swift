// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts what `/figures` served: the body bytes that the server's sockets accepted, and the requests.
final class ServedBytes: Sendable {
  /// The counts of one path with its query, or of all paths.
  struct Count: Encodable {
    var bytes = 0
    var requests = 0
  }

  /// The body of `GET /counters`.
  struct Counters: Encodable {
    var bytesServed = 0
    var requests = 0
    var byPath: [String: Count] = [:]
  }

  private let state = Mutex(Counters())

  /// The current counts.
  var counters: Counters { state.withLock { $0 } }

  /// Counts a request for `path`, which includes the query as it was sent.
  func count(requestFor path: String) {
    state.withLock {
      $0.requests += 1
      $0.byPath[path, default: Count()].requests += 1
    }
  }

  /// Counts body bytes that the socket accepted. They may include bytes that a terminated client never read, up to the
  /// size of the socket's buffers.
  func count(bytes: Int, for path: String) {
    state.withLock {
      $0.bytesServed += bytes
      $0.byPath[path, default: Count()].bytes += bytes
    }
  }
}
