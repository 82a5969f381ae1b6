// SPDX-License-Identifier: Apache-2.0

import APNs
import Archive
import ChaosCampaign
import Cluster
import Foundation
import MessageBus
import Messages
import OwnedTasks
import Synchronization

/// What users, providers and programs do during a campaign. Nothing waits for a result: a process may be dead.
struct ChaosWorkload: Sendable {
  /// How many actions may be in progress; beyond that, none is started.
  private static let most = 12
  static let patience = Duration.seconds(8)

  /// The pushes that were answered with 200, by the id that the push server gave them.
  private final class AnsweredPushes: Sendable {
    let ids = Mutex<Set<UUID>>([])
  }

  let target: any ChaosCluster
  private let tasks = TaskOwner()
  private let answered = AnsweredPushes()

  private var cluster: ClusterFacts { target.cluster }
  private var connection: Connection {
    get async throws { try await target.session().connection }
  }
  private var app: String { cluster.apps.first?.bundleIdentifier ?? "" }

  /// Opens the app, without which no widget can be placed, and places the widget whose timelines are reloaded.
  func prepare() async throws {
    try await target.session().openApp(app)
    _ = try await connection.request(
      AddPlacement(widgetKind: ChaosHome.widgetKind, family: nil, location: .homeScreen), to: cluster.host,
      within: .seconds(30), whenUnreachable: .wait)
  }

  /// Whether no action is in progress.
  var isIdle: Bool { tasks.count == 0 }

  /// Waits for no action any more.
  func end() async { await tasks.end() }

  /// Starts an action.
  func start(_ action: WorkloadAction) {
    guard tasks.count < Self.most else { return }
    // A failure is a legitimate result while processes are killed; the laws judge what was promised.
    tasks.start { try? await perform(action) }
  }

  /// Performs an action, and waits for its result.
  func perform(_ action: WorkloadAction) async throws {
    switch action {
    case .reload: try await connection.deliver(ReloadTimelines(widgetKind: ChaosHome.widgetKind), to: cluster.host)
    case .openApp: try await ask(OpenApp(bundle: app))
    case .background: try await ask(ChangeScreen(.background(app: app)))
    case .tap: try await ask(TapWidget(placement: 1))
    case .drink:
      guard let url = await target.provider else { return }
      _ = try await LocalRequest.send(url + "/drinks", json: #"{"name":"Espresso","milligrams":63}"#)
    case .push:
      let subject = PushSubject(device: cluster.device, bundle: app, use: .widgets)
      let push = SendPush(
        token: nil, subject: subject,
        headers: ["apns-push-type": "widgets", "apns-topic": app + PushType.widgets.topicSuffix],
        payload: #"{"aps":{"content-changed":true}}"#)
      let reply = try await connection.request(push, to: .pushServer, within: Self.patience, whenUnreachable: .wait)
      if reply.status == 200 { answered.ids.withLock { _ = $0.insert(reply.uniqueID) } }
    }
  }

  /// The database of the push server is older now: what was answered is not compared.
  func forgetPushes() { answered.ids.withLock { $0 = [] } }

  /// Compares the pushes that were answered with 200 with the delivery log of the push server.
  ///
  /// - Returns: how many there are, and those that the log does not have.
  /// - Throws: `BusError` when the push server does not reply.
  func pushesNotLogged() async throws -> (answered: Int, missing: Set<UUID>) {
    let all = answered.ids.withLock(\.self)
    return (all.count, all.subtracting(try await readPushLog()))
  }

  /// Reads the delivery log to its end. The replies are in the journal, from which the laws take results whose notices
  /// were lost.
  ///
  /// - Returns: the ids of all pushes in the log.
  /// - Throws: `BusError` when the push server does not reply.
  @discardableResult
  func readPushLog() async throws -> Set<UUID> {
    var found: Set<UUID> = []
    // Entries after this number; 0 would select the newest.
    var last: Int64 = -1
    while true {
      let page = try await connection.request(
        ListPushes(after: last, limit: 100), to: .pushServer, within: .seconds(30), whenUnreachable: .wait)
      guard let newest = page.pushes.last?.number else { return found }
      found.formUnion(page.pushes.map(\.uniqueID))
      last = newest
    }
  }

  /// Sends a request to the host, which may be dead.
  @discardableResult
  func ask<R: Request>(_ request: R, within limit: Duration = patience) async throws -> R.Reply {
    try await connection.request(request, to: cluster.host, within: limit, whenUnreachable: .wait)
  }

  /// Whether the process at an address replies and is ready.
  func isReady(_ address: Address) async -> Bool {
    let reply = try? await connection.request(Ping(), to: address, within: .seconds(5), whenUnreachable: .wait)
    return reply?.isReady ?? false
  }
}
