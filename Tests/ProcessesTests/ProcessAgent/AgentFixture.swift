// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Cluster
import Foundation
import Glibc
import MessageBus
import Messages
import Synchronization
import Testing

@testable import ProcessAgent

/// An agent with real children on an in-memory bus, and a host.
final class AgentFixture: Sendable {
  static let child = Address.app("d", "com.example.A")
  let folder: String
  let bus = InMemoryBus()
  let host: Connection
  let agent: Agent
  private let agentConnection: Connection

  /// - Parameter isHostDeaf: the host acknowledges no event until it is replaced.
  init(isHostDeaf: Bool = false, reportedPid: @escaping @Sendable (Int32) -> Int32 = { $0 }) async throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("agent-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
    agentConnection = bus.connection(.agent("d", 1))
    agent = Agent(
      connection: agentConnection,
      executables: ExecutableSearch(
        configuration: folder + "/widgetlab.yaml", named: folder + "/bin", environment: [:]),
      bus: { BusPlace(endpoint: "tcp://127.0.0.1:1", serverKey: "key") }, reportedPid: reportedPid)
    host = try await AgentFixture.startHost(on: bus, isDeaf: isHostDeaf)
    agent.listen()
    _ = try await agentConnection.start()
    await agent.begin()
  }

  /// - Parameter isDeaf: the host acknowledges no event.
  static func startHost(on bus: InMemoryBus, isDeaf: Bool = false) async throws -> Connection {
    let host = bus.connection(.host("d"))
    // A deaf host does not acknowledge within the duration of any test.
    let hear: @Sendable () async throws -> Void = { if isDeaf { try await Task.sleep(for: .seconds(3600)) } }
    host.onEvent(AgentStarted.self) { _, _ in try await hear() }
    host.onEvent(ProcessExited.self) { _, _ in try await hear() }
    host.onEvent(MemoryExceeded.self) { _, _ in try await hear() }
    host.onEvent(LocksHeld.self) { _, _ in try await hear() }
    _ = try await host.start()
    return host
  }

  func end() async {
    await agent.end()
    await agentConnection.leave()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Writes a script and asks the agent to spawn it.
  func spawn(
    _ script: String, address: Address = AgentFixture.child, environment: [String: String] = [:],
    memory: MemoryLimit? = nil
  ) async throws -> SpawnProcess.Reply {
    let name = "script-\(UUID().uuidString)"
    let path = "\(folder)/bin/\(name)"
    try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o700)
    while true {
      do {
        return try await spawn(executable: name, address: address, environment: environment, memory: memory)
      } catch let error as BusError where error.message.contains("errno \(ETXTBSY)") {
        // Another test was spawning a child, which held the script open for writing until its exec.
        continue
      }
    }
  }

  func spawn(
    executable: String, address: Address = AgentFixture.child, environment: [String: String] = [:],
    memory: MemoryLimit? = nil, id: UUID = UUID()
  ) async throws -> SpawnProcess.Reply {
    let request = SpawnProcess(
      address: address, executable: executable, environment: environment,
      container: "\(folder)/home/\(address.bundleIdentifier ?? "")", groups: ["group.a": "\(folder)/group"],
      memory: memory, reason: "test")
    return try await host.request(
      request, to: .agent("d", 1), id: id, context: .none, within: .seconds(60), whenUnreachable: .fail)
  }

  /// Writes a program that the kernel refuses to execute: an ELF header without the sections that it refers to.
  ///
  /// - Returns: its name, for a spawn request.
  func damagedProgram() throws -> String {
    let path = folder + "/bin/damaged"
    try Data(contentsOf: URL(fileURLWithPath: "/bin/sh")).prefix(64).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o700)
    return "damaged"
  }

  func signal(_ signal: Int32, generation: UInt32? = nil) async throws -> SignalProcess.Reply {
    try await host.request(
      SignalProcess(address: AgentFixture.child, generation: generation, signal: signal), to: .agent("d", 1))
  }

  func children() async throws -> [ChildProcess] {
    try await host.request(ListProcesses(), to: .agent("d", 1)).children
  }

  /// Waits for the first matching message of a type, including messages that were already sent.
  func received<C: Message>(
    _ type: C.Type, where matches: @escaping @Sendable (C) -> Bool = { _ in true }
  ) async throws -> C {
    let envelope = await bus.first { envelope in
      guard envelope.header.kind == C.kind, let message = try? BodyCoding.decode(C.self, from: envelope.body) else {
        return false
      }
      return matches(message)
    }
    return try BodyCoding.decode(C.self, from: try #require(envelope).body)
  }

  func exit(of generation: UInt32) async throws -> ProcessExited {
    try await received(ProcessExited.self) { $0.generation == generation }
  }

  /// Returns all output lines of an instance that were sent until now.
  func lines(of generation: UInt32, _ stream: String = "stdout") async throws -> [String] {
    try await bus.sentEnvelopes.filter { $0.header.kind == ProcessOutput.kind }
      .map { try BodyCoding.decode(ProcessOutput.self, from: $0.body) }
      .filter { $0.generation == generation && $0.stream == stream }.map(\.line)
  }

  /// The state letter of a process, from `/proc/PID/stat`.
  static func state(_ pid: Int32) -> Character? {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    return text[text.index(end, offsetBy: 2)]
  }
}

/// Runs a test on a fixture, and ends the fixture even after an error.
func withFixture(
  isHostDeaf: Bool = false, reportedPid: @escaping @Sendable (Int32) -> Int32 = { $0 },
  _ body: (AgentFixture) async throws -> Void
) async throws {
  let fixture = try await AgentFixture(isHostDeaf: isHostDeaf, reportedPid: reportedPid)
  do {
    try await body(fixture)
  } catch {
    await fixture.end()
    throw error
  }
  await fixture.end()
}
