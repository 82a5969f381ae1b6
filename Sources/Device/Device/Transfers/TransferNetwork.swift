// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import Stores
import Synchronization

/// The connections and the data rate that all attempts share.
///
/// It does not limit the number of attempts per host: the loading state machine does.
final class TransferNetwork: Sendable {
  /// Made with the service: with a client that the first attempt makes, a long file takes 12 % longer (measured).
  let client: HTTPClient
  let throttle = Throttle()
  private let watches = AttemptWatches()

  /// - Parameter roots: the certificates that the device trusts; `nil`: those of this machine.
  init(trusting roots: NIOSSLTrustRoots? = nil) {
    // `ContentDecoder` decodes bodies, where they are written.
    var settings = HTTPClient.Configuration(
      redirectConfiguration: .disallow, timeout: .init(connect: .seconds(60)), decompression: .disabled)
    settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 10_000
    // Long enough for the next of many small files, shorter than the limits of servers.
    settings.connectionPool.idleTimeout = .seconds(5)
    // The transfer service has the back-off between attempts, so that each attempt is recorded.
    settings.connectionPool.retryConnectionEstablishment = false
    settings.httpVersion = .http1Only
    settings.http1_1ConnectionDebugInitializer = TransferNetwork.prepare
    if let roots {
      var security = TLSConfiguration.makeClientConfiguration()
      security.trustRoots = roots
      settings.tlsConfiguration = security
    }
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
  }

  /// Prepares a connection, which has no request yet.
  ///
  /// One read at a time, of up to 256 KiB. The client requests more as soon as its buffer is empty, so the next read
  /// overlaps with writing the current one to the file.
  private static func prepare(_ channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture { try ResponseGate.insert(in: channel.pipeline.syncOperations) }
      .flatMap {
        let reads = AdaptiveRecvByteBufferAllocator(minimum: 2 << 10, initial: 16 << 10, maximum: 256 << 10)
        return channel.setOption(.recvAllocator, value: reads)
      }
      .flatMap { channel.setOption(.maxMessagesPerRead, value: 1) }
  }

  /// - Parameter idle: the idle limit of one attempt, in seconds of machine time.
  func watch(idle: Double) -> AttemptWatch {
    AttemptWatch(IdleLimit(idle, now: .now()), among: watches)
  }

  /// Closes all connections. No request may be in progress.
  func shutdown() async { try? await client.shutdown() }
}

/// The device's data rate, shared by all transfers in both directions (`NetworkState.rate`).
final class Throttle: Sendable {
  private let pace = Mutex(TokenBucket())

  /// Bytes per second of all transfers together; `nil` means unlimited. Transfers that already wait keep waiting, for
  /// at most a quarter of a second each.
  func setRate(_ rate: Int64?) { pace.withLock { $0.setRate(rate) } }

  /// The most bytes that one transfer should request at once: those of a quarter of a second.
  var slice: Int { pace.withLock { $0.slice } }

  /// Returns when `bytes` may be sent or received.
  ///
  /// - Throws: `CancellationError`.
  func spend(_ bytes: Int) async throws {
    let wait = pace.withLock { $0.spend(bytes, now: .now) }
    if wait > .zero { try await Task.sleep(for: wait) }
  }
}

/// Grants bytes at a common rate, in the order of the requests.
struct TokenBucket: Sendable {
  /// Bytes per second.
  private(set) var rate: Int64?
  /// The time at which all granted bytes will have been sent.
  private var free: ContinuousClock.Instant?

  mutating func setRate(_ rate: Int64?) {
    self.rate = rate.map { max(1, $0) }
    free = nil
  }

  var slice: Int { rate.map { Int(max(1, min($0 / 4, 1 << 20))) } ?? 1 << 20 }

  /// Returns how long to wait before `bytes` may be sent.
  mutating func spend(_ bytes: Int, now: ContinuousClock.Instant) -> Duration {
    guard let rate else { return .zero }
    let free = max(now, self.free ?? now) + .seconds(Double(bytes) / Double(rate))
    self.free = free
    return free - now
  }
}
