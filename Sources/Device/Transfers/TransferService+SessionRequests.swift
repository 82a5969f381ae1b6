import Foundation
package import MessageBus
package import Messages
import Timekeeping

// Requests from the owners of sessions.

extension TransferService {
  /// `session.open`: from now on the session's events can be delivered to this instance.
  ///
  /// - Throws: `session-in-use` (definite) when another running process of the same app has a session of this
  ///   identifier open (documented); database errors.
  package func open(_ request: OpenSession, _ from: Received) throws -> OpenSession.Reply {
    let key = SessionKey(owner: from.source, identifier: request.identifier)
    if let other = otherProcess(with: key) {
      throw BusError(.sessionInUse, "\(other) has the session \(key.identifier) open")
    }
    try store.open(key, request.configuration)
    configurations[key] = request.configuration
    handle(LoadingStateMachine.Event.opened(key, LoadingStateMachine.SessionPolicy(request.configuration)))
    handle(
      DeliveryStateMachine.Event.opened(
        key, sendsLaunchEvents: request.configuration.sessionSendsLaunchEvents, generation: from.sourceGeneration))
    let listed = try store.tasks(of: key).filter { settings.listsEndedTasks || !$0.hasEnded }
    let tasks = listed.map { $0.snapshot(bytes: WholeFile.size(path($0.key))) }
    let next = try store.nextTaskIdentifier(of: key)
    let list = lists[key.owner] ?? UUID()
    lists[key.owner] = list
    let file = try overflow(OpenSession.Reply(nextTaskIdentifier: next, tasks: []), tasks, for: key.owner, list)
    return OpenSession.Reply(nextTaskIdentifier: next, tasks: file == nil ? tasks : [], tasksFile: file)
  }

  /// Another process of the owner's app or its extensions that has a session of this identifier open.
  private func otherProcess(with key: SessionKey) -> Address? {
    let family = families.family(of: key.owner)
    return stateMachine.sessions.all.first { other, session in
      other.identifier == key.identifier && other.owner != key.owner && session.openIn != nil
        && families.family(of: other.owner) == family
    }?.key.owner
  }

  /// `session.close`: the process is no longer connected to the session. Its tasks continue.
  package func close(_ request: CloseSession, _ from: Received) -> Done {
    let key = SessionKey(owner: from.source, identifier: request.identifier)
    handle(.closed(key, generation: from.sourceGeneration))
    return Done()
  }

  /// `transfer.create`: the task is on disk when this returns. Repeating the request has no effect and gets the same
  /// reply.
  ///
  /// - Throws: `no-such-session` (definite) when no process ever created the session; database errors.
  package func create(_ request: CreateTransfer, _ from: Received) throws -> Done {
    let session = SessionKey(owner: from.source, identifier: request.session)
    guard configurations[session] != nil else {
      throw BusError(.noSuchSession, "\(from.source) has not created the session \(request.session)")
    }
    let key = TaskKey(session: session, identifier: request.taskIdentifier)
    let resume = request.resumeData.map(ResumeData.init(data:))
    let task = StoredTask(
      request, resuming: resume ?? nil, key: key, created: clock.now,
      isInBackground: !loading.isInFront(session.owner))
    guard try store.insert(task) else { return Done() }
    handle(DeliveryStateMachine.Event.created(key))
    switch resume {
    // Data that is not ours. The task fails like others: the error is delivered to the delegate (documented).
    case .some(nil):
      end(key, nil, failure: TransferFailure(code: -1, message: "this is not resume data of a download"))
    case .some(let data?):
      if parts.adopt(data, to: path(key)) { try store.setHead(data.response, validator: data.validator, of: key) }
      handle(LoadingStateMachine.Event.created(task.transfer))
    case nil: handle(LoadingStateMachine.Event.created(task.transfer))
    }
    return Done()
  }

  /// `transfer.cancel`: the task ends with -999. Has no effect on a task that has ended.
  package func cancel(_ request: CancelTransfer, _ from: Received) async throws -> CancelTransfer.Reply {
    let key = TaskKey(
      session: SessionKey(owner: from.source, identifier: request.session), identifier: request.taskIdentifier)
    let failure = TransferFailure(code: -999, message: "cancelled")
    return CancelTransfer.Reply(resumeData: try await end(key, with: failure, keepsPart: request.producesResumeData))
  }

  /// `transfer.change`: changes properties of a task. Has no effect on a task that has ended.
  package func change(_ request: ChangeTransfer, _ from: Received) throws -> Done {
    let key = TaskKey(
      session: SessionKey(owner: from.source, identifier: request.session), identifier: request.taskIdentifier)
    guard var task = try store.task(key), !task.hasEnded else { return Done() }
    task.isSuspended = request.isSuspended ?? task.isSuspended
    if let description = request.description { task.description = description.text }
    task.priority = request.priority ?? task.priority
    task.earliestBeginDate = request.earliestBeginDate ?? task.earliestBeginDate
    try store.setWishes(of: task)
    handle(
      .changed(
        key, isSuspended: request.isSuspended, priority: request.priority,
        earliestBeginDate: request.earliestBeginDate))
    return Done()
  }

  /// The user force-quit the app: all tasks of its sessions end with -999 and reason 0 (documented), with resume data
  /// if there is any. No process is launched for it: the events are delivered when the sessions are opened again.
  package func forceQuit(_ app: Address) async throws {
    handle(.front(app, false))
    let family = families.family(of: app)
    let sessions = configurations.keys.filter { key in
      key.owner == app || settings.forceQuitCancelsExtensions && families.family(of: key.owner) == family
    }
    for session in sessions { handle(.quit(session)) }
    let failure = TransferFailure(code: -999, message: "cancelled", cancelledReason: 0)
    for key in loading.keys(of: Set(sessions)) { try await end(key, with: failure, keepsPart: true) }
  }
}

extension BusError.Code {
  /// The sender never created this background session.
  package static let noSuchSession = BusError.Code("no-such-session")
}
