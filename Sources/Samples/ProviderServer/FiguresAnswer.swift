// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import NIOCore
import Synchronization

/// Answers `GET /figures`, `HEAD /figures` and `POST /figures/release`.
final class FiguresAnswer: Sendable {
  private let source: Figures.Source
  private let served: ServedBytes
  /// Set once, by `release()`.
  private let isReleased = Atomic(false)

  init(_ source: Figures.Source, countedBy served: ServedBytes) {
    self.source = source
    self.served = served
  }

  /// Ends all holds, those of later requests too.
  func release() { isReleased.store(true, ordering: .relaxed) }

  /// Returns the response to a request: the figures or the requested part of them (200, 206, 416), the status that the
  /// query requests, or 400 with the reason.
  func answer(_ request: Request) async throws -> Response {
    served.count(requestFor: request.uri.string)
    do {
      let query = try FiguresQuery(request)
      try await Task.sleep(for: query.delay)
      guard query.status == 200 else {
        return try Response(json: ["status": query.status], status: HTTPResponse.Status(code: query.status))
      }
      return answer(with: try await source.figures(seed: query.seed, size: query.size), query: query, to: request)
    } catch let error as FiguresError {
      return try Response(
        json: ["error": error.code.rawValue, "explanation": error.explanation], status: .badRequest)
    }
  }

  private func answer(with figures: Figures, query: FiguresQuery, to request: Request) -> Response {
    var headers: HTTPFields = [.contentType: "application/json", .eTag: figures.entityTag]
    var range = 0..<figures.size
    var status = HTTPResponse.Status.ok
    if query.canResume {
      headers[.acceptRanges] = "bytes"
      switch RequestedRange(
        range: request.headers[.range], ifRange: request.headers[.ifRange], size: figures.size,
        entityTag: figures.entityTag)
      {
      case .whole: break
      case .part(let part):
        range = part
        status = .partialContent
        headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(figures.size)"
      case .unsatisfiable:
        headers[.contentRange] = "bytes */\(figures.size)"
        return Response(status: .rangeNotSatisfiable, headers: headers)
      }
    }
    let body = body(of: figures, range, query, path: request.uri.string)
    return Response(status: status, headers: headers, body: body)
  }

  /// Streams the bytes in chunks: as fast as the client reads them, or at most `bytesPerSecond`, in twenty chunks a
  /// second, the first one at once. The byte `holdAt` of the file and those behind it are sent after `release()`.
  private func body(of figures: Figures, _ range: Range<Int>, _ query: FiguresQuery, path: String) -> ResponseBody {
    let largest = 1 << 16
    let chunk = query.bytesPerSecond.map { min(max(1, $0 / 20), largest) } ?? largest
    return ResponseBody(contentLength: range.count) { [self] writer in
      let clock = ContinuousClock()
      var due = clock.now
      var start = range.lowerBound
      while start < range.upperBound {
        try await Task.sleep(until: due, clock: clock)
        var end = min(start + chunk, range.upperBound)
        if let holdAt = query.holdAt {
          // Repeated looks at a flag, because any number of responses wait, and each may be cancelled.
          while start >= holdAt, !isReleased.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(10)) }
          if start < holdAt { end = min(end, holdAt) }
        }
        let bytes = figures.bytes(start..<end)
        try await writer.write(ByteBuffer(bytes: bytes))
        start = end
        served.count(bytes: bytes.count, for: path)
        if let bytesPerSecond = query.bytesPerSecond {
          due = max(due, clock.now - .milliseconds(50)) + .seconds(Double(bytes.count) / Double(bytesPerSecond))
        }
      }
      try await writer.finish(nil)
    }
  }
}

extension Response {
  /// Creates a response whose body is `value` as JSON, with sorted keys.
  init(json value: some Encodable, status: HTTPResponse.Status = .ok) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    let body = status.code == 204 || status.code == 304 ? Data() : try encoder.encode(value)
    self.init(
      status: status, headers: [.contentType: "application/json"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }
}

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
