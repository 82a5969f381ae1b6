import Synchronization

/// Counts what `/figures` served: the bytes of bodies that the server's sockets took, and the requests.
final class ServedBytes: Sendable {
  /// What was served for one path with its query, or for all of them.
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

  /// The counts of this moment.
  var counters: Counters { state.withLock { $0 } }

  /// Counts a request for `path`, which holds the query as it was asked.
  func count(requestFor path: String) {
    state.withLock {
      $0.requests += 1
      $0.byPath[path, default: Count()].requests += 1
    }
  }

  /// Counts bytes of a body that the socket took. What a dead client never read may be among them, up to the size of
  /// the socket's buffers.
  func count(bytes: Int, for path: String) {
    state.withLock {
      $0.bytesServed += bytes
      $0.byPath[path, default: Count()].bytes += bytes
    }
  }
}
