// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import Foundation
import MessageBus
import Messages

extension OperatorSession {
  /// Sends a request to the push server. Waits while it is being restarted.
  ///
  /// - Throws: a command error when the cluster has no push server; `BusError`.
  func askPushServer<R: Request>(
    _ request: R, within limit: Duration = .seconds(10)
  ) async throws -> R.Reply {
    guard cluster.configuration.pushServer != nil else {
      throw CommandError(
        Exit.configuration, "this cluster has no push server", at: cluster.configurationPath,
        advice: "add `pushServer: {}`, or the entitlement aps-environment to a product; then run `widgetlab up`"
      )
    }
    return try await connection.request(request, to: .pushServer, within: limit, whenUnreachable: .wait)
  }

  /// The device tokens of the push server, oldest first.
  ///
  /// - Parameter device: only its active tokens; `nil` for all tokens.
  func tokens(activeOn device: String? = nil) async throws -> [DeviceToken] {
    var tokens: [DeviceToken] = []
    while true {
      let page = try await askPushServer(ListTokens(device: device, after: tokens.last)).tokens
      guard let last = page.last, last != tokens.last else { return tokens }
      tokens += page
    }
  }
}

/// The owner of a token.
struct PushSubjectOptions: ParsableArguments {
  @Option(help: "The containing app's bundle identifier (default: the only app).")
  var app: String?

  @Option(
    help: """
      widgets (the token of WidgetPushHandler), app (that of registerForRemoteNotifications()) or control-3 (that of \
      the control with the placement number 3).
      """)
  var use = PushTokenUse.widgets

  func subject(in cluster: ClusterFacts) throws -> PushSubject {
    PushSubject(device: cluster.device, bundle: try cluster.bundle(ofApp: app), use: use)
  }
}

extension PushTokenUse: ExpressibleByArgument {}
extension PushType: ExpressibleByArgument {}

extension String {
  /// The device token, shortened to fit in a table.
  var tokenExcerpt: String { count > 20 ? "\(prefix(16))…" : self }
}
