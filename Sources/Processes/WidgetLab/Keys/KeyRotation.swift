// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import MessageBus
import Messages

/// Renews standing keys: sends a request to a process that holds one, and renews the keys of holders that are not
/// processes.
struct KeyRotation {
  /// The result for one key.
  struct Outcome: Encodable, Sendable {
    let holder: String
    let former: String?
    let current: String?
    /// How long the former key is still accepted; `nil` when no bus is running.
    var graceSeconds: Double?

    var line: String {
      guard let former, let current else {
        return "\(holder): skipped; its key is not here, and no process uses it"
      }
      let end = graceSeconds.map { ", which is rejected in \($0.formatted()) s" } ?? ", from the next start on"
      return "\(holder): \(current.prefix(8))… replaces \(former.prefix(8))…\(end)"
    }
  }

  let cluster: ClusterFacts

  private var isRunning: Bool { FileManager.default.fileExists(atPath: cluster.instance.busAnnouncement) }

  /// Resolves the holders, this tool's own key last.
  ///
  /// - Throws: a command error for a name that holds no key.
  func holders(_ names: [String]) throws -> [StandingKey.Name] {
    let all =
      cluster.configuration.agentNumbers.map { StandingKey.Name.agent($0) }
      + (cluster.configuration.pushServer == nil ? [] : [.pushServer, .fleet]) + [
        .host, .provider, .watcher, .operator,
      ]
    if names.contains("all") { return (isRunning ? [] : [.messageBus]) + all }
    let wanted = try names.map(holder)
    return ([.messageBus] + all).filter { wanted.contains($0) }
  }

  private func holder(_ name: String) throws -> StandingKey.Name {
    let knownNames = StandingKey.holders(of: cluster.configuration).map(\.name)
    if let holder = knownNames.first(where: { $0.rawValue == name }) { return holder }
    let address = try cluster.address(name)
    guard let holder = knownNames.first(where: { $0.rawValue == ClusterFacts.standingName(of: address) }) else {
      throw CommandError(
        Exit.usage, "\(address.short) has no standing key: it gets a new key at each launch", at: cluster.folder,
        advice: "use one of:\(knownNames.map(\.rawValue).joined(separator: ", "))")
    }
    return holder
  }

  /// Renews one key.
  ///
  /// - Throws: a command error, or the holder's error.
  func rotate(_ name: StandingKey.Name) async throws -> Outcome {
    guard isRunning else {
      let (former, current) = try StandingKey.replace(name, in: cluster.instance)
      return Outcome(holder: name.rawValue, former: former.publicKey, current: current.publicKey)
    }
    switch name {
    case .messageBus:
      throw CommandError(
        Exit.usage, "the broker's own key is not renewed while the cluster runs", at: cluster.folder,
        advice: "every process identifies the broker by it: run `widgetlab down`, this command, and `widgetlab up`")
    case .operator: return try await exchange(name, pattern: nil, speakingAs: { .operator($0) })
    case .watcher: return try await exchange(name, pattern: .watchers, speakingAs: { .watcher($0) })
    // Each fleet reads the new one when the broker no longer accepts the former one.
    case .fleet: return try await exchange(name, pattern: .fleets, speakingAs: { .fleet($0) })
    case .provider: return try await exchange(name, pattern: AddressPattern(.provider), speakingAs: { _ in .provider })
    default: return try await ask(name)
    }
  }

  private func ask(_ name: StandingKey.Name) async throws -> Outcome {
    let all = [cluster.host, .pushServer] + cluster.agents
    // Replicas share one key: each reads the new one when it connects again.
    guard let address = all.first(where: { ClusterFacts.standingName(of: $0) == name.rawValue }) else {
      throw CommandError(Exit.usage, "\(name) is not a process of this cluster", at: cluster.configurationPath)
    }
    return try await OperatorSession.with(cluster) { session in
      let reply = try await session.connection.request(RenewKey(), to: address, within: .seconds(30))
      return Outcome(name, reply)
    }
  }

  /// Creates, registers and installs the next key here, and uses it once.
  private func exchange(
    _ name: StandingKey.Name, pattern: AddressPattern?, speakingAs address: (String) -> Address
  ) async throws -> Outcome {
    guard StandingKey.isHere(name, in: cluster.instance) else {
      return Outcome(holder: name.rawValue, former: nil, current: nil)
    }
    return try await StandingKey.locked(name, in: cluster.instance) {
      let reply = try await OperatorSession.with(cluster) { session in
        try await StandingKey.exchange(name, pattern: pattern, over: session.connection, in: cluster.instance)
      }
      let first = try await connect(
        as: name, address: address("\(getpid())-renewed"), instance: cluster.instance, within: .seconds(10))
      await first.leave()
      return Outcome(name, reply)
    }
  }
}

extension KeyRotation.Outcome {
  fileprivate init(_ name: StandingKey.Name, _ reply: RenewKey.Reply) {
    self.init(
      holder: name.rawValue, former: reply.former, current: reply.current, graceSeconds: reply.graceSeconds)
  }
}
