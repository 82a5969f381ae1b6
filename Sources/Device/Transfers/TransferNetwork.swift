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
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
  }

  /// The limits of one attempt. Seconds of the machine's clock.
  func watch(idle: Double, within limit: Double) -> AttemptWatch {
    AttemptWatch(idle: idle, within: limit, on: MultiThreadedEventLoopGroup.singleton.any())
  }

  /// Closes all connections. Nothing may be under way.
  func shutdown() async { try? await client.shutdown() }
}

/// How long an attempt may go on without data (`timeoutIntervalForRequest`), and how long in all.
final class AttemptWatch: Sendable {
  private struct State {
    var lastData = NIODeadline.now()
    /// The attempt waits for something of ours.
    var isOutside = false
    var isOver = false
    var timer: Scheduled<Void>?
  }

  private let state = Mutex(State())
  private let idle: TimeAmount
  private let end: NIODeadline
  private let loop: any EventLoop

  init(idle: Double, within limit: Double, on loop: any EventLoop) {
    self.idle = AttemptWatch.amount(idle)
    self.end = .now() + AttemptWatch.amount(limit)
    self.loop = loop
  }

  private static func amount(_ seconds: Double) -> TimeAmount { .milliseconds(Int64(min(max(seconds, 0), 1e8) * 1000)) }

  /// Something came or went.
  func touch() { state.withLock { $0.lastData = .now() } }

  /// Does what is not the server's to be quick with.
  func outside<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    state.withLock { $0.isOutside = true }
    defer {
      state.withLock {
        $0.isOutside = false
        $0.lastData = .now()
      }
    }
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
      let now = NIODeadline.now()
      let due = state.isOutside ? end : min(end, state.lastData + idle)
      state.isOver = now >= due
      if !state.isOver {
        // While it is outside the idle limit does not run; it is looked after again that much later.
        let next = state.isOutside ? min(end, now + idle) : due
        state.timer = loop.scheduleTask(deadline: next) { self.look(whenOver: whenOver) }
      }
      return state.isOver
    }
    if isOver { whenOver() }
  }
}
