// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The constants have Apple's names.

public import Foundation
import Messages

public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// The default method of a protocol.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// An HTML form.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
/// The server requests a client certificate.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
/// The server's certificate must be evaluated.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
public let NSURLProtectionSpaceHTTP = "http"
public let NSURLProtectionSpaceHTTPS = "https"

/// Server trust. Source: `Security.SecTrust`; it can only be passed to `URLCredential(trust:)`.
@ConstantAfterInit public final class SecTrust: NSObject {
  nonisolated override init() { super.init() }
}

/// A server or realm that requires authentication. Source: `Foundation.URLProtectionSpace`.
@ConstantAfterInit open class URLProtectionSpace: NSObject {
  /// The host of the server.
  public nonisolated let host: String
  /// The port of the server.
  public nonisolated let port: Int
  /// `http` or `https`.
  public nonisolated let `protocol`: String?
  /// The realm that the server sent.
  public nonisolated let realm: String?
  /// For example `NSURLAuthenticationMethodHTTPBasic`.
  public nonisolated let authenticationMethod: String
  /// Set for a server trust challenge.
  public nonisolated let serverTrust: SecTrust?

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

  /// Whether credentials are protected in transit.
  public nonisolated var receivesCredentialSecurely: Bool {
    `protocol` == NSURLProtectionSpaceHTTPS || authenticationMethod == NSURLAuthenticationMethodHTTPDigest
  }

  /// Always `false`: the device has no proxy.
  public nonisolated override func isProxy() -> Bool { false }
}

/// A credential. Source: `Foundation.URLCredential`.
@ConstantAfterInit open class URLCredential: NSObject {
  /// How long a credential is stored. Source: `Foundation.URLCredential.Persistence`.
  public enum Persistence: UInt, Sendable {
    /// Not stored.
    case none = 0
    /// For the duration of the session.
    case forSession = 1
    /// Permanently. Here: for the duration of the session.
    case permanent = 2
    /// On all devices of the user. Here: for the duration of the session.
    case synchronizable = 3
  }

  public nonisolated let user: String?
  public nonisolated let password: String?
  public nonisolated let persistence: Persistence

  public nonisolated init(user: String, password: String, persistence: Persistence) {
    (self.user, self.password, self.persistence) = (user, password, persistence)
  }

  /// A credential that accepts the server's certificate.
  public nonisolated init(trust: SecTrust) {
    (user, password, persistence) = (nil, nil, .none)
  }

  public nonisolated var hasPassword: Bool { password != nil }
}

/// A server's authentication challenge. Source: `Foundation.URLAuthenticationChallenge`.
@ConstantAfterInit open class URLAuthenticationChallenge: NSObject {
  public nonisolated let protectionSpace: URLProtectionSpace
  /// Always `nil`: the device stores no credentials.
  public nonisolated let proposedCredential: URLCredential? = nil
  /// How many credentials of this task were rejected.
  public nonisolated let previousFailureCount: Int
  /// The response that contained the challenge.
  public nonisolated let failureResponse: URLResponse?
  /// Always `nil`: the request is in progress.
  public nonisolated let error: (any Error)? = nil

  nonisolated init(_ challenge: InlineChallenge) {
    protectionSpace = URLProtectionSpace(
      host: challenge.host, port: challenge.port, protocol: challenge.scheme, realm: challenge.realm,
      authenticationMethod: challenge.method)
    previousFailureCount = challenge.previousFailures
    failureResponse = challenge.response
  }

  /// Whether it concerns the connection, not one request. Then the session's own method is called first.
  nonisolated var isOfSession: Bool {
    [
      NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodNTLM,
      NSURLAuthenticationMethodNegotiate,
    ].contains(protectionSpace.authenticationMethod)
  }
}

extension URLSession {
  /// The reply to a challenge. Source: `Foundation.URLSession.AuthChallengeDisposition`.
  public enum AuthChallengeDisposition: Int, Sendable {
    /// Uses the credential, or continues without one.
    case useCredential = 0
    /// As if the delegate did not implement the method.
    case performDefaultHandling = 1
    /// Ends the request with `cancelled`.
    case cancelAuthenticationChallenge = 2
    /// Rejects this challenge, so that the server can offer another.
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
