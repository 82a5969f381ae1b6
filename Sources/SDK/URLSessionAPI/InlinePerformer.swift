// SPDX-License-Identifier: Apache-2.0

package import AuthorRuntime
package import Foundation
package import Messages
import Synchronization

// Inline requests: requests that this process performs itself, and that end when it exits. They belong to sessions that
// are not background sessions, and to data tasks of background sessions. Their implementation is a separate target, so
// that a process without inline requests does not load a networking library.

/// Performs inline requests. One per process, created when the first inline request is resumed.
package protocol InlinePerformer: Sendable {
  /// The connections, cookies and cache of one session. Any thread; returns at once.
  func session(_ configuration: InlineConfiguration) -> any InlineConnections
}

/// The shared state of a session's inline requests.
package protocol InlineConnections: Sendable {
  /// Creates a request that is sent on `resume()`. Any thread; returns at once.
  ///
  /// - Parameters:
  ///   - request: complete: it includes the session's additional header fields and effective `timeoutInterval`, and its
  ///     three `allows…NetworkAccess` combine those of request and session. Its `httpBody` and `httpBodyStream` are
  ///     ignored.
  ///   - body: the request's body.
  ///   - observer: receives all events; retained until `ended` has been called.
  func exchange(_ request: URLRequest, body: InlineBody, _ observer: any InlineObserver) -> any InlineExchange

  /// Deletes cookies, credentials and cached responses, and uses new connections (`URLSession.reset`). Any thread.
  func reset() async

  /// No further request will be made. Requests in progress continue.
  func close()
}

/// The body of an inline request.
package enum InlineBody: Sendable {
  case none
  case data(Data)
  /// Sent in parts. A missing file fails with `fileDoesNotExist`.
  case file(URL)

  /// The body as a class of the author reads it.
  var stream: InputStream? {
    switch self {
    case .none: nil
    case .data(let data): InputStream(data: data)
    case .file(let url): InputStream(url: url)
    }
  }

  /// The body of a request that the author returns in place of a proposed one: its own, which for a stream is read on this
  /// thread, or the former one where both requests have the same. The former one may be no part of a request (an upload's
  /// file).
  ///
  /// - Throws: `requestBodyStreamExhausted`.
  init(of request: URLRequest, proposed: URLRequest, former: InlineBody) throws(URLError) {
    if request.httpBody == proposed.httpBody, request.httpBodyStream === proposed.httpBodyStream {
      self = former
    } else if let stream = request.httpBodyStream, stream !== proposed.httpBodyStream {
      self = .data(try Data(reading: stream))
    } else {
      self = request.httpBody.map { .data($0) } ?? .none
    }
  }
}

extension Data {
  /// Reads a stream to its end.
  fileprivate init(reading stream: InputStream) throws(URLError) {
    self.init()
    stream.open()
    defer { stream.close() }
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = stream.read(&piece, maxLength: piece.count)
      guard count >= 0 else { throw URLError(.requestBodyStreamExhausted) }
      if count == 0 { return }
      append(contentsOf: piece[..<count])
    }
  }
}

/// One inline request. Any thread. Each call returns at once. A call after the end has no effect.
package protocol InlineExchange: Sendable {
  /// Sends the request, or continues after `suspend()`.
  func resume()
  /// Stops reading and sending until `resume()`.
  func suspend()
  /// `ended` follows with `cancelled`, unless it was already called.
  func cancel()
}

/// Receives the events of an inline request.
///
/// The calls are made sequentially, on any thread, and none before `resume()` except `ended` after `cancel()`. Each
/// returns at once, except `received`, which may block to hold the transfer back. While a reply is awaited only `ended`
/// is called. `ended` is called exactly once and last.
package protocol InlineObserver: AnyObject, Sendable {
  /// No network that the request may use is available, and `waitsForConnectivity` is set.
  func waitsForConnectivity()
  /// The server redirects. The reply is the next request, or `nil` to accept the redirection itself as the response.
  func redirected(
    by response: HTTPURLResponse, to request: URLRequest, _ answer: @escaping @Sendable (URLRequest?) -> Void)
  /// The server requests credentials, or server trust must be evaluated.
  func challenged(_ challenge: InlineChallenge, _ answer: @escaping @Sendable (AnswerChallenge.Reply) -> Void)
  /// Bytes of the body sent so far, and in total (-1 when unknown).
  func sent(_ total: Int64, of expected: Int64)
  /// An interim response, such as 103.
  func informed(by response: HTTPURLResponse)
  /// The head of the response. The reply `false` ends the request with `cancelled`.
  func answered(_ response: URLResponse, _ answer: @escaping @Sendable (_ goesOn: Bool) -> Void)
  /// The next bytes of the response's body.
  func received(_ data: Data)
  /// The request has ended, with or without an error.
  func ended(_ failure: (any Error)?, _ metrics: TransferMetrics)
}

/// The configuration of a session that performs inline requests.
package struct InlineConfiguration: Sendable {
  /// The cookie storage.
  package enum Cookies: Sendable {
    case none
    /// In memory, for this session only.
    case ofSession
    /// In memory, for all sessions with this value.
    case shared
  }

  /// Maximum duration of a request, in seconds.
  package var timeoutIntervalForResource: TimeInterval
  package var httpMaximumConnectionsPerHost: Int
  package var waitsForConnectivity: Bool
  package var cookies: Cookies
  /// Whether cookies are added to requests automatically.
  package var setsCookies: Bool
  /// Which cookies of responses are stored.
  package var cookieAcceptPolicy: HTTPCookie.AcceptPolicy
  /// Size of the memory cache for responses, in bytes; 0: no caching.
  package var cacheCapacity: Int
  /// What requests say about their product, and what they may load.
  package var client: ClientProfile
  /// Whether it is a background session, which ends its data tasks itself after a suspension of the process.
  package var isBackground: Bool

  /// Defaults as in Apple's `default` configuration, but without cookies and cache.
  package init(
    timeoutIntervalForResource: TimeInterval = 604_800, httpMaximumConnectionsPerHost: Int = 6,
    waitsForConnectivity: Bool = false, cookies: Cookies = .none, setsCookies: Bool = true,
    cookieAcceptPolicy: HTTPCookie.AcceptPolicy = .onlyFromMainDocumentDomain, cacheCapacity: Int = 0,
    client: ClientProfile, isBackground: Bool = false
  ) {
    self.timeoutIntervalForResource = timeoutIntervalForResource
    self.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
    self.waitsForConnectivity = waitsForConnectivity
    self.cookies = cookies
    self.setsCookies = setsCookies
    self.cookieAcceptPolicy = cookieAcceptPolicy
    self.cacheCapacity = cacheCapacity
    self.client = client
    self.isBackground = isBackground
  }
}

/// A server's authentication challenge.
package struct InlineChallenge: Sendable {
  /// Such as `NSURLAuthenticationMethodHTTPBasic`, `NSURLAuthenticationMethodServerTrust`.
  package let method: String
  package let host: String
  package let port: Int
  /// `http`, `https`.
  package let scheme: String
  package let realm: String?
  package let previousFailures: Int
  /// The response that contained the challenge, if any.
  package let response: HTTPURLResponse?

  package init(
    method: String, host: String, port: Int, scheme: String, realm: String?, previousFailures: Int,
    response: HTTPURLResponse?
  ) {
    self.method = method
    self.host = host
    self.port = port
    self.scheme = scheme
    self.realm = realm
    self.previousFailures = previousFailures
    self.response = response
  }
}

/// The performer of inline requests of one process.
package final class InlineRequests: Sendable {
  private enum Performer {
    case none
    case toBeMade(@Sendable () -> any InlinePerformer)
    case made(any InlinePerformer)
  }

  private let state = Mutex(Performer.none)

  package static func of(_ process: HostedProcess) -> InlineRequests {
    process.part(InlineRequests.self) { _ in InlineRequests() }
  }

  /// Sets how the performer is created. Call before the process is announced.
  package func performed(by make: @escaping @Sendable () -> any InlinePerformer) {
    state.withLock { $0 = .toBeMade(make) }
  }

  /// `nil` when the process cannot perform inline requests.
  var performer: (any InlinePerformer)? {
    state.withLock { state in
      switch state {
      case .none: return nil
      case .made(let performer): return performer
      case .toBeMade(let make):
        let performer = make()
        state = .made(performer)
        return performer
      }
    }
  }
}
