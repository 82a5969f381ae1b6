package import AuthoredProcess
package import Conversations
package import Foundation
import Synchronization

// Inline requests: those that this process performs itself, which die with it. They belong to sessions that are no
// background sessions, and to the data tasks of those that are. Who performs them is a target of its own, so that a
// process which never makes one does not load a networking library.

/// Performs inline requests. One for each process; made when its first inline request is resumed.
package protocol InlinePerformer: Sendable {
  /// The connections, cookies and cache of one session. Any thread; returns at once.
  func session(_ configuration: InlineConfiguration) -> any InlineConnections
}

/// What a session that is no background session, or the data tasks of one that is, share.
package protocol InlineConnections: Sendable {
  /// A request that goes out at `resume()`. Any thread; returns at once.
  ///
  /// - Parameters:
  ///   - request: complete: the session's additional header fields stand in it, `timeoutInterval` is the one that
  ///     holds, and its three `allows…NetworkAccess` are those of request and session together. Its `httpBody` and
  ///     `httpBodyStream` are to be ignored.
  ///   - body: what is sent.
  ///   - observer: told of everything; held until `ended` has been called.
  func exchange(_ request: URLRequest, body: InlineBody, _ observer: any InlineObserver) -> any InlineExchange

  /// Forgets cookies, credentials and cached responses, and uses new connections (`URLSession.reset`). Any thread.
  func reset() async

  /// No request follows; those under way go on.
  func close()
}

/// The body of an inline request.
package enum InlineBody: Sendable {
  case none
  case data(Data)
  /// Sent piece by piece. A file that is not there fails with `fileDoesNotExist`.
  case file(URL)
}

/// One inline request. Any thread; each call returns at once, and one that comes too late does nothing.
package protocol InlineExchange: Sendable {
  /// The request goes out, or goes on after `suspend()`.
  func resume()
  /// Nothing more is read or sent until `resume()`.
  func suspend()
  /// `ended` follows with `cancelled`, unless it has been called.
  func cancel()
}

/// Told of an inline request.
///
/// The calls come one after the other, from any thread, and none before `resume()` but `ended` after `cancel()`. Each
/// returns at once but `received`, which may hold the transfer back. While an answer is awaited nothing but `ended` is called; `ended` comes exactly
/// once and is the last one.
package protocol InlineObserver: AnyObject, Sendable {
  /// There is no network that the request may use, and `waitsForConnectivity` is set.
  func waitsForConnectivity()
  /// The server sends elsewhere; the answer is the request that follows, or `nil` to take the redirection itself as the
  /// response.
  func redirected(
    by response: HTTPURLResponse, to request: URLRequest, _ answer: @escaping @Sendable (URLRequest?) -> Void)
  /// Credentials are wanted, or trust is to be judged.
  func challenged(_ challenge: InlineChallenge, _ answer: @escaping @Sendable (AnswerChallenge.Reply) -> Void)
  /// Bytes of the body that went out so far, and in all (-1 when unknown).
  func sent(_ total: Int64, of expected: Int64)
  /// The head of the response; `false` ends the request with `cancelled`.
  func answered(_ response: URLResponse, _ answer: @escaping @Sendable (_ goesOn: Bool) -> Void)
  /// The next bytes of the response's body.
  func received(_ data: Data)
  /// Over, well or with an error.
  func ended(_ failure: URLError?, _ metrics: TransferMetrics)
}

/// What a session that performs inline requests is set to.
package struct InlineConfiguration: Sendable {
  /// Where cookies are kept.
  package enum Cookies: Sendable {
    case none
    /// In the process, for this session alone.
    case ofSession
    /// In the process, for all sessions that say so.
    case shared
  }

  /// Seconds that a request may take in all.
  package var timeoutIntervalForResource: TimeInterval
  package var httpMaximumConnectionsPerHost: Int
  package var waitsForConnectivity: Bool
  package var cookies: Cookies
  /// Whether cookies are put into requests by themselves.
  package var setsCookies: Bool
  /// Which cookies of responses are kept.
  package var cookieAcceptPolicy: HTTPCookie.AcceptPolicy
  /// Bytes of responses that may be kept in memory; 0 when nothing is cached.
  package var cacheCapacity: Int

  /// A configuration as Apple's `default` has it, but for cookies and cache, of which there are none.
  package init(
    timeoutIntervalForResource: TimeInterval = 604_800, httpMaximumConnectionsPerHost: Int = 6,
    waitsForConnectivity: Bool = false, cookies: Cookies = .none, setsCookies: Bool = true,
    cookieAcceptPolicy: HTTPCookie.AcceptPolicy = .onlyFromMainDocumentDomain, cacheCapacity: Int = 0
  ) {
    self.timeoutIntervalForResource = timeoutIntervalForResource
    self.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
    self.waitsForConnectivity = waitsForConnectivity
    self.cookies = cookies
    self.setsCookies = setsCookies
    self.cookieAcceptPolicy = cookieAcceptPolicy
    self.cacheCapacity = cacheCapacity
  }
}

/// A challenge of a server.
package struct InlineChallenge: Sendable {
  /// Such as `NSURLAuthenticationMethodHTTPBasic`, `NSURLAuthenticationMethodServerTrust`.
  package let method: String
  package let host: String
  package let port: Int
  /// `http`, `https`.
  package let scheme: String
  package let realm: String?
  package let previousFailures: Int
  /// The response that asked, if any.
  package let response: HTTPURLResponse?

  /// A challenge.
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

/// Who performs the inline requests of one process.
package final class InlineRequests: Sendable {
  private enum Performer {
    case none
    case toBeMade(@Sendable () -> any InlinePerformer)
    case made(any InlinePerformer)
  }

  private let state = Mutex(Performer.none)

  /// Those of a process.
  package static func of(_ process: HostedProcess) -> InlineRequests {
    process.part(InlineRequests.self) { _ in InlineRequests() }
  }

  /// From now on what `make` makes performs them. Before the process is announced.
  package func performed(by make: @escaping @Sendable () -> any InlinePerformer) {
    state.withLock { $0 = .toBeMade(make) }
  }

  /// `nil` when nobody performs any.
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
