// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing
import WidgetLabTesting

/// A push server, a device that requests tokens and has received nothing yet, and third-party providers that send to
/// the server over TLS.
struct ProviderFixture {
  static let bundle = "com.example.CaffeineTracker"

  let lone: LonePushServer
  let place: PushServerAnnouncement
  /// The connection of the device.
  private let device: Connection

  /// Starts the push server, runs the body, and stops the server.
  ///
  /// - Parameter rules: lines of `pushServer` in the configuration.
  static func with(
    _ name: String, rules: [String] = [], _ body: @escaping @Sendable (ProviderFixture) async throws -> Void
  ) async throws {
    try await LonePushServer.run(name, settings: rules) { lone in
      let place = try #require(try PushServerAnnouncement.read(in: lone.instance))
      let device = try await lone.device { _, _ in }
      do {
        try await body(ProviderFixture(lone: lone, place: place, device: device))
      } catch {
        await device.leave()
        throw error
      }
      await device.leave()
    }
  }

  private var folder: String { lone.instance.path }

  // MARK: The device and the operator

  /// Requests a device token.
  func token(
    _ use: PushTokenUse = .widgets, of bundle: String = bundle,
    _ environment: PushEnvironment = .development
  ) async throws -> String {
    try await device.request(
      IssueToken(bundle: bundle, use: use, environment: environment), to: .pushServer,
      within: LabTimeout.usual,
      whenUnreachable: .wait
    ).token
  }

  /// Runs a command of `widgetlab` and returns its output.
  @discardableResult
  func run(_ arguments: String...) async throws -> String {
    let answer = try await LabCluster.tool(
      arguments + ["--instance", folder], executables: lone.executables, in: folder)
    guard answer.status == 0 else { throw LabError("widgetlab \(arguments.joined(separator: " ")): \(answer.errors)") }
    return answer.output
  }

  /// The output of `widgetlab keys provider` or `widgetlab keys certificate`.
  struct Made: Decodable {
    let id: String
    let teamID: String?
    let path: String
    let keyPath: String?
  }

  func make(_ arguments: [String]) async throws -> Made {
    let answer = try await LabCluster.tool(
      ["keys"] + arguments + ["--json", "--instance", folder], executables: lone.executables, in: folder)
    guard answer.status == 0 else {
      throw LabError("widgetlab keys \(arguments): \(answer.errors)")
    }
    return try JSONDecoder().decode(Made.self, from: Data(answer.output.utf8))
  }

  /// The first key of an environment, as `widgetlab env` prints it for a provider.
  func key(_ environment: PushEnvironment = .development) async throws -> ProviderPlan.Token {
    struct Facts: Decodable {
      let key: String
      let keyID: String
      let teamID: String
    }
    let text = try await run("env", "--json", "--environment", environment.rawValue)
    let facts = try JSONDecoder().decode(Facts.self, from: Data(text.utf8))
    return ProviderPlan.Token(key: facts.key, kid: facts.keyID, iss: facts.teamID)
  }

  // MARK: The provider

  /// Runs a script of `scripts/push.d` to its end.
  ///
  /// - Throws: `LabError` with its standard error.
  func script<P: Encodable>(_ name: String, _ arguments: [String] = [], plan: P) async throws
    -> Data
  {
    let script = try await begin(name, arguments, plan: plan)
    guard await script.child.ending() == 0 else {
      throw LabError(
        "\(name): \((try? String(contentsOfFile: script.errors, encoding: .utf8)) ?? "")")
    }
    return try Data(contentsOf: URL(fileURLWithPath: script.output))
  }

  struct Script {
    let child: LabChild
    let output: String
    let errors: String
  }

  func begin<P: Encodable>(_ name: String, _ arguments: [String], plan: P) async throws -> Script {
    let path = "\(folder)/plan-\(UUID().uuidString)"
    try JSONEncoder().encode(plan).write(to: URL(fileURLWithPath: path + ".json"))
    let child = try await LabChild.start(
      "/usr/bin/python3", [Repository.root.path + "/scripts/push.d/" + name] + arguments + [path + ".json"],
      output: path + ".out", errors: path + ".err")
    return Script(child: child, output: path + ".out", errors: path + ".err")
  }

  /// Sends the planned requests with a client; each plan uses one connection.
  func send(_ plan: [ProviderPlan], with client: String) async throws -> [[ProviderPlan.Answer]] {
    let output = try await script("provider.py", [client], plan: plan)
    return try JSONDecoder().decode([[ProviderPlan.Answer]].self, from: output)
  }

  /// A plan for one connection, by default to the development port and without a client certificate.
  func plan(
    _ requests: [ProviderPlan.Request], _ environment: PushEnvironment = .development,
    certificate: [String]? = nil
  ) -> ProviderPlan {
    ProviderPlan(
      url: environment == .development ? place.development : place.production,
      ca: place.certificateAuthority,
      certificate: certificate, requests: requests)
  }
}

/// The requests of a provider on one connection: the input of `scripts/push.d/provider.py`.
struct ProviderPlan: Encodable {
  struct Token: Encodable {
    var key: String
    var kid: String
    var iss: String
    /// The token's age in seconds.
    var ago = 0
    /// `iat` as a string.
    var iat: String?
    /// Whether the signature is in DER, as in Apple's shell recipe.
    var openssl: Bool?

    func changed(_ change: (inout Token) -> Void) -> Token {
      var token = self
      change(&token)
      return token
    }
  }

  struct Request: Encodable {
    var method = "POST"
    /// `:scheme`; only with h2.
    var scheme: String?
    var path: String
    var headers: [[String]]
    var body = #"{"aps":{"content-changed":true}}"#
    var token: Token?

    /// A correct widget push.
    init(to device: String, token: Token?) {
      path = "/3/device/" + device
      headers = [
        ["apns-push-type", "widgets"], ["apns-topic", ProviderFixture.bundle + ".push-type.widgets"],
      ]
      self.token = token
    }

    func with(_ name: String, _ value: String?) -> Request {
      changed { request in
        request.headers.removeAll { $0[0] == name }
        if let value { request.headers.append([name, value]) }
      }
    }

    func changed(_ change: (inout Request) -> Void) -> Request {
      var request = self
      change(&request)
      return request
    }

    /// An alert to the app.
    var asAlert: Request {
      with("apns-push-type", "alert").with("apns-topic", ProviderFixture.bundle)
    }
  }

  struct Answer: Decodable {
    let status: Int?
    let reason: String?
    /// Milliseconds.
    let timestamp: Int64?
    let headers: [String: String]?
    /// The debug data of a GOAWAY.
    let goaway: String?
    /// The server's last limit of concurrent streams; only with h2.
    let streams: Int?
    /// When the response was complete, in microseconds since 1970; only with h2.
    let received: Int64?
  }

  let url: String
  let ca: String
  let certificate: [String]?
  let requests: [Request]
  var untilClosed: Bool?

  enum CodingKeys: String, CodingKey {
    case url, ca, certificate, requests
    case untilClosed = "until_closed"
  }
}
