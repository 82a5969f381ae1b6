// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Sends widget pushes to APNs over one HTTP/2 connection. Source: Apple's *Updating widgets with WidgetKit push
/// notifications* and *Sending notification requests to APNs*.
struct APNsClient: Sendable {
  private static let payload = #"{"aps":{"content-changed":true}}"#

  private let url: String
  private let topic: String
  private let token: APNsToken
  private let http: HTTPClient

  /// - Parameter url: such as `https://api.sandbox.push.apple.com`.
  /// - Parameter authority: a PEM file of a certificate authority to trust in addition to the system's.
  init(url: String, bundle: String, token: APNsToken, authority: String?) {
    self.url = url
    self.token = token
    topic = "\(bundle).push-type.widgets"
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.additionalTrustRoots = authority.map { [.file($0)] } ?? []
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    configuration.timeout.connect = .seconds(10)
    // A failed attempt is logged, and repeated when its push is due again.
    configuration.connectionPool.retryConnectionEstablishment = false
    http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  func shutdown() async throws { try await http.shutdown() }

  /// Notifies the widgets of a device token that their content changed.
  ///
  /// - Parameter id: `apns-id`, a UUID in lower case.
  func push(to deviceToken: String, id: String) async -> PushOutcome {
    var request = HTTPClientRequest(url: "\(url)/3/device/\(deviceToken)")
    request.method = .POST
    request.body = .bytes(ByteBuffer(string: Self.payload))
    do {
      request.headers = [
        "authorization": "bearer \(try await token.current())", "apns-id": id, "apns-push-type": "widgets",
        "apns-topic": topic,
      ]
      let response = try await http.execute(request, timeout: .seconds(30))
      let body = try await response.body.collect(upTo: 4096)
      let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(body.readableBytesView))
      if refusal?.reason == "ExpiredProviderToken" { await token.expired() }
      return .answered(
        status: Int(response.status.code), reason: refusal?.reason,
        since: refusal?.timestamp.map { Date(timeIntervalSince1970: $0 / 1000) })
    } catch {
      return .unanswered("\(error)")
    }
  }

  private struct Refusal: Decodable {
    let reason: String
    /// Milliseconds since 1970.
    let timestamp: Double?
  }
}
