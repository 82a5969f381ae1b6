// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTPCompression
import NIOPosix
import Synchronization

/// The connections and the data rate that all attempts share.
///
/// It does not limit the number of attempts per host: the loading state machine does.
final class TransferNetwork: Sendable {
  let throttle = Throttle()
  private let made = Mutex<HTTPClient?>(nil)

  /// The client. The first attempt makes it, so that a host that starts does not wait for it and its threads.
  var client: HTTPClient {
    made.withLock { made in
      let client = made ?? TransferNetwork.makeClient()
      made = client
      return client
    }
  }

  private static func makeClient() -> HTTPClient {
    var settings = HTTPClient.Configuration(
      redirectConfiguration: .disallow, timeout: .init(connect: .seconds(60)), decompression: .enabled(limit: .none))
    settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 10_000
    // Long enough for the next of many small files, shorter than the limits of servers.
    settings.connectionPool.idleTimeout = .seconds(5)
    // The transfer service has the back-off between attempts, so that each attempt is recorded.
    settings.connectionPool.retryConnectionEstablishment = false
    settings.httpVersion = .http1Only
    settings.http1_1ConnectionDebugInitializer = TransferNetwork.readMuchAtOnce
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
  }

  /// One read at a time, of up to 256 KiB. The client requests more as soon as its buffer is empty, so the next read
  /// overlaps with writing the current one to the file.
  private static func readMuchAtOnce(_ channel: any Channel) -> EventLoopFuture<Void> {
    let reads = AdaptiveRecvByteBufferAllocator(minimum: 2 << 10, initial: 16 << 10, maximum: 256 << 10)
    return channel.setOption(.recvAllocator, value: reads).flatMap { channel.setOption(.maxMessagesPerRead, value: 1) }
  }

  /// - Parameter idle: the idle limit of one attempt, in seconds of machine time.
  func watch(idle: Double) -> AttemptWatch {
    AttemptWatch(IdleLimit(idle, now: .now()), on: MultiThreadedEventLoopGroup.singleton.any())
  }

  /// Closes all connections. No request may be in progress.
  func shutdown() async { try? await made.withLock { $0 }?.shutdown() }
}

/// The time that an attempt may pass without data: `timeoutIntervalForRequest`.
///
/// The loading state machine has the limit of the whole task, `timeoutIntervalForResource`.
struct IdleLimit: Sendable {
  private let idle: TimeAmount
  private var lastData: NIODeadline
  /// The attempt waits for something other than the server. The limit does not run then.
  private var isOutside = false

  /// - Parameter idle: seconds.
  init(_ idle: Double, now: NIODeadline) {
    self.idle = .milliseconds(Int64(min(max(idle, 0), 1e8) * 1000))
    lastData = now
  }

  /// Data was sent or received.
  mutating func touch(_ now: NIODeadline) { lastData = now }

  mutating func goOutside(_ isOutside: Bool, _ now: NIODeadline) {
    self.isOutside = isOutside
    lastData = now
  }

  /// Returns when to check again; `nil` when the limit has passed.
  func nextLook(_ now: NIODeadline) -> NIODeadline? {
    let due = isOutside ? now + max(idle, .milliseconds(1)) : lastData + idle
    return due > now ? due : nil
  }
}

/// Cancels an attempt when its idle limit has passed.
final class AttemptWatch: Sendable {
  private struct State {
    var limit: IdleLimit
    var isOver = false
    var timer: Scheduled<Void>?
  }

  private let state: Mutex<State>
  private let loop: any EventLoop

  init(_ limit: IdleLimit, on loop: any EventLoop) {
    state = Mutex(State(limit: limit))
    self.loop = loop
  }

  /// Data was sent or received.
  func touch() { state.withLock { $0.limit.touch(.now()) } }

  /// Runs `body` without the idle limit, for waits that the server does not cause.
  func outside<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    state.withLock { $0.limit.goOutside(true, .now()) }
    defer { state.withLock { $0.limit.goOutside(false, .now()) } }
    return try await body()
  }

  /// - Parameter executor: runs the body; `nil` for the shared threads of Swift concurrency.
  /// - Throws: `TransferFault` -1001 when the limit has passed. The body was cancelled and has returned then.
  func run<T: Sendable>(
    on executor: (any TaskExecutor)? = nil, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let task = Task(executorPreference: executor) { try await body() }
    look { task.cancel() }
    defer { state.withLock { $0.timer.take()?.cancel() } }
    do {
      return try await withTaskCancellationHandler(operation: { try await task.value }, onCancel: { task.cancel() })
    } catch {
      guard state.withLock({ $0.isOver }) else { throw error }
      throw TransferFault(.timedOut, "the request timed out")
    }
  }

  /// Checks the limit now, and again when it may have passed.
  private func look(whenOver: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state -> Bool in
      if let next = state.limit.nextLook(.now()) {
        state.timer = loop.scheduleTask(deadline: next) { self.look(whenOver: whenOver) }
      } else {
        state.isOver = true
      }
      return state.isOver
    }
    if isOver { whenOver() }
  }
}
