// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ZeroMQ

/// A socket with its own actor on the loop. Its messages and events are streams, each for one reader.
///
/// Throwing functions are not inlined into the tests, because the optimiser of Swift 6.3.1 crashes there ("While
/// splitting coroutine").
actor SocketFixture {
  nonisolated let loop: Loop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  nonisolated let messages: AsyncStream<MultipartMessage>
  nonisolated let events: AsyncStream<SocketEvent>

  private let context: Context
  private let kind: Socket.Kind
  private let options: Socket.Options
  private let messageSink: AsyncStream<MultipartMessage>.Continuation
  private let eventSink: AsyncStream<SocketEvent>.Continuation
  private var socket: Socket?

  init(_ context: Context, kind: Socket.Kind, on loop: Loop, options: Socket.Options = .init()) async throws {
    (self.context, self.loop, self.kind, self.options) = (context, loop, kind, options)
    (messages, messageSink) = AsyncStream.makeStream()
    (events, eventSink) = AsyncStream.makeStream()
    try open()
  }

  private func open() throws {
    let socket = try Socket(context, kind: kind, on: loop, options: options)
    let (messageSink, eventSink) = (messageSink, eventSink)
    socket.onMessages { batch in for message in batch { messageSink.yield(message) } }
    socket.onEvent { eventSink.yield($0) }
    self.socket = socket
  }

  private var opened: Socket { get throws { try #require(socket) } }

  @inline(never) func bind(_ endpoint: String = "tcp://127.0.0.1:*") throws -> String { try opened.bind(endpoint) }
  @inline(never) func connect(_ endpoint: String) throws { try opened.connect(endpoint) }
  @inline(never) func subscribe(_ prefix: String) throws { try opened.subscribe(Array(prefix.utf8)) }
  @inline(never) func close() throws { try opened.close(linger: .zero) }

  @discardableResult
  @inline(never) func send(_ text: String, to peer: PeerID? = nil) throws -> SendResult {
    try opened.send(Array(text.utf8), to: peer)
  }

  /// From now on, gives each received message another first byte, and sends it on to a peer without a copy.
  @inline(never) func relayFrames(to peer: PeerID) throws {
    let (socket, messageSink) = (try opened, messageSink)
    socket.onFrames { batch in
      for index in 0..<batch.count {
        batch.bytes(index)[0] = UInt8(ascii: "!")
        messageSink.yield(batch[index])
        _ = try? socket.send(batch, index, to: peer)
      }
    }
  }

  /// Returns when the socket is writable.
  func writable() async throws {
    let socket = try opened
    await withCheckedContinuation { continuation in
      socket.onWritable {
        socket.onWritable(nil)
        continuation.resume()
      }
    }
  }

  /// Sends the texts in order; waits whenever the socket would block.
  func sendAll(_ texts: [String]) async throws {
    for text in texts {
      while try send(text) == .wouldBlock {
        try Task.checkCancellation()
        try await writable()
      }
    }
  }
}

extension MultipartMessage {
  var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A stream ended while a test waited for an element.
struct StreamEnded: Error {}

extension AsyncStream where Element: Sendable {
  /// Waits for the next matching element, up to the suite's time limit.
  @inline(never) func nextMatch(_ fits: (Element) -> Bool) async throws -> Element {
    for await element in self where fits(element) { return element }
    throw StreamEnded()
  }

  @inline(never) func next() async throws -> Element {
    var iterator = makeAsyncIterator()
    guard let element = await iterator.next() else { throw StreamEnded() }
    return element
  }
}

/// Runs a test with a context and a loop, then stops both; the stop must complete as well.
func withLoop(
  _ body: (Context, Loop) async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let context = try Context()
  let loop = Loop(name: "test-loop")
  var failure: (any Error)?
  do { try await body(context, loop) } catch { failure = error }
  await loop.stop()
  await context.terminate()
  if let failure { throw failure }
}

extension Loop {
  /// Creates an authenticator on the loop.
  func authenticate(
    _ context: Context, _ decide: @escaping @Sendable (AuthenticationRequest) -> AuthenticationVerdict
  ) async throws {
    let failure: ZMQError? = await withCheckedContinuation { continuation in
      post {
        do throws(ZMQError) {
          _ = try Authenticator(context, on: self, decide)
          continuation.resume(returning: nil)
        } catch {
          continuation.resume(returning: error)
        }
      }
    }
    if let failure { throw failure }
  }
}
