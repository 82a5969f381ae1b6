import ArgumentParser
import Cluster
import Conversations
import Foundation
import MessageBus

extension OperatorSession {
  /// Asks the push server, also one that was just killed and is being started again.
  ///
  /// - Throws: a complaint when the cluster has none; `BusError`.
  func askPushServer<Question: Request>(
    _ question: Question, within limit: Duration = .seconds(10)
  ) async throws -> Question.Reply {
    guard cluster.configuration.pushServer != nil else {
      throw Complaint(
        Exit.configuration, "this cluster has no push server", at: cluster.configurationPath,
        advice: "write `pushServer: {}` into it, or give a product the entitlement aps-environment; then `widgetlab up`"
      )
    }
    return try await connection.request(question, to: .pushServer, within: limit, whenUnreachable: .wait)
  }
}

/// Whose token is meant.
struct PushSubjectOptions: ParsableArguments {
  @Option(help: "The containing app's bundle identifier; the only app without it.")
  var app: String?

  @Option(help: "widgets for the token of WidgetPushHandler, app for that of registerForRemoteNotifications().")
  var use = PushTokenUse.widgets

  func subject(in cluster: ClusterFacts) throws -> PushSubject {
    PushSubject(device: cluster.device, bundle: try cluster.bundle(ofApp: app), use: use)
  }
}

extension PushTokenUse: ExpressibleByArgument {}
extension PushType: ExpressibleByArgument {}

extension String {
  /// As much of a device token as a line of a table has room for.
  var tokenExcerpt: String { count > 20 ? "\(prefix(16))…" : self }
}
