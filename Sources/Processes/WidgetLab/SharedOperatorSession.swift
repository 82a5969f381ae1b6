// SPDX-License-Identifier: Apache-2.0

import MessageBus

/// One connection for all questions and commands of a console. It is opened when it is needed first. It survives the
/// end of the broker, and is opened again when it has ended.
actor SharedOperatorSession {
  /// The connection that commands of the current task use; nil when each opens one.
  @TaskLocal static var current: SharedOperatorSession?

  private let cluster: ClusterFacts
  nonisolated let folder: String
  private var opened: OperatorSession?
  private var opening: Task<OperatorSession, any Error>?

  init(_ cluster: ClusterFacts) {
    self.cluster = cluster
    folder = cluster.folder
  }

  /// The connected session.
  ///
  /// - Throws: a command error when the bus does not reply in time.
  func session(within limit: Duration) async throws -> OperatorSession {
    if let opened, await opened.connection.end == nil { return opened }
    if let opening { return try await opening.value }
    let cluster = cluster
    let task = Task { try await OperatorSession.open(cluster, within: limit) }
    opening = task
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
