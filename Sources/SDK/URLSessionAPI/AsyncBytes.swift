// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization

extension URLSession {
  /// The bytes of a response's body as they arrive. Source: `Foundation.URLSession.AsyncBytes`.
  public struct AsyncBytes: AsyncSequence, Sendable {
    public typealias Element = UInt8

    /// The task that loads them.
    public let task: URLSessionDataTask
    let reader: Reader

    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Cancels the task when its bytes cannot be read any more.
    final class Reader: Sendable {
      let arrivals: ByteArrivals
      init(_ arrivals: ByteArrivals) { self.arrivals = arrivals }
      deinit { arrivals.cancel() }
    }

    /// Source: `Foundation.URLSession.AsyncBytes.Iterator`.
    public struct Iterator: AsyncIteratorProtocol {
      private let reader: Reader
      private var part = Data()
      private var position = 0

      init(reader: Reader) { self.reader = reader }

      /// - Throws: the error of the task. Cancelling the Swift task cancels the request.
      public mutating func next() async throws -> UInt8? {
        while position == part.endIndex {
          guard let arrived = try await reader.arrivals.next() else { return nil }
          (part, position) = (arrived, arrived.startIndex)
        }
        defer { position += 1 }
        return part[position]
      }
    }
  }

  /// Returns the response when its head has arrived, and its body as it arrives. Cancelling the Swift task cancels the
  /// request.
  ///
  /// - Throws: `URLError`. An HTTP status is not an error.
  public func bytes(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (AsyncBytes, URLResponse) {
    let arrivals = ByteArrivals()
    let task = data(request, .bytes(arrivals))
    task.delegate = delegate
    arrivals.setTask(task)
    let response = try await arrivals.response()
    return (AsyncBytes(task: task, reader: AsyncBytes.Reader(arrivals)), response)
  }

  /// Returns the response for a URL when its head has arrived, and its body as it arrives.
  public func bytes(
    from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (AsyncBytes, URLResponse) {
    try await bytes(for: URLRequest(url: url), delegate: delegate)
  }
}

/// The parts of a body between the task and the reader. The task waits when the reader does not keep up.
final class ByteArrivals: Sendable {
  private struct State: Sendable {
    var response: URLResponse?
    var parts: [(data: Data, taken: @Sendable () -> Void)] = []
    /// The end of the task, without or with an error.
    var end: Result<Void, any Error>?
    var task: URLSessionDataTask?
    var waitingReaders: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func setTask(_ task: URLSessionDataTask) { state.withLock { $0.task = task } }

  // MARK: The task

  func answered(_ response: URLResponse) { change { $0.response = response } }

  /// - Parameter taken: called when the reader has taken it.
  func received(_ data: Data, taken: @escaping @Sendable () -> Void) { change { $0.parts.append((data, taken)) } }

  func ended(_ error: (any Error)?) {
    change { state in
      if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
      // The task refers to this object.
      state.task = nil
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let waitingReaders = state.withLock { state in
      body(&state)
      defer { state.waitingReaders = [] }
      return state.waitingReaders
    }
    for continuation in waitingReaders { continuation.resume() }
  }

  // MARK: The reader

  /// Sends the request, and waits for the head of the response.
  func response() async throws -> URLResponse {
    state.withLock { $0.task }?.resume()
    while true {
      let (response, end) = state.withLock { ($0.response, $0.end) }
      if let response { return response }
      if let end {
        try end.get()
        throw URLError(.badServerResponse)
      }
      await change { $0.response != nil || $0.end != nil }
    }
  }

  /// The next part; `nil` at the end.
  func next() async throws -> Data? {
    while true {
      let (part, end) = state.withLock { state in
        (state.parts.isEmpty ? nil : state.parts.removeFirst(), state.end)
      }
      if let part {
        part.taken()
        return part.data
      }
      if let end {
        try end.get()
        return nil
      }
      await change { !$0.parts.isEmpty || $0.end != nil }
    }
  }

  /// Waits until the state has changed, unless it is as wanted.
  private func change(until isWanted: @Sendable (State) -> Bool) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if !isWanted(state) { state.waitingReaders.append(continuation) }
          return isWanted(state)
        }
        if isThere { continuation.resume() }
      }
    } onCancel: {
      cancel()
    }
  }

  /// The task ends with `cancelled`.
  func cancel() {
    let (task, parts) = state.withLock { state in
      defer { state.parts = [] }
      return (state.task, state.parts)
    }
    task?.cancel()
    for part in parts { part.taken() }
  }
}
