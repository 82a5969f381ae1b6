// SPDX-License-Identifier: Apache-2.0

import Cluster
import MessageBus

/// One connection for all questions and commands of a console. It is opened when it is needed first. It survives the
/// end of the broker, and is opened again when it has ended or when the instance was made again, with other keys.
actor SharedOperatorSession {
  /// The connection that commands of the current task use; nil when each opens one.
  @TaskLocal static var current: SharedOperatorSession?

  private let cluster: ClusterFacts
  nonisolated let folder: String
  private var opened: OperatorSession?
  /// The key of the bus to which the connection was opened.
  private var publicKey: String?
  private var opening: Task<OperatorSession, any Error>?

  init(_ cluster: ClusterFacts) {
    self.cluster = cluster
    folder = cluster.folder
  }

  /// The connected session.
  ///
  /// - Throws: a command error when the bus does not reply in time.
  func session(within limit: Duration) async throws -> OperatorSession {
    let announced = try? BusAnnouncement.read(in: cluster.instance)?.publicKey
    let former = opened
    if let former, announced == nil || announced == publicKey, await former.connection.end == nil { return former }
    if let opening { return try await opening.value }
    // Another caller has opened one in the meantime.
    if let opened, opened.connection !== former?.connection { return opened }
    let cluster = cluster
    let task = Task {
      await former?.connection.leave()
      return try await OperatorSession.open(cluster, within: limit)
    }
    (opening, opened, publicKey) = (task, nil, announced)
    defer { opening = nil }
    let session = try await task.value
    opened = session
    return session
  }

  /// Whether a connection is open and has reached the bus; nil when none is open.
  var isConnected: Bool? {
    get async {
      guard let opened else { return nil }
      return await opened.connection.isConnected
    }
  }

  /// Leaves the bus.
  func leave() async {
    await opened?.connection.leave()
    opened = nil
  }
}
