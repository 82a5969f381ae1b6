package import Foundation

// Background sessions: what an author's process and the host's Transfers say to each other.

/// A URL request as it travels and is stored.
package struct TransferRequest: Codable, Hashable, Sendable {
  package let url: String
  package let method: String
  /// In the order in which they were set; a name may come again.
  package let headers: [[String]]
  package init(url: String, method: String = "GET", headers: [[String]] = []) {
    self.url = url
    self.method = method
    self.headers = headers
  }
}

/// What the host must know of a session's configuration.
package struct SessionConfiguration: Codable, Hashable, Sendable {
  package var sharedContainerIdentifier: String?
  package var sessionSendsLaunchEvents: Bool
  package var isDiscretionary: Bool
  /// Seconds.
  package var timeoutIntervalForRequest: Double
  /// Seconds.
  package var timeoutIntervalForResource: Double
  package var httpMaximumConnectionsPerHost: Int
  package var httpAdditionalHeaders: [[String]]
  package init(
    sharedContainerIdentifier: String? = nil, sessionSendsLaunchEvents: Bool = true, isDiscretionary: Bool = false,
    timeoutIntervalForRequest: Double = 60, timeoutIntervalForResource: Double = 604_800,
    httpMaximumConnectionsPerHost: Int = 6, httpAdditionalHeaders: [[String]] = []
  ) {
    self.sharedContainerIdentifier = sharedContainerIdentifier
    self.sessionSendsLaunchEvents = sessionSendsLaunchEvents
    self.isDiscretionary = isDiscretionary
    self.timeoutIntervalForRequest = timeoutIntervalForRequest
    self.timeoutIntervalForResource = timeoutIntervalForResource
    self.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
    self.httpAdditionalHeaders = httpAdditionalHeaders
  }
}

/// The response of a server, as it is stored and handed to the owner.
package struct TransferResponse: Codable, Hashable, Sendable {
  package let url: String
  package let status: Int
  package let headers: [[String]]
  /// Bytes; -1 when the server did not say.
  package let expectedLength: Int64
  package init(url: String, status: Int, headers: [[String]], expectedLength: Int64) {
    self.url = url
    self.status = status
    self.headers = headers
    self.expectedLength = expectedLength
  }
}

/// An error as `NSError` knows it.
package struct TransferFailure: Codable, Hashable, Sendable {
  /// `NSURLErrorDomain`, mostly.
  package let domain: String
  package let code: Int
  package let message: String
  package init(domain: String = "NSURLErrorDomain", code: Int, message: String) {
    self.domain = domain
    self.code = code
    self.message = message
  }
}

/// A task that the host keeps, as it tells the owner when a session is created again.
package struct TaskSnapshot: Codable, Hashable, Sendable {
  package let taskIdentifier: Int
  package let request: TransferRequest
  package let taskDescription: String?
  package let bytesReceived: Int64
  package let bytesExpected: Int64
  package init(
    taskIdentifier: Int, request: TransferRequest, taskDescription: String?, bytesReceived: Int64, bytesExpected: Int64
  ) {
    self.taskIdentifier = taskIdentifier
    self.request = request
    self.taskDescription = taskDescription
    self.bytesReceived = bytesReceived
    self.bytesExpected = bytesExpected
  }
}

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
    /// Where there are too many of them for an envelope: a file with them, in the owner's container.
    package let tasksFile: String?
    package init(nextTaskIdentifier: Int, tasks: [TaskSnapshot], tasksFile: String? = nil) {
      self.nextTaskIdentifier = nextTaskIdentifier
      self.tasks = tasks
      self.tasksFile = tasksFile
    }

    /// The tasks, wherever they stand.
    ///
    /// - Throws: `failed` or `malformed-body` when their file cannot be read.
    package func allTasks() throws(BusError) -> [TaskSnapshot] {
      guard let tasksFile else { return tasks }
      return try BodyCoding.decode([TaskSnapshot].self, fromFile: tasksFile)
    }
  }
}

/// `resume()` of a download task. Answered when the task is on disk. Idempotent by owner, session and task identifier.
package struct CreateTransfer: Request {
  package static let kind: Kind = "transfer.create"
  package typealias Reply = Done
  package let session: String
  package let taskIdentifier: Int
  package let request: TransferRequest
  package let taskDescription: String?
  package init(session: String, taskIdentifier: Int, request: TransferRequest, taskDescription: String?) {
    self.session = session
    self.taskIdentifier = taskIdentifier
    self.request = request
    self.taskDescription = taskDescription
  }
}

/// `cancel()` of a task. Its `didCompleteWithError` (-999) comes with the session's events.
package struct CancelTransfer: Request {
  package static let kind: Kind = "transfer.cancel"
  package typealias Reply = Done
  package let session: String
  package let taskIdentifier: Int
  package init(session: String, taskIdentifier: Int) {
    self.session = session
    self.taskIdentifier = taskIdentifier
  }
}

/// What became of one task, in the order in which its delegate is to be told.
package struct TaskOutcome: Codable, Hashable, Sendable {
  package let task: TaskSnapshot
  package let response: TransferResponse?
  /// A copy of its own for this delivery, which the receiver removes after `didFinishDownloadingTo` has returned.
  package let file: String?
  package let failure: TransferFailure?
  package init(task: TaskSnapshot, response: TransferResponse?, file: String?, failure: TransferFailure?) {
    self.task = task
    self.response = response
    self.file = file
    self.failure = failure
  }
}

/// All tasks of a session have ended, and this is what became of each. Acknowledged after the delegate has been told
/// and, when `wakesHandler`, every matching handler's completion has been called. Its id stays the same in every
/// redelivery.
package struct SessionEvents: Event {
  package static let kind: Kind = "session.events"
  package let session: String
  /// Whether the owner was woken for it: then its handler is called first. A running owner gets no such call.
  package let wakesHandler: Bool
  package let outcomes: [TaskOutcome]
  /// Where there are too many of them for an envelope: a file with them, in the owner's container.
  package let outcomesFile: String?
  package init(session: String, wakesHandler: Bool, outcomes: [TaskOutcome], outcomesFile: String? = nil) {
    self.session = session
    self.wakesHandler = wakesHandler
    self.outcomes = outcomes
    self.outcomesFile = outcomesFile
  }

  /// The outcomes, wherever they stand.
  ///
  /// - Throws: `failed` or `malformed-body` when their file cannot be read.
  package func allOutcomes() throws(BusError) -> [TaskOutcome] {
    guard let outcomesFile else { return outcomes }
    return try BodyCoding.decode([TaskOutcome].self, fromFile: outcomesFile)
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

/// Journal: what a transfer is doing.
package struct TransferProgress: Notice {
  package static let kind: Kind = "transfer.progress"
  package enum Step: String, Codable, Sendable {
    /// The request goes out from byte 0.
    case started
    /// The request goes out with `Range` from `bytes`.
    case resumed
    /// The server could not resume: from byte 0 again.
    case restarted
    /// An attempt failed; another follows.
    case retrying
    case finished
    case failed
    case cancelled
  }
  package let owner: Address
  package let session: String
  package let taskIdentifier: Int
  package let step: Step
  /// Bytes in the file now.
  package let bytes: Int64
  /// Of the whole file, when finished.
  package let sha256: String?
  package let detail: String?
  package init(
    owner: Address, session: String, taskIdentifier: Int, step: Step, bytes: Int64, sha256: String? = nil,
    detail: String? = nil
  ) {
    self.owner = owner
    self.session = session
    self.taskIdentifier = taskIdentifier
    self.step = step
    self.bytes = bytes
    self.sha256 = sha256
    self.detail = detail
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
