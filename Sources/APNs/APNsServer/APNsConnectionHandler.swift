// SPDX-License-Identifier: Apache-2.0

import APNs
import Archive
import Foundation
import Messages
import NIOCore
import NIOSSL
import NIOTLS
import Synchronization

/// The channel handler of a provider connection: reads, writes and timers. The protocol is in `HTTP2Connection`.
final class APNsConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let registry: ConnectionRegistry
  private let tls: NIOSSLServerHandler
  private let inbox: ResponseMailbox
  private var http: HTTP2Connection
  private var session: ProviderSession?
  /// Why the client certificate is rejected.
  private var objection: String?
  private var isAuthorized = false
  private var refusals: RefusalAccount
  private var context: ChannelHandlerContext?
  /// True from `channelRead` to `channelReadComplete`: output is flushed at the end of the batch.
  private var isReading = false
  /// Responses that the backend gives during `receive`; `nil` outside of it.
  private var early: [(UInt32, APNsAnswer)]?
  private var isClosing = false
  private var watch: (task: Scheduled<Void>, at: NIODeadline)?

  init(_ registry: ConnectionRegistry, _ tls: NIOSSLServerHandler, on loop: any EventLoop) {
    self.registry = registry
    self.tls = tls
    inbox = ResponseMailbox(on: loop)
    refusals = RefusalAccount(registry.limits.refusals)
    http = HTTP2Connection(limits: registry.limits, at: .now())
  }

  // MARK: Channel events

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    inbox.serve(self)
    registry.enter(inbox)
    arm()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    inbox.serve(nil)
    watch?.task.cancel()
    watch = nil
    self.context = nil
    registry.leave(inbox)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { begin() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosing else { return }
    isReading = true
    http.receive(unwrapInboundIn(data), at: .now())
    while let arrival = http.next() {
      serve(arrival)
      if http.output.readableBytes > 1 << 16 { flush() }
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    http.endBatch()
    flushOutput()
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    let isWritable = context.channel.isWritable
    http.now = .now()
    http.blockedSince = isWritable ? nil : http.now
    // a client that does not read is not read from, which bounds its pending responses
    try? context.channel.syncOptions?.setOption(.autoRead, value: isWritable || isClosing)
    arm()
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case NIOSSLError.uncleanShutdown, is IOError, is ChannelError: break
    default: if !isClosing { logWarning("closed: \(error)") }
    }
    isClosing = true
    context.close(promise: nil)
  }

  // MARK: Requests and responses

  private func begin() {
    let certificate = tls.peerCertificate.flatMap { try? $0.toDERBytes() }
    if let certificate, let authority = registry.authority {
      objection = authority.objection(to: certificate, at: Date())
    }
    if let objection {
      logWarning(objection)
    } else {
      let session = registry.backend.open(certificate: registry.authority == nil ? nil : certificate)
      isAuthorized = session.isAuthorized
      self.session = session
    }
    http.begin(streams: isAuthorized ? registry.limits.streams : registry.limits.firstStreams, at: .now())
    flushOutput()
  }

  private func serve(_ arrival: HTTP2Connection.Arrival) {
    registry.countRequest()
    if objection != nil {
      let refusal = APNsAnswer(front: .badCertificate, to: arrival.request, manner: .responseAndGoAway)
      return http.answer(refusal, on: arrival.stream)
    }
    guard http.shutdown == .none else {
      return http.answer(APNsAnswer(front: .shutdown, to: arrival.request), on: arrival.stream)
    }
    let inbox = inbox
    let found = registry.backend.lookUp(arrival.request) { found in inbox.perform { $0.resume(arrival, found) } }
    if let found { receive(arrival, found) }
  }

  /// The backend has read what the request needs.
  private func resume(_ arrival: HTTP2Connection.Arrival, _ lookUp: APNsLookUp) {
    guard !isClosing else { return }
    if !isReading { http.now = .now() }
    receive(arrival, lookUp)
    if !isReading { flushOutput() }
  }

  private func receive(_ arrival: HTTP2Connection.Arrival, _ lookUp: APNsLookUp) {
    guard var session = session.take() else { return }
    let (inbox, stream) = (inbox, arrival.stream)
    early = []
    registry.backend.receive(arrival.request, lookUp, in: &session) { inbox.put($0, on: stream) }
    let mayHaveMore = session.isAuthorized && !isAuthorized
    self.session = session
    if mayHaveMore {
      isAuthorized = true
      // Sent before the response: AsyncHTTPClient 1.37 does not expect a new limit on an idle connection, and its debug
      // build fails an assertion there.
      http.allow(streams: permittedStreams)
    }
    let answers = early ?? []
    early = nil
    answer(answers)
  }

  func answer(_ answers: some Sequence<(UInt32, APNsAnswer)>) {
    guard early == nil else {
      early?.append(contentsOf: answers)
      return
    }
    if !isReading { http.now = .now() }
    for (stream, answer) in answers { http.answer(counted(answer), on: stream) }
    if !isReading { flushOutput() }
  }

  /// Counts a response. A connection with too many refusals is slowed down before the response, and ended after it.
  private func counted(_ answer: APNsAnswer) -> APNsAnswer {
    refusals.count(status: answer.status, reason: answer.reason)
    if isAuthorized { http.allow(streams: permittedStreams) }
    guard refusals.isOver, answer.manner == .response, answer.reason != nil else { return answer }
    var last = answer
    last.manner = .responseAndGoAway
    return last
  }

  /// The number of concurrent streams of an authorized connection.
  private var permittedStreams: Int {
    refusals.isSlowed ? refusals.policy.slowedStreams : registry.limits.streams
  }

  /// Announces the shutdown, and closes the connection when its requests are finished.
  func shutDown() {
    http.announceShutdown(at: .now())
    flushOutput()
  }

  /// Closes the connection at once.
  func abandon() {
    isClosing = true
    context?.close(mode: .all, promise: nil)
  }

  // MARK: Writing and closing

  private func flushOutput() {
    flush()
    if http.phase == .over { close() } else { arm() }
    if let remark = http.remark {
      http.remark = nil
      logWarning(remark)
    }
  }

  private func flush() {
    guard let context, http.output.readableBytes > 0 else { return }
    context.writeAndFlush(wrapOutboundOut(http.output), promise: nil)
    if http.output.capacity > 1 << 17 { http.output = ByteBuffer() } else { http.output.clear() }
  }

  /// Closes our side. The client has `limits.ending` seconds to read the last bytes and close its own side.
  private func close() {
    guard let context, !isClosing else { return }
    isClosing = true
    if let fault = http.fault { logWarning("closed: \(fault.text)") }
    watch?.task.cancel()
    guard session != nil || objection != nil else { return context.close(promise: nil) }
    try? context.channel.syncOptions?.setOption(.autoRead, value: true)
    context.close(mode: .output, promise: nil)
    let end = context.eventLoop.assumeIsolated().scheduleTask(
      in: .milliseconds(Int64(saturating: min(registry.limits.ending, 1e9) * 1000))
    ) {
      if let context = self.context { context.close(mode: .all, promise: nil) }
    }
    watch = (end, .distantFuture)
  }

  /// Schedules the next check of the deadlines.
  private func arm() {
    guard let context, !isClosing, let at = http.mayEndAt, at < watch?.at ?? .distantFuture else { return }
    watch?.task.cancel()
    arm(at, on: context.eventLoop)
  }

  private func arm(_ at: NIODeadline, on loop: any EventLoop) {
    let task = loop.assumeIsolated().scheduleTask(deadline: at) {
      self.watch = nil
      if let later = self.http.look(at: .now()) { self.arm(later, on: loop) } else { self.flushOutput() }
    }
    watch = (task, at)
  }

  private func logWarning(_ text: String) {
    registry.limitedLog("\(context?.channel.remoteAddress.map(APNsConnectionHandler.name) ?? "a client"): \(text)")
  }

  private static func name(_ address: SocketAddress) -> String {
    "\(address.ipAddress ?? "\(address)"):\(address.port ?? 0)"
  }
}

extension APNsAnswer {
  /// A response of the HTTP/2 server itself, without the backend.
  init(front reason: APNsReason, to request: APNsRequest, manner: Manner = .response) {
    self.init(
      status: reason.status, reason: reason.rawValue, apnsID: request["apns-id"] ?? UUID().text,
      manner: manner)
  }
}

/// Passes responses from any thread to the event loop of their connection. Responses that arrive together wake the loop
/// once.
final class ResponseMailbox: Sendable {
  let loop: any EventLoop
  private let connection: NIOLoopBoundBox<APNsConnectionHandler?>
  private let waitingAnswers = Mutex(Waiting())

  private struct Waiting {
    var answers: [(stream: UInt32, answer: APNsAnswer)] = []
    /// True when the connection is closed; its event loop may be gone.
    var isOver = false
  }

  init(on loop: any EventLoop) {
    self.loop = loop
    connection = .makeEmptyBox(valueType: APNsConnectionHandler.self, eventLoop: loop)
  }

  /// Sets the connection; with `nil`, later responses are dropped. Call on the event loop.
  func serve(_ connection: APNsConnectionHandler?) {
    self.connection.value = connection
    waitingAnswers.withLock { $0.isOver = connection == nil }
  }

  func put(_ answer: APNsAnswer, on stream: UInt32) {
    if loop.inEventLoop { return deliver(answer, on: stream) }
    waitingAnswers.withLock {
      guard !$0.isOver else { return }
      $0.answers.append((stream, answer))
      if $0.answers.count == 1 { loop.execute { self.deliverWaiting() } }
    }
  }

  /// Performs an action on the event loop if the connection still exists.
  func perform(_ action: @escaping @Sendable (APNsConnectionHandler) -> Void) {
    waitingAnswers.withLock {
      guard !$0.isOver else { return }
      loop.execute { self.connection.value.map(action) }
    }
  }

  private func deliver(_ answer: APNsAnswer, on stream: UInt32) {
    guard answer.latency > 0 else {
      connection.value?.answer(CollectionOfOne((stream, answer)))
      return
    }
    loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(saturating: min(answer.latency, 1e9) * 1e9))) {
      self.connection.value?.answer(CollectionOfOne((stream, answer)))
    }
  }

  private func deliverWaiting() {
    let answers = waitingAnswers.withLock {
      let answers = $0.answers
      $0.answers = []
      return answers
    }
    for late in answers where late.answer.latency > 0 { deliver(late.answer, on: late.stream) }
    connection.value?.answer(answers.lazy.filter { $0.answer.latency <= 0 }.map { ($0.stream, $0.answer) })
  }
}
