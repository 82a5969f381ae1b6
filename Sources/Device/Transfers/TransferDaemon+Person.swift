package import Conversations
import Foundation
import MessageBus

// What a person does to the device, as far as transfers are concerned.

extension TransferDaemon {
  /// `begin()` with the network as it is.
  package func begin(network: NetworkState) throws {
    setNetwork(network)
    try begin()
  }

  /// The network changed.
  package func setNetwork(_ state: NetworkState) { network = state }

  /// A person ended the app: all tasks of its sessions end with -999.
  package func forceQuit(_ app: Address) throws {
    let from = Received(EnvelopeHeader(kind: ForceQuitApp.kind, source: app, destination: bus.address))
    for task in try store.tasks() where task.key.session.owner == app && !task.hasEnded {
      _ = try cancel(
        CancelTransfer(session: task.key.session.identifier, taskIdentifier: task.key.identifier), from)
    }
  }

  /// `session.list`.
  package func list(_ request: ListSessions, clock: ClockState) throws -> ListSessions.Reply {
    let tasks = try store.tasks().filter { request.session ?? $0.key.session.identifier == $0.key.session.identifier }
    let reports = tasks.dropFirst(request.offset).prefix(128).map { task in
      TaskReport(
        owner: task.key.session.owner, session: task.key.session.identifier,
        task: TaskSnapshot(
          taskIdentifier: task.key.identifier, request: task.request, taskDescription: task.description,
          bytesReceived: WholeFile.size(path(task.key)), bytesExpected: task.response?.expectedLength ?? -1),
        state: task.hasEnded ? .ended : .loading, waitsFor: nil, nextTry: nil, attempts: 1, response: task.response,
        failure: task.failure)
    }
    let sessions = try status().filter { request.session ?? $0.session == $0.session }.map { status in
      let key = SessionKey(owner: status.owner, identifier: status.session)
      return SessionReport(
        owner: status.owner, session: status.session,
        configuration: try store.configuration(of: key) ?? SessionConfiguration(),
        openIn: decision.sessions[key]?.openIn, running: status.running, undelivered: status.undelivered, waitsFor: nil,
        limitedUntil: nil)
    }
    return ListSessions.Reply(
      network: network, clock: clock, sessions: request.offset == 0 ? sessions : [], tasks: Array(reports),
      taskCount: tasks.count)
  }
}
