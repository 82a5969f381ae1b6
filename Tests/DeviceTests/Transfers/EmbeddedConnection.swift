// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import Stores
import Synchronization

@testable import AsyncHTTPClient
@testable import Device
@testable import DeviceRules

/// A connection of the HTTP library without a socket, prepared as `TransferNetwork` prepares one.
final class EmbeddedConnection {
  private let channel = EmbeddedChannel()
  private let connection: HTTP1Connection
  private let state: State

  private final class State: HTTP1ConnectionDelegate {
    let isIdle = Atomic(true)
    func http1ConnectionReleased(_: HTTPConnectionPool.Connection.ID) { isIdle.store(true, ordering: .relaxed) }
    func http1ConnectionClosed(_: HTTPConnectionPool.Connection.ID) { isIdle.store(false, ordering: .relaxed) }
  }

  init() throws {
    state = State()
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 80), promise: nil)
    connection = try HTTP1Connection.start(
      channel: channel, connectionID: 1, delegate: state, decompression: .disabled, logger: HTTPClient.loggingDisabled)
    try ResponseGate.insert(in: channel.pipeline.syncOperations)
  }

  /// Whether it takes another request.
  var isOpen: Bool { state.isIdle.load(ordering: .relaxed) && channel.isActive }

  func send(_ load: EmbeddedLoad) {
    state.isIdle.store(false, ordering: .relaxed)
    connection.sendableView.executeRequest(load)
  }

  func receive(_ bytes: ByteBuffer) {
    if channel.isActive {
      // Errors that the request has not got are of no interest.
      _ = try? channel.writeInbound(bytes)
    }
  }

  func close() { _ = try? channel.finish(acceptAlreadyClosed: true) }
}

/// One request, as `HTTPClient.execute` would send it, and its response.
final class EmbeddedLoad: HTTPExecutableRequest {
  struct Outcome {
    var head: HTTPResponseHead?
    var body: [UInt8] = []
    var hasEnded = false
    var error: (any Error)?
    var isOver: Bool { hasEnded || error != nil }
  }

  private struct State {
    var executor: (any HTTPRequestExecutor)?
    var outcome = Outcome()
    var pieces: [String]
    var mayWrite = false
    var hasFinished = false
  }

  let logger = HTTPClient.loggingDisabled
  let requestHead: HTTPRequestHead
  let requestFramingMetadata: RequestFramingMetadata
  let requestOptions = RequestOptions(idleReadTimeout: nil, idleWriteTimeout: nil, dnsOverride: [:])
  private let state: Mutex<State>

  /// - Parameter body: its pieces; the first one is sent as soon as the connection allows.
  init(_ request: HTTPClientRequest.Prepared, _ body: [String]) {
    (requestHead, requestFramingMetadata) = (request.head, request.requestFramingMetadata)
    state = Mutex(State(pieces: body))
  }

  var outcome: Outcome { state.withLock { $0.outcome } }

  /// Requests more of the body of the response.
  func demand() {
    let executor = state.withLock { $0.outcome.head == nil || $0.outcome.isOver ? nil : $0.executor }
    executor?.demandResponseBodyStream(self)
  }

  func cancel() { state.withLock { $0.executor }?.cancelRequest(self) }

  /// Sends the next piece of the body, or its end.
  func writeBody() {
    let (executor, piece, isEnd) = state.withLock { state -> ((any HTTPRequestExecutor)?, String?, Bool) in
      guard state.mayWrite, !state.hasFinished, state.outcome.error == nil else { return (nil, nil, false) }
      let piece = state.pieces.isEmpty ? nil : state.pieces.removeFirst()
      state.hasFinished = state.pieces.isEmpty
      return (state.executor, piece, state.hasFinished)
    }
    if let piece { executor?.writeRequestBodyPart(.byteBuffer(ByteBuffer(string: piece)), request: self, promise: nil) }
    if isEnd { executor?.finishRequestBodyStream(trailers: nil, request: self, promise: nil) }
  }

  // MARK: HTTPExecutableRequest

  func willExecuteRequest(_ executor: any HTTPRequestExecutor) { state.withLock { $0.executor = executor } }
  func requestHeadSent() {}
  func resumeRequestBodyStream() {
    state.withLock { $0.mayWrite = true }
    writeBody()
  }
  func pauseRequestBodyStream() { state.withLock { $0.mayWrite = false } }
  func requestBodyStreamSent() {}
  func receiveResponseHead(_ head: HTTPResponseHead) {
    state.withLock {
      precondition($0.outcome.head == nil, "a request has two responses")
      $0.outcome.head = head
    }
  }
  func receiveResponseBodyParts(_ buffer: CircularBuffer<ByteBuffer>) {
    state.withLock { state in
      precondition(state.outcome.head != nil && !state.outcome.hasEnded, "a body has no head, or follows its end")
      for part in buffer { state.outcome.body += part.readableBytesView }
    }
  }
  func receiveResponseEnd(_ buffer: CircularBuffer<ByteBuffer>?, trailers: HTTPHeaders?) {
    if let buffer { receiveResponseBodyParts(buffer) }
    state.withLock { $0.outcome.hasEnded = true }
  }
  func fail(_ error: any Error) {
    state.withLock { state in
      // After the end of the response, the rest of the request has no meaning for the author.
      if !state.outcome.hasEnded { state.outcome.error = state.outcome.error ?? error }
    }
  }
}
