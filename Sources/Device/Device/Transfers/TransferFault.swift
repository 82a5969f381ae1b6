// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import Messages
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Stores

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
