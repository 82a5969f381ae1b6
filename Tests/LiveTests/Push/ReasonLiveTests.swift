// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Every reason of APNs, caused by third-party providers over TLS: curl, and Python's httpx with h2.
/// Documentation/apns.md names these tests.
@Suite(.live, .timeLimit(.live)) struct `Responses to providers` {
  /// A plan that causes a reason: the response to the last request of its connection.
  private struct Case {
    let reason: String
    let status: Int
    let plan: ProviderPlan
  }

  @Test(arguments: ["httpx", "curl"])
  func `a provider receives the documented reason for each wrong request`(client: String) async throws {
    try await ProviderFixture.with("reasons", rules: ["consecutiveRequests: 5"]) { fixture in
      let cases = try await Self.requests(of: fixture) + Self.tokens(of: fixture) + Self.keys(of: fixture)
      let answers = try await fixture.send(cases.map(\.plan), with: client)
      try #require(answers.count == cases.count)
      for (one, answers) in zip(cases, answers) {
        let answer = try #require(answers.last)
        if client == "httpx", let reason = answer.goawayReason {
          #expect(reason == one.reason)
          continue
        }
        #expect(
          answer.reason == one.reason && answer.status == one.status, "\(one.reason): \(answer)")
        #expect(answers.dropLast().allSatisfy { $0.status == 200 }, "\(one.reason): \(answers)")
        #expect(answer.headers?["content-type"] == "application/json")
        #expect((answer.timestamp != nil) == (one.status == 410))
        #expect(answer.headers?["apns-id"].flatMap(UUID.init(uuidString:)) != nil)
        #expect(
          // A bad certificate is rejected before the push gets an id.
          (answer.headers?["apns-unique-id"] != nil)
            == (one.plan.url == fixture.place.development && one.reason != "BadCertificate"),
          "\(one.reason)")
      }
      let log = try await fixture.run("push", "log", "--limit", "1000", "--json")
      for one in cases {
        #expect(log.contains(one.reason), "\(one.reason) is not in the delivery log")
      }
    }
  }

  /// Requests with one fault each.
  private static func requests(of fixture: ProviderFixture) async throws -> [Case] {
    let widgets = try await fixture.token()
    let app = try await fixture.token(.app)
    let key = try await fixture.key()
    let right = ProviderPlan.Request(to: widgets, token: key)
    let alert = ProviderPlan.Request(to: app, token: key).asAlert
    func one(_ status: Int, _ reason: String, _ request: ProviderPlan.Request) -> Case {
      Case(reason: reason, status: status, plan: fixture.plan([request]))
    }
    let background = alert.with("apns-push-type", "background")
    let twice = right.changed { $0.headers.append($0.headers[1]) }
    return [
      one(400, "BadCollapseId", right.with("apns-collapse-id", String(repeating: "c", count: 65))),
      one(400, "BadDeviceToken", right.changed { $0.path = "/3/device/00ff" }),
      one(400, "BadExpirationDate", right.with("apns-expiration", "tomorrow")),
      one(400, "BadMessageId", right.with("apns-id", "1234")),
      one(400, "BadPriority", right.with("apns-priority", "7")),
      one(400, "BadPriority", background.with("apns-priority", "10")),
      one(400, "BadTopic", right.with("apns-topic", ProviderFixture.bundle)),
      // The app's own token with the widgets' topic, and the widgets' token for an alert.
      one(400, "DeviceTokenNotForTopic", right.changed { $0.path = "/3/device/" + app }),
      one(400, "DeviceTokenNotForTopic", alert.changed { $0.path = "/3/device/" + widgets }),
      one(400, "DuplicateHeaders", twice),
      one(400, "InvalidPushType", right.with("apns-push-type", "widget")),
      one(400, "MissingDeviceToken", right.changed { $0.path = "/3/device/" }),
      one(400, "MissingTopic", right.with("apns-topic", nil)),
      one(400, "PayloadEmpty", right.changed { $0.body = "" }),
      one(404, "BadPath", right.changed { $0.path = "/2/device/" + widgets }),
      one(405, "MethodNotAllowed", right.changed { $0.method = "PUT" }),
      one(
        413, "PayloadTooLarge",
        right.changed { $0.body = "{\"a\":\"" + String(repeating: "a", count: 4096) + "\"}" }),
      Case(
        reason: "TooManyRequests", status: 429, plan: fixture.plan(Array(repeating: right, count: 6))),
    ]
  }

  /// Requests with a wrong device token.
  private static func tokens(of fixture: ProviderFixture) async throws -> [Case] {
    let key = try await fixture.key()
    let other = try await fixture.token(.widgets, of: "com.example.Production", .production)
    let expired = try await fixture.token(.widgets, of: "com.example.Expired")
    try await fixture.run("token", "expire", "--app", "com.example.Expired")
    let gone = try await fixture.token(.widgets, of: "com.example.Gone")
    try await fixture.run("token", "unregister", "--app", "com.example.Gone")
    let rotated = try await fixture.token(.widgets, of: "com.example.Rotated")
    try await fixture.run("token", "rotate", "--app", "com.example.Rotated")
    return [
      (400, "BadDeviceToken", other, "Production"), (410, "ExpiredToken", expired, "Expired"),
      (410, "Unregistered", gone, "Gone"), (410, "Unregistered", rotated, "Rotated"),
    ].map { status, reason, token, name in
      let request = ProviderPlan.Request(to: token, token: key)
        .with("apns-topic", "com.example.\(name).push-type.widgets")
      return Case(reason: reason, status: status, plan: fixture.plan([request]))
    }
  }

  /// Requests with wrong credentials.
  private static func keys(of fixture: ProviderFixture) async throws -> [Case] {
    let widgets = try await fixture.token(.widgets, of: ProviderFixture.bundle)
    let key = try await fixture.key()
    let right = ProviderPlan.Request(to: widgets, token: key)
    func with(_ token: ProviderPlan.Token?) -> ProviderPlan.Request {
      right.changed { $0.token = token }
    }
    func made(_ arguments: String...) async throws -> ProviderPlan.Token {
      let made = try await fixture.make(arguments)
      return ProviderPlan.Token(key: made.path, kid: made.id, iss: made.teamID ?? "")
    }
    let otherTeam = try await made("provider", "--team", "OTHERTEAM1")
    let ofTopic = try await made("provider", "--topic", ProviderFixture.bundle)
    let ofOtherTopic = try await made("provider", "--topic", "com.example.Other")
    let forProduction = try await fixture.key(.production)
    let forged = key.changed { $0.key = otherTeam.key }
    let certificate = try await fixture.make([
      "certificate", ProviderFixture.bundle, "--environment", "development",
    ])
    let mine = [certificate.path, certificate.keyPath ?? ""]
    let foreign = try await fixture.foreignCertificate()
    func one(_ status: Int, _ reason: String, _ requests: ProviderPlan.Request...) -> Case {
      Case(reason: reason, status: status, plan: fixture.plan(requests))
    }
    return [
      one(403, "MissingProviderToken", with(nil)),
      one(403, "InvalidProviderToken", with(forged)),
      one(403, "ExpiredProviderToken", with(key.changed { $0.ago = 3700 })),
      one(403, "BadEnvironmentKeyIdInToken", with(forProduction)),
      one(403, "Forbidden", right, with(otherTeam)),
      one(403, "UnrelatedKeyIdInToken", right, with(ofTopic)),
      one(400, "TopicDisallowed", with(ofOtherTopic)),
      one(429, "TooManyProviderTokenUpdates", right, with(key.changed { $0.ago = 60 })),
      Case(
        reason: "BadCertificate", status: 403, plan: fixture.plan([with(nil)], certificate: foreign)),
      Case(
        reason: "BadCertificateEnvironment", status: 403,
        plan: fixture.plan([with(nil)], .production, certificate: mine)),
      Case(
        reason: "TopicDisallowed", status: 400, plan: fixture.plan([with(nil)], certificate: mine)),
    ]
  }

  @Test(arguments: ["httpx", "curl"])
  func `a provider receives a server error when the operator sets one`(client: String) async throws {
    try await ProviderFixture.with("answers") { fixture in
      let token = try await fixture.token()
      let request = ProviderPlan.Request(to: token, token: try await fixture.key())
      for (status, reason) in [(500, "InternalServerError"), (503, "ServiceUnavailable")] {
        try await fixture.run("apns", "answer", "\(status)", reason, "--token", token)
        let answers = try await fixture.send([fixture.plan([request, request])], with: client)
        #expect(answers[0].map(\.status) == [status, 200])
        #expect(answers[0].map(\.reason) == [reason, nil])
      }
    }
  }

  @Test(.rule("APNS-37"))
  func `a provider receives IdleTimeout when its connection is idle for too long`() async throws {
    try await ProviderFixture.with("idle", rules: ["idleTimeout: 10"]) { fixture in
      let request = ProviderPlan.Request(to: try await fixture.token(), token: try await fixture.key())
      var plan = fixture.plan([request])
      plan.untilClosed = true
      let answers = try await fixture.send([plan], with: "h2")[0]
      #expect(answers.map(\.status) == [200, nil])
      #expect("IdleTimeout" == answers.last?.goawayReason)
    }
  }

  @Test func `a provider receives Shutdown when the push server stops`() async throws {
    try await ProviderFixture.with("shutdown") { fixture in
      let request = ProviderPlan.Request(to: try await fixture.token(), token: try await fixture.key())
      var plan = fixture.plan([request])
      plan.untilClosed = true
      let script = try await fixture.begin("provider.py", ["h2"], plan: [plan])
      let ending = Task { await script.child.ending() }
      while LabProcess(pid: script.child.pid).isAlive,
        (try? String(contentsOfFile: script.errors, encoding: .utf8))?.contains("idle") != true
      {
        try await Task.sleep(for: .milliseconds(10))  // polls the script's output
      }
      kill(fixture.place.pid, SIGTERM)
      #expect(await ending.value == 0)
      let output = try Data(contentsOf: URL(fileURLWithPath: script.output))
      let answers = try JSONDecoder().decode([[ProviderPlan.Answer]].self, from: output)
      #expect("Shutdown" == answers[0].last?.goawayReason)
    }
  }

  @Test(arguments: ["httpx", "curl"])
  func `a provider's push is accepted in every form that real providers use`(client: String) async throws {
    try await ProviderFixture.with("forms") { fixture in
      let key = try await fixture.key()
      let widgets = try await fixture.token()
      let app = try await fixture.token(.app)
      let certificate = try await fixture.make(["certificate", ProviderFixture.bundle])
      let right = ProviderPlan.Request(to: widgets, token: key)
      let now = "\(Int(Date().timeIntervalSince1970))"
      let id = "EABEAE54-14A8-11E5-B60B-1697F925EC7B"
      let connections = [
        fixture.plan([right, right.with("apns-id", id), right.with("apns-expiration", "0")]),
        // Signed as in Apple's shell recipe.
        fixture.plan([right.changed { $0.token = key.changed { $0.openssl = true } }]),
        fixture.plan([right.changed { $0.token = key.changed { $0.iat = now } }]),
        fixture.plan([ProviderPlan.Request(to: app, token: key).asAlert]),
        fixture.plan(
          [ProviderPlan.Request(to: app, token: nil).asAlert],
          certificate: [certificate.path, certificate.keyPath ?? ""]),
      ]
      let answers = try await fixture.send(connections, with: client)
      for answer in answers.joined() {
        #expect(answer.status == 200 && answer.reason == nil, "\(answer)")
      }
      #expect(answers[0][1].headers?["apns-id"] == id)
    }
  }

  /// The request of Apple's *Updating widgets with WidgetKit push notifications*.
  @Test(.rule("APNS-20"), arguments: ["httpx", "curl"])
  func `Apple's sample request is accepted byte for byte when it has a provider token`(client: String) async throws {
    try await ProviderFixture.with("sample") { fixture in
      var sample = ProviderPlan.Request(to: try await fixture.token(), token: nil)
      sample.body = "{\n    \"aps\": {\n        \"content-changed\": true,     \n    }\n}"
      sample.headers.insert(["host", "api.sandbox.push.apple.com"], at: 0)
      let key = try await fixture.key()
      let answers = try await fixture.send(
        [fixture.plan([sample]), fixture.plan([sample.changed { $0.token = key }])], with: client)
      #expect(answers[0][0].status == 403 && answers[0][0].reason == "MissingProviderToken")
      #expect(answers[1][0].status == 200)
      let log = try await fixture.run("push", "log", "--json")
      #expect(log.contains("the payload is not JSON"))
    }
  }

  @Test
  func `aioapns sends many pushes over one connection, and three in ten of them are refused`() async throws {
    struct Plan: Encodable {
      let url: String
      let ca: String
      let key: String
      let keyID: String
      let teamID: String
      let topic = ProviderFixture.bundle + ".push-type.widgets"
      let tokens: [String]
      let count = BulkFixture.isLong ? 3000 : 600

      enum CodingKeys: String, CodingKey {
        case url, ca, key, topic, tokens, count
        case keyID = "key_id"
        case teamID = "team_id"
      }
    }
    try await ProviderFixture.with("aioapns") { fixture in
      let key = try await fixture.key()
      let right = try await fixture.token()
      let app = try await fixture.token(.app)
      let gone = try await fixture.token(.widgets, of: "com.example.Gone")
      try await fixture.run("token", "unregister", "--app", "com.example.Gone")
      let tokens = Array(repeating: right, count: 7) + [app, gone, "00ff"]
      let plan = Plan(
        url: fixture.place.development, ca: fixture.place.certificateAuthority, key: key.key,
        keyID: key.kid,
        teamID: key.iss, tokens: tokens)
      let output = try await fixture.script("aioapns_pushes.py", plan: plan)
      let counts = try JSONDecoder().decode([String: Int].self, from: output)
      #expect(
        counts == [
          "200": plan.count / 10 * 7, "DeviceTokenNotForTopic": plan.count / 10, "Unregistered": plan.count / 10,
          "BadDeviceToken": plan.count / 10, "connections": 1,
        ])
    }
  }
}

extension ProviderPlan.Answer {
  /// The reason in the JSON of a GOAWAY.
  fileprivate var goawayReason: String? {
    struct Said: Decodable { let reason: String }
    return goaway.flatMap { try? JSONDecoder().decode(Said.self, from: Data($0.utf8)) }?.reason
  }
}

extension ProviderFixture {
  /// A client certificate that no authority of this push server signed.
  fileprivate func foreignCertificate() async throws -> [String] {
    let folder = lone.instance.path
    let paths = ["\(folder)/foreign.pem", "\(folder)/foreign-key.pem"]
    let child = try await LabChild.start(
      "/usr/bin/openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
        "1", "-subj",
        "/UID=\(Self.bundle)", "-out", paths[0], "-keyout", paths[1],
      ], output: "\(folder)/openssl.out", errors: "\(folder)/openssl.err")
    guard await child.ending() == 0 else { throw LabError("openssl made no certificate") }
    return paths
  }
}
