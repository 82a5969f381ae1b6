// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Cluster

/// The push server in `widgetlab.yaml`.
@Suite struct `The configuration of the push server` {
  private static let device = "device: {name: iphone}\n"

  private func read(_ text: String) throws -> ClusterConfiguration {
    try ClusterConfiguration(yaml: Self.device + text)
  }

  @Test func `a push server exists only if it is configured or a product has the push entitlement`() throws {
    #expect(try read("").pushServer == nil)
    #expect(try read("pushServer:").pushServer == ClusterConfiguration.PushServer())
    #expect(try read("pushServer: {}").pushServer == ClusterConfiguration.PushServer())
    let entitled = """
      apps:
        - {bundle: com.example.A, executable: a, entitlements: {aps-environment: development}}
      """
    #expect(try read(entitled).pushServer == ClusterConfiguration.PushServer())
    #expect(try read(entitled.replacing(", entitlements: {aps-environment: development}", with: "")).pushServer == nil)
    let holders = try StandingKey.holders(of: read("pushServer: {}")).map(\.name)
    #expect(holders.contains(.pushServer))
    #expect(try !StandingKey.holders(of: read("")).map(\.name).contains(.pushServer))
  }

  @Test func `the replicas of a push server share a database and a key`() throws {
    let configuration = try read("pushServer: {database: \"postgres://host/db\", replicas: 3}")
    let server = try #require(configuration.pushServer)
    #expect(server.database == "postgres://host/db" && server.replicas == 3)
    let key = StandingKey.holders(of: configuration).first { $0.name == .pushServer }
    #expect(key?.pattern.matches(.pushServer("pod-1.a")) == true && key?.pattern.matches(.pushServer) == false)
    for name in ["", "a/b", "a b", "ü", String(repeating: "a", count: 33)] {
      #expect(ClusterConfiguration.PushServer.objection(toReplica: name) != nil, "\(name)")
    }
    #expect(ClusterConfiguration.PushServer.objection(toReplica: "push-server-0.A") == nil)
  }

  @Test func `omitted push rules have the defaults of the fidelity pages`() {
    let rules = ClusterConfiguration.PushRules()
    let times: [Duration] = [
      rules.logAge, rules.storageAge, rules.providerTokenLifetime, rules.providerTokenUpdateInterval,
      rules.consecutiveWindow, rules.idleTimeout, rules.priority5Interval, rules.priority1Interval,
      rules.backgroundInterval, rules.endedTokenAge,
    ]
    let seconds: [Double] = [604_800, 2_592_000, 3_600, 1_200, 60, 3_600, 15, 60, 1_200, 2_592_000]
    #expect(times == seconds.map { .seconds($0) })
    let figures: [Int] = [
      rules.logLimit, rules.queueLimit, rules.inFlight, rules.journalRate, rules.payloadLimit, rules.voipPayloadLimit,
      rules.consecutiveRequests, rules.slowedRefusals, rules.slowedStreams, rules.endedRefusals,
      rules.badDeviceTokenWeight,
    ]
    #expect(figures == [100_000, 10_000, 32, 1_000, 4_096, 5_120, 0, 100, 1, 1_000, 2] as [Int])
  }

  @Test func `the push server's addresses and rules are read from the configuration`() throws {
    let text = """
      pushServer:
        listen: 0.0.0.0
        advertise: push-server
        developmentPort: 2197
        productionPort: 2198
        logLimit: 500
        consecutiveWindow: 1.5
      """
    let server = try #require(try read(text).pushServer)
    #expect(server.listen == "0.0.0.0" && server.advertise == "push-server")
    #expect(server.developmentPort == 2_197 && server.productionPort == 2_198)
    #expect(server.rules.logLimit == 500 && server.rules.consecutiveWindow == .seconds(1.5))
  }

  @Test(arguments: [
    ("{database: \"mysql://host/db\"}", "postgres://"), ("{replicas: 2}", "database"),
    ("{database: \"postgres://host/db\", replicas: 0}", "replicas"),
    ("{database: \"postgres://host/db\", replicas: 2, developmentPort: 2197}", "developmentPort"),
    ("{database: \"postgres://host/db\", replicas: 2, metrics: '127.0.0.1:9464'}", "2: pushServer.metrics"),
    ("{developmentPort: 9464, metrics: '127.0.0.1:9464'}", "metrics"),
    ("{metrics: '127.0.0.1:9464'}\nbus: {metrics: '127.0.0.1:9464'}", "pushServer"),
    ("{developmentPort: 70000}", "developmentPort"), ("{developmentPort: 9, productionPort: 9}", "productionPort"),
    ("{logLimit: 1}", "logLimit"), ("{inFlight: 0}", "inFlight"), ("{payloadLimit: 9000}", "payloadLimit"),
    ("{port: 1}", "is not a known key"), ("{executable: ''}", "executable"), ("{slowedStreams: 0}", "slowedStreams"),
    ("{badDeviceTokenWeight: 0}", "badDeviceTokenWeight"), ("{slowedRefusals: -1}", "slowedRefusals"),
    ("{backgroundInterval: -1}", "backgroundInterval"), ("{idleTimeout: 0}", "idleTimeout"),
  ])
  func `an invalid push server setting is refused with its key`(text: String, key: String) throws {
    let error = #expect(throws: ClusterError.self) { try read("pushServer: \(text)") }
    #expect(error?.message.contains(key) == true, "\(String(describing: error))")
  }

  @Test func `processes in containers can have the same port for metrics`() throws {
    let read = try read("pushServer: {metrics: '0.0.0.0:9464'}\nbus: {metrics: '0.0.0.0:9464'}")
    #expect(read.bus.metrics == read.pushServer?.metrics)
  }

  @Test func `a provider's arguments and a product's environment can use the push server's URL and key`() throws {
    let text = """
      provider:
        executable: p
        arguments: [--apns, "${pushServer.url}", "${pushServer.key}:${pushServer.keyID}:${pushServer.teamID}", "${pushServer.ca}"]
      apps:
        - {bundle: com.example.A, executable: a, environment: {URL: "${pushServer.productionURL}"}}
      """
    let configuration = try read(text)
    let instance = InstanceFolder(FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path)
    try instance.create()
    defer { try? FileManager.default.removeItem(atPath: instance.path) }
    let provider = try #require(configuration.provider)
    let unknown = #expect(throws: ClusterError.self) { try configuration.arguments(of: provider, in: instance) }
    #expect(unknown?.message.contains("pushServer: {}") == true)
    try PushServerAnnouncement(
      development: "https://127.0.0.1:1", production: "https://127.0.0.1:2", certificateAuthority: "/ca.pem",
      key: "/k.p8", keyID: "K", teamID: "T", pid: 1
    ).write(in: instance)
    #expect(
      try configuration.arguments(of: provider, in: instance) == [
        "--apns", "https://127.0.0.1:1", "/k.p8:K:T", "/ca.pem",
      ])
    let app = try #require(configuration.apps.first)
    #expect(try configuration.environment(of: app, in: instance, environment: [:])["URL"] == "https://127.0.0.1:2")
    #expect(throws: ClusterError.self) { try read("provider: {executable: p, arguments: ['${pushServer.port}']}") }
  }
}
