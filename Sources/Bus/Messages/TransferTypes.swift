// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import HTTPRules

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
