// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import Messages
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ResponseChecks
import Synchronization

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

/// Why an attempt ended without a response, as the author sees it. Documentation/fidelity/transfers.md lists the
/// errors and their sources.
struct TransferFault: Error, Hashable, CustomStringConvertible {
  /// Whether another attempt may succeed.
  enum Next: Hashable, Sendable {
    /// The task fails with this error.
    case never
    /// After a pause.
    case later
    case atOnce
  }

  let failure: TransferFailure
  let next: Next

  init(_ code: URLError.Code, _ message: String, next: Next = .later) {
    failure = TransferFailure(code: code.rawValue, message: message)
    self.next = next
  }

  var description: String { "\(failure.message) (\(failure.code))" }

  /// The server cannot send the rest of the file. The next attempt requests the whole file.
  static let rangeRefused = TransferFault(.networkConnectionLost, "the server cannot resume", next: .atOnce)
  /// `cancelAuthenticationChallenge`.
  static let challengeCancelled = TransferFault(.cancelled, "the challenge was cancelled", next: .never)

  init(_ error: any Error) {
    switch error {
    case let fault as TransferFault: self = fault
    case is CancellationError: self.init(.cancelled, "cancelled")
    case let error as HTTPClientError: self.init(client: error)
    case let error as NIOConnectionError: self.init(connection: error)
    case let error as ChannelError: self.init(channel: error)
    case let error as IOError: self.init(code: error.errnoCode, "\(error)")
    case let error as FileError: self.init(.cannotWriteToFile, "\(error)")
    case HTTPParserError.invalidEOFState: self.init(.networkConnectionLost, "the connection was lost: \(error)")
    case is StaleConnection: self.init(.networkConnectionLost, "the connection cannot be used again: \(error)")
    case is HTTPParserError, is UnusableResponse:
      self.init(.cannotParseResponse, "the response cannot be read: \(error)", next: .never)
    case NIOSSLError.uncleanShutdown, NIOSSLError.handshakeFailed(.zeroReturn),
      NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])):
      self.init(.networkConnectionLost, "the connection was lost: \(error)")
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
      self.init(
        TransferFault.isTrustFault(error) ? .serverCertificateUntrusted : .secureConnectionFailed,
        "no secure connection: \(error)", next: .never)
    default: self.init(.unknown, "\(error)")
    }
  }

  private init(client error: HTTPClientError) {
    switch error {
    case .readTimeout, .writeTimeout, .connectTimeout, .tlsHandshakeTimeout, .deadlineExceeded,
      .getConnectionFromPoolTimeout:
      self.init(.timedOut, "the request timed out: \(error)")
    case .remoteConnectionClosed, .uncleanShutdown:
      self.init(.networkConnectionLost, "the connection was lost: \(error)")
    case .cancelled, .requestStreamCancelled: self.init(.cancelled, "cancelled")
    case .invalidURL, .emptyHost, .emptyScheme: self.init(.badURL, "\(error)", next: .never)
    case .bodyLengthMismatch: self.init(.requestBodyStreamExhausted, "\(error)")
    default: self.init(.unknown, "\(error)")
    }
  }

  private init(connection error: NIOConnectionError) {
    guard let first = error.connectionErrors.first?.error else {
      self.init(.cannotFindHost, "no such host: \(error.host)")
      return
    }
    let inner = TransferFault(first)
    let message = "cannot connect to \(error.host):\(error.port): \(inner.failure.message)"
    self.init(inner.failure.code == URLError.timedOut.rawValue ? .timedOut : .cannotConnectToHost, message)
  }

  private init(channel error: ChannelError) {
    switch error {
    case .connectTimeout: self.init(.timedOut, "the request timed out: \(error)")
    default: self.init(.networkConnectionLost, "the connection was lost: \(error)")
    }
  }

  /// Maps the errno of a socket.
  private init(code: Int32, _ message: String) {
    switch code {
    case ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, EADDRNOTAVAIL: self.init(.cannotConnectToHost, message)
    case ETIMEDOUT: self.init(.timedOut, message)
    default: self.init(.networkConnectionLost, message)
    }
  }

  /// Whether the device does not trust the server's certificate: expired, for another host, or from an unknown
  /// authority.
  static func isTrustFault(_ error: any Error) -> Bool {
    switch error {
    case let error as NIOSSLExtraError: return error == .failedToValidateHostname
    case NIOSSLError.unableToValidateCertificate: return true
    case NIOSSLError.handshakeFailed(.sslError(let stack)):
      // NIOSSL exposes the code only in the description: "Error: <code> <text>".
      return stack.contains { $0.description.split(separator: " ").dropFirst().first == certificateVerifyFailed }
    default: return false
    }
  }

  /// `SSL_R_CERTIFICATE_VERIFY_FAILED` (125) of the library `ERR_LIB_SSL` (16), as BoringSSL packs them.
  private static let certificateVerifyFailed: Substring? = "\(16 << 24 | 125)"
}
