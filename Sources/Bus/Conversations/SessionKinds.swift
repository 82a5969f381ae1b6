package import Foundation

// Background sessions: what an author's process and the host's Transfers say to each other.

/// A process created a session object: from now on its events can be handed to this process.
package struct OpenSession: Request {
  package static let kind: Kind = "session.open"
  package let identifier: String
  package let configuration: SessionConfiguration
  package init(identifier: String, configuration: SessionConfiguration) {
    self.identifier = identifier
    self.configuration = configuration
  }
  package struct Reply: Codable, Hashable, Sendable {
    /// Task identifiers from here on are free.
    package let nextTaskIdentifier: Int
    /// Tasks that were resumed and have not been acknowledged.
    package let tasks: [TaskSnapshot]
    /// Where there are too many of them for an envelope: a file with them, in the owner's container, which the receiver
    /// removes.
    package let tasksFile: String?
    package init(nextTaskIdentifier: Int, tasks: [TaskSnapshot], tasksFile: String? = nil) {
      self.nextTaskIdentifier = nextTaskIdentifier
      self.tasks = tasks
      self.tasksFile = tasksFile
    }

    /// The tasks, wherever they stand.
    ///
    /// - Throws: `failed` when their file cannot be read.
    package func allTasks() throws(BusError) -> BodyValues<TaskSnapshot> {
      guard let tasksFile else { return BodyValues(tasks) }
      return try BodyValues(file: tasksFile)
    }
  }
}

extension BusError.Code {
  /// `session.open`: another process of the same app has a session of this identifier connected: -996. Definite.
  package static let sessionInUse = BusError.Code("session-in-use")
}

/// A session object became invalid: the process is no longer connected to the session. Tasks that run go on; one that
/// was to be cancelled has been.
package struct CloseSession: Request {
  package static let kind: Kind = "session.close"
  package typealias Reply = Done
  package let identifier: String
  package init(identifier: String) { self.identifier = identifier }
}

/// The time to handle a session's events is running out: the Swift tasks of `backgroundTask(.urlSession)` actions are
/// cancelled. Who has not acknowledged soon after is evicted.
package struct ExpireEvents: Notice {
  package static let kind: Kind = "session.expire"
  package let session: String
  package let delivery: UUID
  package init(session: String, delivery: UUID) {
    self.session = session
    self.delivery = delivery
  }
}

/// What became of tasks of a session: of all of them when the owner was woken, or of one or some that ended while it ran
/// with the session open. Acknowledged after the delegate has been told and, when `wakesHandler`, every matching
/// handler's completion has been called. Its id stays the same in every redelivery.
package struct SessionEvents: Event {
  package static let kind: Kind = "session.events"
  package let session: String
  /// Whether the owner was woken for it: then its handler is called first. A running owner gets no such call.
  package let wakesHandler: Bool
  /// Whether `urlSessionDidFinishEvents` is told.
  package let finishes: Bool
  /// Whether the handler is called after the messages where there is a session already.
  package let handlerComesLast: Bool
  package let outcomes: [TaskOutcome]
  /// Where there are too many of them for an envelope: a file with them, in the owner's container.
  package let outcomesFile: String?
  /// - Parameter finishes: when the handler is called, unless said otherwise (documented).
  package init(
    session: String, wakesHandler: Bool, finishes: Bool? = nil, handlerComesLast: Bool = false,
    outcomes: [TaskOutcome], outcomesFile: String? = nil
  ) {
    self.session = session
    self.wakesHandler = wakesHandler
    self.finishes = finishes ?? wakesHandler
    self.handlerComesLast = handlerComesLast
    self.outcomes = outcomes
    self.outcomesFile = outcomesFile
  }

  /// The outcomes, wherever they stand.
  ///
  /// - Throws: `failed` when their file cannot be read.
  package func allOutcomes() throws(BusError) -> BodyValues<TaskOutcome> {
    guard let outcomesFile else { return BodyValues(outcomes) }
    return try BodyValues(file: outcomesFile)
  }
}

extension BusError.Code {
  /// No handler of this process matches the session, and it has no such session open. Definite.
  package static let unclaimed = BusError.Code("unclaimed")
}

/// Journal: the owner cannot take a session's events. They stay until a process creates the session.
package struct SessionUnclaimed: Notice {
  package static let kind: Kind = "session.unclaimed"
  package let owner: Address
  package let session: String
  package let delivery: UUID
  /// What the owner answered.
  package let reason: String
  package init(owner: Address, session: String, delivery: UUID, reason: String) {
    self.owner = owner
    self.session = session
    self.delivery = delivery
    self.reason = reason
  }
}

/// Journal: the author's handler for background session events is about to be called.
package struct HandlerCalled: Notice {
  package static let kind: Kind = "handler.called"
  package let session: String
  package let pid: Int32
  /// How many handlers match the session's identifier.
  package let matching: Int
  package init(session: String, pid: Int32, matching: Int) {
    self.session = session
    self.pid = pid
    self.matching = matching
  }
}

/// Journal: a delegate method has returned; but `urlSessionDidFinishEvents` is about to be called, so that what the author
/// does in it (a reload, the completion) stands after it.
package struct DelegateCalled: Notice {
  package static let kind: Kind = "delegate.called"
  package let session: String
  /// `didFinishDownloadingTo`, `didCompleteWithError`, `urlSessionDidFinishEvents`.
  package let method: String
  package let taskIdentifier: Int?
  /// Of the file, for `didFinishDownloadingTo`.
  package let bytes: Int64?
  package let failureCode: Int?
  package init(
    session: String, method: String, taskIdentifier: Int? = nil, bytes: Int64? = nil, failureCode: Int? = nil
  ) {
    self.session = session
    self.method = method
    self.taskIdentifier = taskIdentifier
    self.bytes = bytes
    self.failureCode = failureCode
  }
}

/// Journal: the author called a handler's completion.
package struct CompletionCalled: Notice {
  package static let kind: Kind = "completion.called"
  package let session: String
  /// Completions that are still to be called before the events are acknowledged.
  package let outstanding: Int
  package init(session: String, outstanding: Int) {
    self.session = session
    self.outstanding = outstanding
  }
}

/// Journal: the host forgot a session's events, because the owner acknowledged them.
package struct SessionAcknowledged: Notice {
  package static let kind: Kind = "session.acknowledged"
  package let owner: Address
  package let session: String
  package let delivery: UUID
  package init(owner: Address, session: String, delivery: UUID) {
    self.owner = owner
    self.session = session
    self.delivery = delivery
  }
}

/// A session as `ps` and `sessions` print it.
package struct SessionStatus: Codable, Hashable, Sendable {
  package let owner: Address
  package let session: String
  /// Tasks that have not ended.
  package let running: Int
  /// Tasks that ended and were not acknowledged.
  package let undelivered: Int
  package let bytesReceived: Int64
  package init(owner: Address, session: String, running: Int, undelivered: Int, bytesReceived: Int64) {
    self.owner = owner
    self.session = session
    self.running = running
    self.undelivered = undelivered
    self.bytesReceived = bytesReceived
  }
}
