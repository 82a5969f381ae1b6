// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The constants have Apple's names.

import Conversations
public import Foundation

/// HTTP basic authentication.
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// HTTP digest authentication.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// The default of a protocol.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// A form.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// NTLM.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// Negotiate.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
/// The client's certificate is wanted.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
/// The trust in the server's certificate is to be judged.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
/// HTTP.
public let NSURLProtectionSpaceHTTP = "http"
/// HTTP over TLS.
public let NSURLProtectionSpaceHTTPS = "https"

/// What the trust in a server is judged by. Source: `Security.SecTrust`; it can be handed to `URLCredential(trust:)` and
/// not be looked into.
@ConstantAfterInit public final class SecTrust: NSObject {
  nonisolated override init() { super.init() }
}

/// Where credentials are wanted. Source: `Foundation.URLProtectionSpace`.
@ConstantAfterInit open class URLProtectionSpace: NSObject {
  /// The host that asks.
  public nonisolated let host: String
  /// Its port.
  public nonisolated let port: Int
  /// `http` or `https`.
  public nonisolated let `protocol`: String?
  /// The realm that it names.
  public nonisolated let realm: String?
  /// Such as `NSURLAuthenticationMethodHTTPBasic`.
  public nonisolated let authenticationMethod: String
  /// What the trust is judged by, when that is what is asked for.
  public nonisolated let serverTrust: SecTrust?

  /// A protection space.
  public nonisolated init(
    host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?
  ) {
    self.host = host
    self.port = port
    self.protocol = `protocol`
    self.realm = realm
    self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodDefault
    serverTrust = authenticationMethod == NSURLAuthenticationMethodServerTrust ? SecTrust() : nil
  }

  /// Whether what is sent to it can be read on the way.
  public nonisolated var receivesCredentialSecurely: Bool {
    `protocol` == NSURLProtectionSpaceHTTPS || authenticationMethod == NSURLAuthenticationMethodHTTPDigest
  }

  /// Never: the device has no proxy.
  public nonisolated override func isProxy() -> Bool { false }
}

/// Who somebody is. Source: `Foundation.URLCredential`.
@ConstantAfterInit open class URLCredential: NSObject {
  /// How long a credential is kept. Source: `Foundation.URLCredential.Persistence`.
  public enum Persistence: UInt, Sendable {
    /// Not at all.
    case none = 0
    /// As long as the session.
    case forSession = 1
    /// For good. Not here: as long as the session.
    case permanent = 2
    /// On all devices of a person. Not here: as long as the session.
    case synchronizable = 3
  }

  /// The name.
  public nonisolated let user: String?
  /// The password.
  public nonisolated let password: String?
  /// How long it is kept.
  public nonisolated let persistence: Persistence

  /// A name and a password.
  public nonisolated init(user: String, password: String, persistence: Persistence) {
    (self.user, self.password, self.persistence) = (user, password, persistence)
  }

  /// The server is trusted.
  public nonisolated init(trust: SecTrust) {
    (user, password, persistence) = (nil, nil, .none)
  }

  /// Whether there is a password.
  public nonisolated var hasPassword: Bool { password != nil }
}

/// A server asks for credentials, or for trust. Source: `Foundation.URLAuthenticationChallenge`.
@ConstantAfterInit open class URLAuthenticationChallenge: NSObject {
  /// Where credentials are wanted.
  public nonisolated let protectionSpace: URLProtectionSpace
  /// None: the device keeps no credentials.
  public nonisolated let proposedCredential: URLCredential? = nil
  /// How often credentials for this task were refused.
  public nonisolated let previousFailureCount: Int
  /// The response that asked.
  public nonisolated let failureResponse: URLResponse?
  /// None: the request is under way.
  public nonisolated let error: (any Error)? = nil

  nonisolated init(_ challenge: InlineChallenge) {
    protectionSpace = URLProtectionSpace(
      host: challenge.host, port: challenge.port, protocol: challenge.scheme, realm: challenge.realm,
      authenticationMethod: challenge.method)
    previousFailureCount = challenge.previousFailures
    failureResponse = challenge.response
  }

  /// Whether it is about the connection and not about one request: then the session's own method comes first.
  nonisolated var isOfSession: Bool {
    [
      NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodNTLM,
      NSURLAuthenticationMethodNegotiate,
    ].contains(protectionSpace.authenticationMethod)
  }
}

extension URLSession {
  /// What becomes of a challenge. Source: `Foundation.URLSession.AuthChallengeDisposition`.
  public enum AuthChallengeDisposition: Int, Sendable {
    /// The credential is used; without one the request goes on without.
    case useCredential = 0
    /// As if the delegate had no such method.
    case performDefaultHandling = 1
    /// The request ends with `cancelled`.
    case cancelAuthenticationChallenge = 2
    /// The server is asked for another kind.
    case rejectProtectionSpace = 3
  }
}

extension AnswerChallenge.Reply {
  init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
    let word: AnswerChallenge.Disposition =
      switch disposition {
      case .useCredential: .useCredential
      case .performDefaultHandling: .performDefaultHandling
      case .cancelAuthenticationChallenge: .cancelAuthenticationChallenge
      case .rejectProtectionSpace: .rejectProtectionSpace
      }
    self.init(disposition: word, user: credential?.user, password: credential?.password)
  }
}
