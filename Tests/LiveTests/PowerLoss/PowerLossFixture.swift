// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Messages
import WidgetLabTesting

/// A cluster with downloads and pushes that waits for the disk, and the trace of its work.
struct PowerLossFixture {
  static let count = 10
  static let appSession = LiveFixture.appSession
  private static let size = 40_960
  private static let figures = "/figures?size=\(size)"
  private static let held = "/figures?size=65536&holdAt=30000&seed=held"

  /// - Parameter isSynchronized: whether the journal waits for the disk.
  static func configuration(isSynchronized: Bool) -> String {
    """
    device:
      name: \(LiveFixture.device)
      version: "26.0"
    appGroups:
      - \(LiveFixture.group)
    apps:
      - bundle: com.example.Trial
        executable: containing-app
        environment:
          CAFFEINE_FIGURES_URL: ${provider.url}\(held)
      - bundle: \(PushesFixture.bundle)
        executable: FixtureWidgets
        entitlements: {aps-environment: development}
        environment:
          TRIAL_FIXTURE: pushes
          TRIAL_APP: "yes"
    extensions:
      - bundle: com.example.Trial.Widget
        executable: FixtureHandlers
        environment:
          TRIAL_FORM: bulk
          TRIAL_GROUP: \(LiveFixture.group)
          TRIAL_URLS: ${provider.url}\(figures)
          TRIAL_COUNT: \(count)
      - bundle: \(PushesFixture.bundle).Widget
        executable: FixtureWidgets
        entitlements: {aps-environment: development}
        environment:
          TRIAL_FIXTURE: pushes
          TRIAL_NAME: pushes
    provider:
      executable: provider-server
    pushServer: {priority5Interval: 0, backgroundInterval: 0}
    bus: {journalSync: \(isSynchronized)}
    settings:
      developerMode: true
      suspendAfter: 0.5
      callDeadline: 60
      limiterFirst: 0\(LiveFixture.isSanitized ? "\n  extensionMemoryLimit: 0" : "")
    """
  }

  let cluster: LabCluster
  var journal: LabJournal { cluster.journal }
  private var pushes: PushesFixture { PushesFixture(cluster: cluster) }

  /// The URL of each download and what the provider serves there.
  func served() async throws -> [String: [UInt8]] {
    let provider = try provider
    var served: [String: [UInt8]] = [:]
    for seed in 1...Self.count {
      let path = "\(Self.figures)&seed=\(seed)"
      served[provider + path] = [UInt8](try await cluster.fetch(path))
    }
    return served
  }

  private var provider: String {
    get throws {
      guard let provider = cluster.ready.provider else { throw LabError("the cluster has no provider") }
      return provider
    }
  }

  /// Starts the extensions; returns the device token when nothing is in progress.
  func begin() async throws -> String {
    let token = try await pushes.begin()
    try await cluster.eventually("the sessions are open") {
      try await journal.all().contains {
        $0.kind == "session.open/ok" && $0.destination == LiveFixture.widgetExtension.text
      }
    }
    return token
  }

  /// Downloads twice, opens an app whose download does not end, and sends pushes.
  ///
  /// - Returns: when each push had the status 200.
  func work(_ token: String) async throws -> [UUID: Double] {
    async let first = push(8, to: token)
    try await download()
    try await cluster.run("app", "open", "com.example.Trial")
    try await journal.waitFor("the app's download has started") {
      $0.reading(TransferProgress.self).map { $0.session == Self.appSession && $0.step == .started } ?? false
    }
    var answered = try await first
    let end = try await journal.waitFor("the first downloads are acknowledged") {
      $0.reading(SessionAcknowledged.self)?.session == LiveFixture.session
    }
    try await download()
    answered.merge(try await push(4, to: token)) { $1 }
    try await journal.waitFor("a second download has ended", after: end.sequence) {
      $0.reading(TransferProgress.self).map { $0.session == LiveFixture.session && $0.step == .finished } ?? false
    }
    return answered
  }

  private func download() async throws {
    let group = cluster.instance.device(LiveFixture.device).group(LiveFixture.group)
    guard FileManager.default.createFile(atPath: group + "/go", contents: nil) else {
      throw LabError("\(group)/go cannot be created")
    }
    try await cluster.run("reload", LiveFixture.kind)
  }

  /// Sends pushes to widgets on one connection, with an independent HTTP/2 client.
  private func push(_ count: Int, to token: String) async throws -> [UUID: Double] {
    guard let server = cluster.ready.pushServer else { throw LabError("the cluster has no push server") }
    let key = ProviderPlan.Token(key: server.key, kid: server.keyID, iss: server.teamID)
    let request = ProviderPlan.Request(to: token, token: key).with(
      "apns-topic", PushesFixture.bundle + ".push-type.widgets")
    let plan = ProviderPlan(
      url: server.development, ca: server.certificateAuthority, certificate: nil,
      requests: Array(repeating: request, count: count))
    let path = "\(cluster.folder)/plan-\(UUID().uuidString)"
    try JSONEncoder().encode([plan]).write(to: URL(fileURLWithPath: path + ".json"))
    let script = Repository.root.appending(path: "scripts/push.d/provider.py").path
    let child = try await LabChild.start(
      "/usr/bin/python3", [script, "h2", path + ".json"], output: path + ".out", errors: path + ".err")
    guard await child.ending() == 0 else {
      throw LabError("provider.py: \((try? String(contentsOfFile: path + ".err", encoding: .utf8)) ?? "")")
    }
    let output = try Data(contentsOf: URL(fileURLWithPath: path + ".out"))
    let answers = try JSONDecoder().decode([[ProviderPlan.Answer]].self, from: output).flatMap(\.self)
    var answered: [UUID: Double] = [:]
    for answer in answers {
      guard answer.status == 200, let id = answer.headers?["apns-unique-id"].flatMap(UUID.init(uuidString:)),
        let received = answer.received
      else { throw LabError("a push was answered with \(answer)") }
      answered[id] = Double(received) / 1e6
    }
    return answered
  }
}
