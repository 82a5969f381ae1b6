// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import URLSessionAPI

// The session API, used as in published widgets and apps. It must compile as in Xcode. Nothing here runs, and only the
// module's public API is visible.

/// The protocol that many apps put between their code and URLSession.
protocol RequestLoading: Sendable {
  func data(for request: URLRequest) async throws -> (Data, URLResponse)
  func dataTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask
}

extension URLSession: RequestLoading {}

/// A widget's downloads, written as in widgets that download in the extension.
final class UsageOfDownloads: NSObject, URLSessionDownloadDelegate, Sendable {
  private struct Details: Codable {
    let kind: String
    let attempt: Int
  }

  private let made = Mutex<URLSession?>(nil)

  override init() { super.init() }

  private var session: URLSession {
    made.withLock { made in
      let session = made ?? URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      made = session
      return session
    }
  }

  private var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.widget.sync")
    configuration.sharedContainerIdentifier = "group.com.example"
    configuration.isDiscretionary = false
    configuration.sessionSendsLaunchEvents = true
    configuration.httpMaximumConnectionsPerHost = 2
    configuration.timeoutIntervalForRequest = 60
    configuration.timeoutIntervalForResource = 180
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpAdditionalHeaders = ["Accept": "application/json", "X-Version": 3]
    configuration.waitsForConnectivity = true
    configuration.allowsCellularAccess = true
    configuration.allowsExpensiveNetworkAccess = true
    configuration.allowsConstrainedNetworkAccess = true
    configuration.networkServiceType = .background
    configuration.shouldUseExtendedBackgroundIdleMode = true
    configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
    configuration.multipathServiceType = .handover
    return configuration
  }

  func start(_ url: URL) {
    let session = session
    session.getAllTasks { tasks in
      guard !tasks.contains(where: { $0.state == .running || $0.state == .suspended }) else { return }
      var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalAndRemoteCacheData, timeoutInterval: 30)
      request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
      let task = session.downloadTask(with: request)
      let details = try? JSONEncoder().encode(Details(kind: "plan", attempt: 1))
      task.taskDescription = details.flatMap { String(data: $0, encoding: .utf8) }
      task.earliestBeginDate = Date().addingTimeInterval(60)
      task.countOfBytesClientExpectsToSend = 200
      task.countOfBytesClientExpectsToReceive = 500 * 1024
      task.priority = URLSessionTask.highPriority
      task.resume()
    }
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    guard let response = downloadTask.response as? HTTPURLResponse, (200..<300).contains(response.statusCode) else {
      let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? -1
      return print(HTTPURLResponse.localizedString(forStatusCode: status))
    }
    _ = response.allHeaderFields["Content-Type"] as? String
    let name = response.suggestedFilename ?? location.lastPathComponent
    try? FileManager.default.moveItem(
      at: location, to: location.deletingLastPathComponent().appendingPathComponent(name))
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {
    guard totalBytesExpectedToWrite != NSURLSessionTransferSizeUnknown else { return }
    print(Double(totalBytesWritten) / Double(totalBytesExpectedToWrite))
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {}

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    if let error = error as NSError?, error.domain == NSURLErrorDomain, error.code == NSURLErrorCancelled {
      _ = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
      let reason = error.userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int
      print(reason == NSURLErrorCancelledReasonUserForceQuitApplication)
    }
    guard let error = error as? URLError else { return }
    switch error.code {
    case .backgroundSessionWasDisconnected, .backgroundSessionInUseByAnotherProcess,
      .backgroundSessionRequiresSharedContainer:
      print(task.taskDescription ?? "", task.originalRequest?.url as Any, task.currentRequest?.url as Any)
    default: break
    }
    if let data = error.downloadTaskResumeData { session.downloadTask(withResumeData: data).resume() }
    print(error.backgroundTaskCancelledReason == .userForceQuitApplication, error.networkUnavailableReason == .cellular)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
  ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) { (.continueLoading, nil) }

  func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {}
  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { DispatchQueue.main.async {} }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {
    print(metrics.taskInterval.duration, metrics.redirectCount, metrics.transactionMetrics.count)
  }
}

/// An app's background uploads to its server, with the body in a file.
final class UsageOfUploads: NSObject, Sendable {
  let ephemeral = URLSession(configuration: .ephemeral)
  private let pending = Mutex<[Int: Data]>([:])

  func send(_ url: URL, body file: URL, on queue: OperationQueue) async throws {
    let configuration = URLSessionConfiguration.background(withIdentifier: "webhook-com.example")
    let session = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
    session.sessionDescription = "webhooks"
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data()
    request.allowsCellularAccess = false
    request.addValue("application/json", forHTTPHeaderField: "Content-Type")
    let task = session.uploadTask(with: request, fromFile: file)
    task.taskDescription = "1"
    task.resume()
    let (data, uploads, downloads) = await session.tasks
    print(data.count + uploads.count + downloads.count, session.delegateQueue === queue, session.configuration)
    print(task.progress.fractionCompleted, task.countOfBytesSent, task.countOfBytesExpectedToSend)
    session.getTasksWithCompletionHandler { data, uploads, downloads in
      for task in data + uploads { task.cancel() }
      for task in downloads { task.cancel(byProducingResumeData: { _ in }) }
    }
    for task in await session.allTasks { task.suspend() }
  }

  func ask(_ url: URL, body file: URL) async throws {
    let request = URLRequest(url: url)
    let (data, response) = try await ephemeral.data(for: request)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    _ = try JSONSerialization.jsonObject(with: data)
    _ = try await URLSession.shared.data(from: url)
    let (location, _) = try await URLSession.shared.download(from: url)
    _ = try await URLSession.shared.download(for: request, delegate: self)
    _ = try await URLSession.shared.download(resumeFrom: try Data(contentsOf: location))
    _ = try await URLSession.shared.upload(for: request, from: data)
    _ = try await URLSession.shared.upload(for: request, fromFile: file)
    URLSession.shared.dataTask(with: url) { data, response, error in
      guard error == nil, let data, let response = response as? HTTPURLResponse else { return }
      print(data, response.value(forHTTPHeaderField: "ETag") ?? "none")
    }.resume()
    let task = URLSession.shared.downloadTask(with: url) { _, _, _ in }
    task.delegate = self
    task.resume()
    URLSession.shared.uploadTask(with: request, from: Data()) { _, _, _ in }.resume()
    ephemeral.uploadTask(withStreamedRequest: request).resume()
    _ = await ephemeral.downloadTask(with: url).cancelByProducingResumeData()
    await ephemeral.reset()
    ephemeral.flush {}
    ephemeral.finishTasksAndInvalidate()
    ephemeral.invalidateAndCancel()
  }
}

// Closures without `@Sendable`, as in older code.
extension UsageOfUploads: URLSessionDataDelegate {
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    pending.withLock { $0[dataTask.taskIdentifier, default: Data()].append(data) }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) { completionHandler(.becomeDownload) }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
  ) {}

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {}

  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
      let trust = challenge.protectionSpace.serverTrust
    else { return completionHandler(.performDefaultHandling, nil) }
    completionHandler(.useCredential, URLCredential(trust: trust))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard challenge.previousFailureCount == 0 else { return completionHandler(.cancelAuthenticationChallenge, nil) }
    completionHandler(.useCredential, URLCredential(user: "user", password: "word", persistence: .forSession))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) { completionHandler(request) }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
  ) { completionHandler(InputStream(data: Data())) }

  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
    completionHandler: @escaping (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
  ) { completionHandler(.useNewRequest, request) }
}
