// SPDX-License-Identifier: Apache-2.0

import DeviceRules
package import MessageBus
package import Messages
import OwnedTasks

// Requests from the owners of sessions.

extension TransferService {
  /// `session.open`: from now on the session's events can be delivered to this instance.
  ///
  /// - Throws: `session-in-use` (definite) when another running process of the same app has a session of this
  ///   identifier open (documented); database errors.
  package func open(_ request: OpenSession, _ from: Received) throws -> OpenSession.Reply {
    let key = SessionKey(owner: from.source, identifier: request.identifier)
    let configuration = request.configuration
    if let other = delivery.stateMachine.otherProcess(with: key, context.families) {
      throw BusError(.sessionInUse, "\(other) has the session \(key.identifier) open")
    }
    try context.store.open(key, configuration, generation: from.sourceGeneration)
    // What was acknowledged is not listed.
    scheduler.commit()
    scheduler.open(key, configuration)
    // The owner runs, also if its resumption has not been reported here yet.
    context.core.handle(.resumed(from.source, generation: from.sourceGeneration))
    delivery.handle(
      .opened(key, sendsLaunchEvents: configuration.sessionSendsLaunchEvents, generation: from.sourceGeneration))
    return try delivery.taskList(of: key)
  }

  /// `session.close`: the process is no longer connected to the session. Its tasks continue.
  ///
  /// - Throws: `closed` (indefinite) when the service has left.
  package func close(_ request: CloseSession, _ from: Received) throws(BusError) -> Done {
    let key = SessionKey(owner: from.source, identifier: request.identifier)
    try context.core.record(.delivery(.closed(key, generation: from.sourceGeneration)))
    return Done()
  }

  /// `transfer.create`: the task is on disk when this returns. Repeating the request has no effect and gets the same
  /// reply.
  ///
  /// - Throws: `no-such-session` (definite) when no process ever created the session; database errors.
  package func create(_ request: CreateTransfer, _ from: Received) throws -> Done {
    try scheduler.create(request, from)
    return Done()
  }

  /// `transfer.cancel`: the task ends with -999. Has no effect on a task that has ended.
  ///
  /// - Throws: database errors.
  package func cancel(_ request: CancelTransfer, _ from: Received) async throws -> CancelTransfer.Reply {
    let key = TaskKey(
      session: SessionKey(owner: from.source, identifier: request.session), identifier: request.taskIdentifier)
    let failure = TransferFailure(code: -999, message: "cancelled")
    let resumeData = try await scheduler.stopAndEnd(key, with: failure, keepsPart: request.producesResumeData)
    return CancelTransfer.Reply(resumeData: resumeData)
  }

  /// `transfer.change`: changes properties of a task. Has no effect on a task that has ended.
  ///
  /// - Throws: database errors.
  package func change(_ request: ChangeTransfer, _ from: Received) throws -> Done {
    try scheduler.change(request, from: from.source)
    return Done()
  }
}

extension BusError.Code {
  /// The sender never created this background session.
  package static let noSuchSession = BusError.Code("no-such-session")
}
