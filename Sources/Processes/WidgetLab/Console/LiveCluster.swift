// SPDX-License-Identifier: Apache-2.0

import Cluster
import Console
import OwnedTasks
import Synchronization

/// The running cluster, as the console asks and changes it.
final class LiveCluster: ConsoleOperator {
  let cluster: ClusterFacts
  let session: SharedOperatorSession
  private let actions: ConsoleActions
  let changes: AsyncStream<Set<ConsoleTopic>>
  private let announce: AsyncStream<Set<ConsoleTopic>>.Continuation
  private let tasks = TaskOwner()

  init(_ cluster: ClusterFacts, commandSuffix: String) {
    self.cluster = cluster
    session = SharedOperatorSession(cluster)
    actions = ConsoleActions(cluster: cluster, commandSuffix: commandSuffix, session: session)
    (changes, announce) = AsyncStream.makeStream(of: Set<ConsoleTopic>.self, bufferingPolicy: .bufferingNewest(8))
  }

  /// Watches whether the broker runs. It asks the kernel and not the bus.
  func start() {
    tasks.start { [self] in
      var was = await isBusConnected()
      while (try? await Task.sleep(for: .milliseconds(200))) != nil {
        let isConnected = await isBusConnected()
        if isConnected != was { announce.yield([.state, .processes, .screen]) }
        was = isConnected
      }
    }
  }

  func end() async {
    announce.finish()
    await tasks.end()
    await session.leave()
  }

  /// The broker of this machine is a process; of another container's, only an open connection knows.
  func isBusConnected() async -> Bool {
    guard let announcement = try? BusAnnouncement.read(in: cluster.instance) else { return false }
    if let bus = SupervisedProcessList.read(in: cluster.folder)?.processes.first(where: { $0.name == "message-bus" }) {
      return bus.pid.map { $0 == announcement.pid && ProcessFacts(pid: $0).runs(bus.executable) } ?? false
    }
    return await session.isConnected ?? true
  }

  func perform(_ arguments: [String]) async throws -> ConsoleActionResult { try await actions.perform(arguments) }
}
extension LiveCluster {
  func processes(_ journal: ConsoleJournal) async throws -> [ConsoleProcess] { throw ConsoleError(501, "not built yet") }
  func screen(_ location: String?, _ journal: ConsoleJournal) async throws -> ConsoleScreen { throw ConsoleError(501, "not built yet") }
  func picture(_ hash: String) async -> [UInt8]? { nil }
  func gallery() async throws -> [ConsoleGalleryItem] { throw ConsoleError(501, "not built yet") }
  func budget() async throws -> ConsoleBudget { throw ConsoleError(501, "not built yet") }
  func pushes(limit: Int) async throws -> ConsolePushes { throw ConsoleError(501, "not built yet") }
}
