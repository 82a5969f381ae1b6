package import Foundation

// Tasks of background sessions: what an author's process and the host's Transfers say to each other.

/// `resume()` of a task. Answered when the task is on disk. Idempotent by owner, session and task identifier.
package struct CreateTransfer: Request {
  package static let kind: Kind = "transfer.create"
  package typealias Reply = Done
  package let session: String
  package let taskIdentifier: Int
  package let type: TransferType
  package let request: TransferRequest
  package let taskDescription: String?
  /// Of an upload: the file that is the body, which must stay where it is until the task has ended.
  package let file: String?
  /// Of `downloadTask(withResumeData:)`: what the host made earlier.
  package let resumeData: Data?
  /// Not begun before.
  package let earliestBeginDate: Date?
  /// With an earliest date: whether the owner's delegate wants to be asked before it begins.
  package let asksBeforeDelayedRequest: Bool
  package let priority: Float
  /// Bytes, as the author expects them; -1 when unknown.
  package let bytesClientExpectsToSend: Int64
  package let bytesClientExpectsToReceive: Int64
  package init(
    session: String, taskIdentifier: Int, type: TransferType = .download, request: TransferRequest,
    taskDescription: String?, file: String? = nil, resumeData: Data? = nil, earliestBeginDate: Date? = nil,
    asksBeforeDelayedRequest: Bool = false, priority: Float = 0.5, bytesClientExpectsToSend: Int64 = -1,
    bytesClientExpectsToReceive: Int64 = -1
  ) {
    self.session = session
    self.taskIdentifier = taskIdentifier
    self.type = type
    self.request = request
    self.taskDescription = taskDescription
    self.file = file
    self.resumeData = resumeData
    self.earliestBeginDate = earliestBeginDate
    self.asksBeforeDelayedRequest = asksBeforeDelayedRequest
    self.priority = priority
    self.bytesClientExpectsToSend = bytesClientExpectsToSend
    self.bytesClientExpectsToReceive = bytesClientExpectsToReceive
  }
}

/// `cancel()` of a task, or `cancel(byProducingResumeData:)`. Its `didCompleteWithError` (-999) comes with the session's
/// events.
package struct CancelTransfer: Request {
  package static let kind: Kind = "transfer.cancel"
  package let session: String
  package let taskIdentifier: Int
  package let producesResumeData: Bool
  package init(session: String, taskIdentifier: Int, producesResumeData: Bool = false) {
    self.session = session
    self.taskIdentifier = taskIdentifier
    self.producesResumeData = producesResumeData
  }
  package struct Reply: Codable, Hashable, Sendable {
    /// `nil` when it was not asked for, the server cannot resume, or the task had ended.
    package let resumeData: Data?
    package init(resumeData: Data? = nil) { self.resumeData = resumeData }
  }
}

/// What the owner changes of a task that is on disk: `suspend()`, a second `resume()`, a description, a priority, a date.
/// What is `nil` stays. A task that has ended stays as it is.
package struct ChangeTransfer: Request {
  package static let kind: Kind = "transfer.change"
  package typealias Reply = Done
  /// A text that may be none.
  package struct Description: Codable, Hashable, Sendable {
    package let text: String?
    package init(_ text: String?) { self.text = text }
  }
  package let session: String
  package let taskIdentifier: Int
  package var isSuspended: Bool?
  package var description: Description?
  package var priority: Float?
  package var earliestBeginDate: Date?
  package init(
    session: String, taskIdentifier: Int, isSuspended: Bool? = nil, description: Description? = nil,
    priority: Float? = nil, earliestBeginDate: Date? = nil
  ) {
    self.session = session
    self.taskIdentifier = taskIdentifier
    self.isSuspended = isSuspended
    self.description = description
    self.priority = priority
    self.earliestBeginDate = earliestBeginDate
  }
}

/// How far a task is, to an owner that runs: `didWriteData`, `didSendBodyData`, `didResumeAtOffset`. At most a few times a
/// second for each task.
package struct TransferCounted: Notice {
  package static let kind: Kind = "transfer.counted"
  package let session: String
  package let taskIdentifier: Int
  package let bytesSent: Int64
  package let bytesExpectedToSend: Int64
  package let bytesReceived: Int64
  /// -1 when the server did not say.
  package let bytesExpected: Int64
  /// The task goes on from here instead of from the beginning; said once for each time.
  package let resumedAt: Int64?
  package init(
    session: String, taskIdentifier: Int, bytesSent: Int64 = 0, bytesExpectedToSend: Int64 = 0, bytesReceived: Int64,
    bytesExpected: Int64, resumedAt: Int64? = nil
  ) {
    self.session = session
    self.taskIdentifier = taskIdentifier
    self.bytesSent = bytesSent
    self.bytesExpectedToSend = bytesExpectedToSend
    self.bytesReceived = bytesReceived
    self.bytesExpected = bytesExpected
    self.resumedAt = resumedAt
  }
}

/// `willBeginDelayedRequest`: the system is ready to begin a task with an earliest date. The task waits for the answer.
package struct BeginDelayedRequest: Request {
  package static let kind: Kind = "transfer.begin"
  package let session: String
  package let task: TaskSnapshot
  package init(session: String, task: TaskSnapshot) {
    self.session = session
    self.task = task
  }
  /// `URLSession.DelayedRequestDisposition`.
  package enum Disposition: String, Codable, Sendable {
    case continueLoading
    case useNewRequest
    case cancel
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let disposition: Disposition
    package let request: TransferRequest?
    package init(disposition: Disposition, request: TransferRequest? = nil) {
      self.disposition = disposition
      self.request = request
    }
  }
}

/// `didReceive challenge`: a server wants credentials, or the trust in it is to be judged. The task waits for the answer;
/// an owner that does not run is woken for it.
package struct AnswerChallenge: Request {
  package static let kind: Kind = "transfer.challenge"
  package let session: String
  package let task: TaskSnapshot
  /// Whether the owner was woken for it: then its handler is called first.
  package let wakesHandler: Bool
  /// Such as `NSURLAuthenticationMethodHTTPBasic`, `NSURLAuthenticationMethodServerTrust`.
  package let method: String
  package let host: String
  package let port: Int
  /// `http`, `https`.
  package let scheme: String
  package let realm: String?
  package let previousFailures: Int
  package init(
    session: String, task: TaskSnapshot, wakesHandler: Bool, method: String, host: String, port: Int, scheme: String,
    realm: String?, previousFailures: Int
  ) {
    self.session = session
    self.task = task
    self.wakesHandler = wakesHandler
    self.method = method
    self.host = host
    self.port = port
    self.scheme = scheme
    self.realm = realm
    self.previousFailures = previousFailures
  }
  /// `URLSession.AuthChallengeDisposition`.
  package enum Disposition: String, Codable, Sendable {
    case useCredential
    case performDefaultHandling
    case cancelAuthenticationChallenge
    case rejectProtectionSpace
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let disposition: Disposition
    package let user: String?
    package let password: String?
    package init(disposition: Disposition, user: String? = nil, password: String? = nil) {
      self.disposition = disposition
      self.user = user
      self.password = password
    }
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
    /// It does not move, and `detail` says what it waits for: connectivity, its earliest date, a connection to its host,
    /// the resume rate limiter, the owner's answer.
    case waiting
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

/// Journal: the resume rate limiter of an owner changed: a task that is created in the background waits so long.
package struct LimiterChanged: Notice {
  package static let kind: Kind = "limiter.changed"
  package let owner: Address
  /// Seconds; 0 when it is off.
  package let delay: Double
  /// Tasks created in the background begin at this instant of the device's clock.
  package let until: Date?
  /// What changed it: woken, came to the front, passed unused.
  package let reason: String
  package init(owner: Address, delay: Double, until: Date?, reason: String) {
    self.owner = owner
    self.delay = delay
    self.until = until
    self.reason = reason
  }
}
