// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import MessageBus
import Messages
import Synchronization
import Testing
import WidgetLabTesting

/// A `message-bus` and a `push-server` with their own instance; the test acts as the device and kills processes.
struct LonePushServer: Sendable {
  static let device = "iphone"
  static let bundle = "com.example.Pushed"
  static let widgets = PushSubject(device: device, bundle: bundle, use: .widgets)

  let instance: InstanceFolder
  let executables: String
  private let living: Living

  /// The child processes that have not exited.
  private final class Living: Sendable {
    /// In the order of their starts. Pids begin again at the lowest one.
    private let children = Mutex<[(pid: Int32, ending: Task<Int32, Never>)]>([])
    func began(_ child: LabChild) {
      children.withLock { $0.append((child.pid, Task { await child.ending() })) }
    }
    func ended(_ pid: Int32) async -> Int32? {
      let ending = children.withLock { children in
        children.firstIndex { $0.pid == pid }.map { children.remove(at: $0).ending }
      }
      return await ending?.value
    }
    var pids: [Int32] { children.withLock { $0.map(\.pid) } }
  }

  /// Starts both, runs the body and stops both, `WIDGETLAB_REPEAT` times; leaves no files.
  ///
  /// - Parameters:
  ///   - settings: lines of `name: value` for `pushServer`.
  ///   - bus: the same for `bus`.
  ///   - replicas: the names of the push servers that start, when they share a database.
  static func run(
    _ name: String, settings: [String] = [], bus: [String] = [], replicas: [String] = [],
    _ body: @Sendable (LonePushServer) async throws -> Void
  ) async throws {
    let rounds = LiveTrait.rounds
    for round in 1...rounds {
      do {
        try await once(settings, bus: bus, replicas: replicas, body: body)
      } catch {
        throw LabError("\(name), round \(round) of \(rounds): \(error)")
      }
    }
  }

  private static func once(
    _ settings: [String], bus: [String], replicas: [String],
    body: @Sendable (LonePushServer) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lone-push-\(UUID().uuidString)").path
    let instance = InstanceFolder(folder)
    let rules = (["productionPort: 0"] + settings).map { "\n  \($0)" }.joined()
    let limits = bus.isEmpty ? "" : "bus:" + bus.map { "\n  \($0)" }.joined() + "\n"
    let yaml =
      limits
      + "device:\n  name: \(device)\napps:\n  - bundle: \(bundle)\n    executable: nothing\npushServer:\(rules)\n"
    try StandingKey.makeAll(for: try ClusterConfiguration(yaml: yaml), in: instance)
    defer { try? LabRemains.retire(folder) }
    try yaml.write(toFile: folder + "/widgetlab.yaml", atomically: true, encoding: .utf8)
    let lone = LonePushServer(instance: instance, executables: try LabCluster.findExecutables(), living: Living())
    do {
      try await lone.begin("message-bus", ["--config", lone.configuration])
      if replicas.isEmpty { _ = try await lone.start() }
      for replica in replicas { _ = try await lone.start(replica) }
      try await body(lone)
    } catch {
      for pid in lone.living.pids { await lone.end(pid, SIGKILL) }
      throw error
    }
    // The bus was started first and stops last, because the push server sends a goodbye to it.
    for pid in lone.living.pids.reversed() {
      let status = await lone.end(pid, SIGTERM)
      #expect(status == 0, "pid \(pid)")
    }
  }

  private var configuration: String { instance.path + "/widgetlab.yaml" }

  @discardableResult
  private func begin(_ executable: String, _ arguments: [String], name: String? = nil) async throws -> Int32 {
    let child = try await LabChild.start(
      "\(executables)/\(executable)",
      ["--instance", instance.path] + arguments + ["--die-with-parent", "\(getpid())"],
      output: "\(instance.path)/\(name ?? executable).out", errors: "\(instance.path)/\(name ?? executable).err")
    living.began(child)
    return child.pid
  }

  @discardableResult
  private func end(_ pid: Int32, _ signal: Int32) async -> Int32? {
    try? LabProcess(pid: pid).signal(signal)
    return await living.ended(pid)
  }

  /// Starts the push server, and returns when it has announced itself.
  ///
  /// - Parameter replica: the name of one that shares a database; `nil` for one with its own.
  func start(_ replica: String? = nil) async throws -> PushServerAnnouncement {
    let name = replica.map { "push-server-\($0)" } ?? "push-server"
    let pid = try await begin(
      "push-server", ["--config", configuration] + (replica.map { ["--replica", $0] } ?? []), name: name)
    let deadline = ContinuousClock.now + LabTimeout.usual
    while ContinuousClock.now < deadline {
      if let announcement = try announcement(of: replica), announcement.pid == pid { return announcement }
      try await Task.sleep(for: .milliseconds(10))  // polls for the announcement
    }
    let log = try? String(contentsOfFile: instance.path + "/\(name).err", encoding: .utf8)
    throw LabError("the push server does not announce itself; it logged: \(log ?? "nothing")")
  }

  /// The announcement of a replica that has started.
  func announced(_ replica: String) async throws -> PushServerAnnouncement {
    try #require(try announcement(of: replica))
  }

  private func announcement(of replica: String?) throws -> PushServerAnnouncement? {
    guard let replica else { return try PushServerAnnouncement.read(in: instance) }
    return try PushServerAnnouncement.read(at: instance.pushServerAnnouncement(of: replica))
  }

  /// Kills the push server with SIGKILL, and waits for its exit.
  func kill(_ replica: String? = nil) async throws {
    let announcement = try #require(try announcement(of: replica))
    #expect(await end(announcement.pid, SIGKILL) == 128 + SIGKILL)
  }

  /// Ends the push server with SIGTERM, and waits for its exit.
  func stop(_ replica: String) async throws {
    let announcement = try #require(try announcement(of: replica))
    #expect(await end(announcement.pid, SIGTERM) == 0)
  }

  // MARK: Connections

  /// Connects as the device, and calls `handler` with each notification.
  func device(
    _ handler: @escaping @Sendable (PushedNotification, Received) async throws -> Void
  ) async throws -> Connection {
    try await connect(as: .host, address: .host(Self.device), instance: instance, within: LabTimeout.usual) {
      connection in
      connection.onEvent(DeliverPush.self) { event, from in try await handler(event.notification, from) }
      connection.onEvent(TokenReplaced.self) { _, _ in }
    }
  }

  func `operator`() async throws -> Connection {
    try await connect(
      as: .operator, address: .operator("\(UInt32.random(in: 1...9_999_999))"), instance: instance,
      within: LabTimeout.usual)
  }

  func token(_ device: Connection) async throws -> String {
    let issue = IssueToken(bundle: Self.bundle, use: .widgets, environment: .development)
    return try await device.request(issue, to: .pushServer, within: LabTimeout.usual, whenUnreachable: .wait).token
  }

  /// A widget push as an operator sends it.
  static var push: SendPush {
    SendPush(
      token: nil, subject: widgets,
      headers: ["apns-push-type": "widgets", "apns-topic": "\(bundle).push-type.widgets"],
      payload: #"{"aps":{"content-changed":true}}"#)
  }

  /// Waits until a notification reaches a step; returns its record in the delivery log.
  func record(_ id: UUID, at name: PushStep.Name, _ tool: Connection) async throws -> PushRecord {
    let deadline = ContinuousClock.now + LabTimeout.usual
    var seen: PushRecord?
    while ContinuousClock.now < deadline {
      let page = try await tool.request(
        ListPushes(uniqueID: id), to: .pushServer, within: LabTimeout.usual, whenUnreachable: .wait)
      seen = page.pushes.first
      if let seen, seen.steps.contains(where: { $0.name == name }) { return seen }
      try await Task.sleep(for: .milliseconds(20))  // polls the delivery log
    }
    throw LabError("\(id) did not reach \(name.rawValue): \(String(describing: seen))")
  }

  /// Runs `widgetlab` in this instance.
  func tool(_ arguments: String...) async throws -> LabCluster.Answer { try await tool(arguments) }

  func tool(_ arguments: [String]) async throws -> LabCluster.Answer {
    try await LabCluster.tool(
      arguments + ["--instance", instance.path, "--config", configuration], executables: executables,
      in: instance.path)
  }

  /// The result of curl.
  struct Curled: Sendable {
    /// Its exit code.
    let status: Int32
    let output: String
    let errors: String
  }

  /// Sends a widget push over TLS with curl and a provider token that openssl signed.
  ///
  /// - Returns: curl's exit code and its output: the headers, the body, and `HTTP <status>`.
  func curl(
    _ server: PushServerAnnouncement, token: String, topic: String = "\(bundle).push-type.widgets",
    arguments: String = ""
  ) async throws -> Curled {
    let script = """
      b64() { openssl base64 -e -A | tr -- '+/' '-_' | tr -d =; }
      head=$(printf '{"alg":"ES256","kid":"\(server.keyID)"}' | b64)
      claims=$(printf '{"iss":"\(server.teamID)","iat":%s}' "$(date +%s)" | b64)
      signature=$(printf '%s.%s' "$head" "$claims" | openssl dgst -binary -sha256 -sign '\(server.key)' | b64)
      curl -sS -i --http2 --max-time 120 --cacert '\(server.certificateAuthority)' -H 'apns-push-type: widgets' \
        -H 'apns-topic: \(topic)' -H "authorization: bearer $head.$claims.$signature" \
        -w '\\nHTTP %{http_code}\\n' -d '{"aps":{"content-changed":true}}' \(arguments) \
        '\(server.development)/3/device/\(token)'
      """
    let name = "\(instance.path)/curl-\(UUID().uuidString)"
    let child = try await LabChild.start("/bin/sh", ["-c", script], output: name + ".out", errors: name + ".err")
    let status = await child.ending()
    return Curled(
      status: status, output: try String(contentsOfFile: name + ".out", encoding: .utf8),
      errors: try String(contentsOfFile: name + ".err", encoding: .utf8))
  }
}
