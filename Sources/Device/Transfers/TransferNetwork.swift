import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTPCompression
import NIOPosix
import Synchronization

/// What all attempts share: connections, and the device's rate.
///
/// How many attempts one host may see at a time is decided by whoever begins them; nothing is limited here.
final class TransferNetwork: Sendable {
  let client: HTTPClient
  let throttle = Throttle()

  init() {
    var settings = HTTPClient.Configuration(
      redirectConfiguration: .disallow, timeout: .init(connect: .seconds(60)), decompression: .enabled(limit: .none))
    settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 10_000
    // Long enough for the next of many small files, shorter than what servers allow.
    settings.connectionPool.idleTimeout = .seconds(5)
    // The back-off between attempts is the daemon's, so that each is recorded.
    settings.connectionPool.retryConnectionEstablishment = false
    settings.httpVersion = .http1Only
    settings.http1_1ConnectionDebugInitializer = TransferNetwork.readMuchAtOnce
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
  }

  /// One read at a time, which is long when much comes: so the next is read while whoever writes is busy with this one,
  /// since the client asks for more as soon as nothing waits to be taken.
  private static func readMuchAtOnce(_ channel: any Channel) -> EventLoopFuture<Void> {
    let reads = AdaptiveRecvByteBufferAllocator(minimum: 2 << 10, initial: 16 << 10, maximum: 256 << 10)
    return channel.setOption(.recvAllocator, value: reads).flatMap { channel.setOption(.maxMessagesPerRead, value: 1) }
  }

  /// The limits of one attempt. Seconds of the machine's clock.
  func watch(idle: Double, within limit: Double) -> AttemptWatch {
    AttemptWatch(
      AttemptLimits(idle: idle, within: limit, now: .now()), on: MultiThreadedEventLoopGroup.singleton.any())
  }

  /// Closes all connections. Nothing may be under way.
  func shutdown() async { try? await client.shutdown() }
}

/// How long an attempt may go on without data (`timeoutIntervalForRequest`), and how long in all: when it is over.
struct AttemptLimits: Sendable {
  private let idle: TimeAmount
  private let end: NIODeadline
  private var lastData: NIODeadline
  /// It waits for something of ours: then the idle limit does not run.
  private var isOutside = false

  /// - Parameters:
  ///   - idle: seconds.
  ///   - limit: seconds from now on.
  init(idle: Double, within limit: Double, now: NIODeadline) {
    func amount(_ seconds: Double) -> TimeAmount { .milliseconds(Int64(min(max(seconds, 0), 1e8) * 1000)) }
    self.idle = amount(idle)
    end = now + amount(limit)
    lastData = now
  }

  /// Something came or went.
  mutating func touch(_ now: NIODeadline) { lastData = now }

  mutating func goOutside(_ isOutside: Bool, _ now: NIODeadline) {
    self.isOutside = isOutside
    lastData = now
  }

  /// When to look again; `nil` when a limit was passed.
  func nextLook(_ now: NIODeadline) -> NIODeadline? {
    let due = min(end, isOutside ? now + max(idle, .milliseconds(1)) : lastData + idle)
    return due > now ? due : nil
  }
}

/// Cancels an attempt whose limits are passed.
final class AttemptWatch: Sendable {
  private struct State {
    var limits: AttemptLimits
    var isOver = false
    var timer: Scheduled<Void>?
  }

  private let state: Mutex<State>
  private let loop: any EventLoop

  init(_ limits: AttemptLimits, on loop: any EventLoop) {
    state = Mutex(State(limits: limits))
    self.loop = loop
  }

  /// Something came or went.
  func touch() { state.withLock { $0.limits.touch(.now()) } }

  /// Does what is not the server's to be quick with.
  func outside<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    state.withLock { $0.limits.goOutside(true, .now()) }
    defer { state.withLock { $0.limits.goOutside(false, .now()) } }
    return try await body()
  }

  /// - Throws: `TransferFault` -1001 when a limit was passed; then the body was cancelled and has returned.
  func run<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
    let task = Task { try await body() }
    look { task.cancel() }
    defer { state.withLock { $0.timer.take()?.cancel() } }
    do {
      return try await withTaskCancellationHandler(operation: { try await task.value }, onCancel: { task.cancel() })
    } catch {
      guard state.withLock({ $0.isOver }) else { throw error }
      throw TransferFault(.timedOut, "the request timed out")
    }
  }

  /// Looks now, and again when it might be over.
  private func look(whenOver: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state -> Bool in
      if let next = state.limits.nextLook(.now()) {
        state.timer = loop.scheduleTask(deadline: next) { self.look(whenOver: whenOver) }
      } else {
        state.isOver = true
      }
      return state.isOver
    }
    if isOver { whenOver() }
  }
}
