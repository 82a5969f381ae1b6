package import Conversations
import Foundation
package import MessageBus
import Timekeeping

// What owners of sessions say.

extension TransferDaemon {
  /// `session.open`: from now on the session's events can be handed to this life.
  ///
  /// - Throws: `session-in-use` (definite) when another process of the same app that lives has a session of this
  ///   identifier open (documented); what the database says.
  package func open(_ request: OpenSession, _ from: Received) throws -> OpenSession.Reply {
    let key = SessionKey(owner: from.source, identifier: request.identifier)
    if let other = otherProcess(with: key) {
      throw BusError(.sessionInUse, "\(other) has the session \(key.identifier) open")
    }
    try store.open(key, request.configuration)
    configurations[key] = request.configuration
    take(LoadingDecision.Event.opened(key, LoadingDecision.Terms(request.configuration)))
    take(
      DeliveryDecision.Event.opened(
        key, sendsLaunchEvents: request.configuration.sessionSendsLaunchEvents, generation: from.sourceGeneration))
    let listed = try store.tasks(of: key).filter { settings.listsEndedTasks || !$0.hasEnded }
    let tasks = listed.map { $0.snapshot(bytes: WholeFile.size(path($0.key))) }
    let next = try store.nextTaskIdentifier(of: key)
    let list = lists[key.owner] ?? UUID()
    lists[key.owner] = list
    let file = try overflow(OpenSession.Reply(nextTaskIdentifier: next, tasks: []), tasks, for: key.owner, list)
    return OpenSession.Reply(nextTaskIdentifier: next, tasks: file == nil ? tasks : [], tasksFile: file)
  }

  /// Another process of the owner's app, its extensions among them, that is connected to a session of this identifier.
  private func otherProcess(with key: SessionKey) -> Address? {
    let family = families.family(of: key.owner)
    return decision.sessions.all.first { other, session in
      other.identifier == key.identifier && other.owner != key.owner && session.openIn != nil
        && families.family(of: other.owner) == family
    }?.key.owner
  }

  /// `session.close`: the process is no longer connected to the session; its tasks go on.
  package func close(_ request: CloseSession, _ from: Received) -> Done {
    let key = SessionKey(owner: from.source, identifier: request.identifier)
    take(.closed(key, generation: from.sourceGeneration))
    return Done()
  }

  /// `transfer.create`: the task is on disk when this returns. The same task a second time is answered alike.
  ///
  /// - Throws: `no-such-session` (definite) when no process ever created the session; what the database says.
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
    take(DeliveryDecision.Event.created(key))
    switch resume {
    // Such data never was ours. The task fails as others do: by its delegate (documented).
    case .some(nil):
      end(key, nil, failure: TransferFailure(code: -1, message: "this is no resume data of a download"))
    case .some(let data?):
      if parts.take(data, to: path(key)) { try store.setHead(data.response, validator: data.validator, of: key) }
      take(LoadingDecision.Event.created(task.transfer))
    case nil: take(LoadingDecision.Event.created(task.transfer))
    }
    return Done()
  }

  /// `transfer.cancel`: the task ends with -999. A task that has ended stays as it is.
  package func cancel(_ request: CancelTransfer, _ from: Received) async throws -> CancelTransfer.Reply {
    let key = TaskKey(
      session: SessionKey(owner: from.source, identifier: request.session), identifier: request.taskIdentifier)
    let failure = TransferFailure(code: -999, message: "cancelled")
    return CancelTransfer.Reply(resumeData: try await end(key, with: failure, keepsPart: request.producesResumeData))
  }

  /// `transfer.change`: what the owner changes of a task. One that has ended stays as it is.
  package func change(_ request: ChangeTransfer, _ from: Received) throws -> Done {
    let key = TaskKey(
      session: SessionKey(owner: from.source, identifier: request.session), identifier: request.taskIdentifier)
    guard var task = try store.task(key), !task.hasEnded else { return Done() }
    task.isSuspended = request.isSuspended ?? task.isSuspended
    if let description = request.description { task.description = description.text }
    task.priority = request.priority ?? task.priority
    task.earliestBeginDate = request.earliestBeginDate ?? task.earliestBeginDate
    try store.setWishes(of: task)
    take(
      .changed(
        key, isSuspended: request.isSuspended, priority: request.priority,
        earliestBeginDate: request.earliestBeginDate))
    return Done()
  }

  /// A person ended the app: all tasks of its sessions end with -999 and reason 0 (documented), with resume data where
  /// there is any. Nobody is launched for it: the events are told when the sessions are opened again.
  package func forceQuit(_ app: Address) async throws {
    take(.front(app, false))
    let family = families.family(of: app)
    let sessions = configurations.keys.filter { key in
      key.owner == app || settings.forceQuitCancelsExtensions && families.family(of: key.owner) == family
    }
    for session in sessions { take(.quit(session)) }
    let failure = TransferFailure(code: -999, message: "cancelled", cancelledReason: 0)
    for key in loading.keys(of: Set(sessions)) { try await end(key, with: failure, keepsPart: true) }
  }
}

extension BusError.Code {
  /// The sender never created this background session.
  package static let noSuchSession = BusError.Code("no-such-session")
}
