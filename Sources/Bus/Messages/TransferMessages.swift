// SPDX-License-Identifier: Apache-2.0

package import Foundation

// Tasks of background sessions: messages between an author's process and the host's Transfers.

/// `resume()` of a task. The reply is sent when the task is on disk. Idempotent by owner, session and task identifier.
package struct CreateTransfer: Request {
  package static let kind: Kind = "transfer.create"
  package typealias Reply = Done
  package let session: String
  package let taskIdentifier: Int
  package let type: TransferType
  package let request: TransferRequest
  package let taskDescription: String?
  /// For an upload: the file with the body, which must stay in place until the task has ended.
  package let file: String?
  /// For `downloadTask(withResumeData:)`: the data that the host produced earlier.
  package let resumeData: Data?
  /// The task does not begin before this date.
  package let earliestBeginDate: Date?
  /// With an earliest date: whether the owner's delegate is asked before the task begins.
  package let asksBeforeDelayedRequest: Bool
  package let priority: Float
  /// Bytes that the author expects; -1 when unknown.
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

/// `cancel()` of a task, or `cancel(byProducingResumeData:)`. Its `didCompleteWithError` (-999) follows with the
/// session's events.
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
    /// `nil` when it was not requested, the server cannot resume, or the task had ended.
    package let resumeData: Data?
    package init(resumeData: Data? = nil) { self.resumeData = resumeData }
  }
}

/// Changes a task that is on disk: `suspend()`, a second `resume()`, a description, a priority, a date. `nil` values
/// stay unchanged. A task that has ended is not changed.
package struct ChangeTransfer: Request {
  package static let kind: Kind = "transfer.change"
  package typealias Reply = Done
  /// An optional text.
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

/// The progress of a task, for a running owner: `didWriteData`, `didSendBodyData`, `didResumeAtOffset`. At most a few
/// times per second and task.
package struct TransferCounted: Notice {
  package static let kind: Kind = "transfer.counted"
  package var maySendLater: Bool { true }
  package let session: String
  package let taskIdentifier: Int
  package var bytesSent: Int64
  package var bytesExpectedToSend: Int64
  package var bytesReceived: Int64
  /// -1 when the server did not state it.
  package var bytesExpected: Int64
  /// The offset at which the task resumes instead of starting over; sent once per resumption.
  package var resumedAt: Int64?
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

/// `willBeginDelayedRequest`: the system is ready to begin a task with an earliest date. The task waits for the reply.
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

/// `didReceive challenge`: a server requests credentials or a trust evaluation. The task waits for the reply; an owner
/// that is not running is woken for it.
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

/// Journal: a transfer changed its state.
package struct TransferProgress: Notice {
  package static let kind: Kind = "transfer.progress"
  package var maySendLater: Bool { true }
  package enum Step: String, Codable, Sendable {
    /// The request is sent from byte 0.
    case started
    /// The request is sent with `Range` from `bytes`.
    case resumed
    /// The server could not resume: the transfer starts again from byte 0.
    case restarted
    /// An attempt failed; another follows.
    case retrying
    /// The transfer waits, as `detail` explains: for connectivity, its earliest date, a connection to its host, the
    /// resume rate limiter, or the owner's reply.
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

/// Journal: the resume rate limiter of an owner changed, which delays tasks created in the background.
package struct LimiterChanged: Notice {
  package static let kind: Kind = "limiter.changed"
  package let owner: Address
  /// Seconds; 0 when it is off.
  package let delay: Double
  /// The time on the device's clock at which tasks created in the background begin.
  package let until: Date?
  /// The cause of the change: woken, came to the front, expired unused.
  package let reason: String
  package init(owner: Address, delay: Double, until: Date?, reason: String) {
    self.owner = owner
    self.delay = delay
    self.until = until
    self.reason = reason
  }
}

// Transfers as sent on the bus and stored.

/// The type of a task of a background session.
package enum TransferType: String, Codable, Hashable, Sendable {
  /// The response is written to a file.
  case download
  /// A file is the body of the request; the response's body is passed to `didReceive data`.
  case upload
}

/// A URL request as sent on the bus and stored.
package struct TransferRequest: Codable, Hashable, Sendable {
  package var url: String
  package var method: String
  /// In the order in which they were set; names may repeat.
  package var headers: [[String]]
  /// The body of a download request; the body of an upload is its file.
  package var body: Data?
  /// Seconds without data after which the request is retried; `nil`: the session's value.
  package var timeoutInterval: Double?
  package var allowsCellularAccess: Bool
  package var allowsExpensiveNetworkAccess: Bool
  package var allowsConstrainedNetworkAccess: Bool
  /// `httpShouldHandleCookies`; `nil`: true.
  package var handlesCookies: Bool?
  package init(
    url: String, method: String = "GET", headers: [[String]] = [], body: Data? = nil, timeoutInterval: Double? = nil,
    allowsCellularAccess: Bool = true, allowsExpensiveNetworkAccess: Bool = true,
    allowsConstrainedNetworkAccess: Bool = true, handlesCookies: Bool? = nil
  ) {
    self.url = url
    self.method = method
    self.headers = headers
    self.body = body
    self.timeoutInterval = timeoutInterval
    self.allowsCellularAccess = allowsCellularAccess
    self.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
    self.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
    self.handlesCookies = handlesCookies
  }
}

/// The part of a session's configuration that the host needs.
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
  package var allowsCellularAccess: Bool
  package var allowsExpensiveNetworkAccess: Bool
  package var allowsConstrainedNetworkAccess: Bool
  /// What requests say about the session's product, and what they may load; `nil`: nothing, and nothing insecure.
  package var client: ClientProfile?
  /// `nil`: no cookies.
  package var cookies: CookieUse?
  package init(
    sharedContainerIdentifier: String? = nil, sessionSendsLaunchEvents: Bool = true, isDiscretionary: Bool = false,
    timeoutIntervalForRequest: Double = 60, timeoutIntervalForResource: Double = 604_800,
    httpMaximumConnectionsPerHost: Int = 6, httpAdditionalHeaders: [[String]] = [], allowsCellularAccess: Bool = true,
    allowsExpensiveNetworkAccess: Bool = true, allowsConstrainedNetworkAccess: Bool = true,
    client: ClientProfile? = nil, cookies: CookieUse? = nil
  ) {
    self.sharedContainerIdentifier = sharedContainerIdentifier
    self.sessionSendsLaunchEvents = sessionSendsLaunchEvents
    self.isDiscretionary = isDiscretionary
    self.timeoutIntervalForRequest = timeoutIntervalForRequest
    self.timeoutIntervalForResource = timeoutIntervalForResource
    self.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
    self.httpAdditionalHeaders = httpAdditionalHeaders
    self.allowsCellularAccess = allowsCellularAccess
    self.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
    self.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
    self.client = client
    self.cookies = cookies
  }
}

/// A server's response, as stored and as passed to the owner.
package struct TransferResponse: Codable, Hashable, Sendable {
  /// The URL that responded, after redirections.
  package let url: String
  package let status: Int
  package let headers: [[String]]
  /// Bytes; -1 when the server did not state it.
  package let expectedLength: Int64
  package init(url: String, status: Int, headers: [[String]], expectedLength: Int64) {
    self.url = url
    self.status = status
    self.headers = headers
    self.expectedLength = expectedLength
  }
}

/// An error with the fields of `NSError`.
package struct TransferFailure: Codable, Hashable, Sendable {
  /// Usually `NSURLErrorDomain`.
  package let domain: String
  package let code: Int
  package let message: String
  /// `NSURLErrorBackgroundTaskCancelledReasonKey`: 0 user force quit, 1 background updates disabled, 2 insufficient
  /// system resources (`NSURLError.h`).
  package let cancelledReason: Int?
  /// `NSURLErrorNetworkUnavailableReasonKey`: 0 cellular, 1 expensive, 2 constrained (`NSURLError.h`).
  package let networkUnavailableReason: Int?
  /// `NSURLSessionDownloadTaskResumeData`: for `downloadTask(withResumeData:)`, opaque except to the host that produced
  /// it.
  package var resumeData: Data?
  package init(
    domain: String = "NSURLErrorDomain", code: Int, message: String, cancelledReason: Int? = nil,
    networkUnavailableReason: Int? = nil, resumeData: Data? = nil
  ) {
    self.domain = domain
    self.code = code
    self.message = message
    self.cancelledReason = cancelledReason
    self.networkUnavailableReason = networkUnavailableReason
    self.resumeData = resumeData
  }
}

/// The state of a stored task, as the host sends it to the owner when a session is created again.
package struct TaskSnapshot: Codable, Hashable, Sendable {
  package var taskIdentifier: Int
  package var type: TransferType
  package var request: TransferRequest
  /// The last request sent, after redirections; `nil` when it is the original.
  package var currentRequest: TransferRequest?
  package var taskDescription: String?
  /// Suspended by its owner after it was resumed.
  package var isSuspended: Bool
  package var priority: Float
  package var earliestBeginDate: Date?
  /// Bytes that the author expects; -1 when unknown.
  package var bytesClientExpectsToSend: Int64
  package var bytesClientExpectsToReceive: Int64
  package var bytesSent: Int64
  package var bytesExpectedToSend: Int64
  package var bytesReceived: Int64
  package var bytesExpected: Int64
  package init(
    taskIdentifier: Int, type: TransferType = .download, request: TransferRequest,
    currentRequest: TransferRequest? = nil, taskDescription: String?, isSuspended: Bool = false, priority: Float = 0.5,
    earliestBeginDate: Date? = nil, bytesClientExpectsToSend: Int64 = -1, bytesClientExpectsToReceive: Int64 = -1,
    bytesSent: Int64 = 0, bytesExpectedToSend: Int64 = 0, bytesReceived: Int64, bytesExpected: Int64
  ) {
    self.taskIdentifier = taskIdentifier
    self.type = type
    self.request = request
    self.currentRequest = currentRequest
    self.taskDescription = taskDescription
    self.isSuspended = isSuspended
    self.priority = priority
    self.earliestBeginDate = earliestBeginDate
    self.bytesClientExpectsToSend = bytesClientExpectsToSend
    self.bytesClientExpectsToReceive = bytesClientExpectsToReceive
    self.bytesSent = bytesSent
    self.bytesExpectedToSend = bytesExpectedToSend
    self.bytesReceived = bytesReceived
    self.bytesExpected = bytesExpected
  }
}

/// The values of a task for `didFinishCollecting metrics`.
package struct TransferMetrics: Codable, Hashable, Sendable {
  /// When `resume()` was recorded.
  package let began: Date
  package let ended: Date
  package let redirectCount: Int
  /// Requests sent, not counting redirections.
  package let attempts: Int
  package init(began: Date, ended: Date, redirectCount: Int, attempts: Int) {
    self.began = began
    self.ended = ended
    self.redirectCount = redirectCount
    self.attempts = attempts
  }
}

/// The outcome of one task, in the order of the delegate calls.
package struct TaskOutcome: Codable, Hashable, Sendable {
  package let task: TaskSnapshot
  package let response: TransferResponse?
  /// A copy made for this delivery, which the receiver removes: for a download after `didFinishDownloadingTo` has
  /// returned, for an upload (the response's body) after `didReceive data`.
  package let file: String?
  package let failure: TransferFailure?
  package let metrics: TransferMetrics?
  package init(
    task: TaskSnapshot, response: TransferResponse?, file: String?, failure: TransferFailure?,
    metrics: TransferMetrics? = nil
  ) {
    self.task = task
    self.response = response
    self.file = file
    self.failure = failure
    self.metrics = metrics
  }
}
