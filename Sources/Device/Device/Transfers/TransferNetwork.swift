// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import ResponseChecks

/// The connections and the data rate that all attempts share.
///
/// It does not limit the number of attempts per host: the loading state machine does.
final class TransferNetwork: Sendable {
  /// Made with the service: with a client that the first attempt makes, a long file takes 12 % longer (measured).
  let client: HTTPClient
  let throttle = Throttle()
  private let watches = AttemptWatches()

  init() {
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
