// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import Glibc
import Messages
import Synchronization

/// The state of a task in this process.
final class TaskCore: Sendable {
  enum Kind: Sendable {
    case data
    case upload
    case download
  }

  /// The source of the body, or of the first part of a download.
  enum Source: Sendable {
    case none
    case file(URL)
    case data(Data)
    case stream
    case resumeData(Data)
  }

  /// Receives the end of the task instead of the delegate.
  enum Completion: Sendable {
    case data(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
    /// The file is deleted after the call unless `keepsFile`.
    case download(keepsFile: Bool, @Sendable (URL?, URLResponse?, (any Error)?) -> Void)
    /// Also receives the response and the body, as they arrive.
    case bytes(ByteArrivals)
  }

  struct Values: Sendable {
    var state = URLSessionTask.State.suspended
    /// `resume()` has been called.
    var hasBegun = false
    var description: String?
    var priority: Float = URLSessionTask.defaultPriority
    var earliestBeginDate: Date?
    var bytesClientExpectsToSend: Int64 = NSURLSessionTransferSizeUnknown
    var bytesClientExpectsToReceive: Int64 = NSURLSessionTransferSizeUnknown
    var currentRequest: URLRequest?
    var response: URLResponse?
    var error: (any Error)?
    var bytesSent: Int64 = 0
    var bytesExpectedToSend: Int64 = 0
    var bytesReceived: Int64 = 0
    var bytesExpected: Int64 = NSURLSessionTransferSizeUnknown
    var delegate: (any URLSessionTaskDelegate)?
    /// Set for a task that is performed in this process.
    var run: InlineRun?
    /// Created on first use: a session may have ten thousand tasks.
    var progress: Progress?
  }

  let identifier: Int
  let kind: Kind
  let request: URLRequest
  let source: Source
  let completion: Completion?
  let session: SessionCore
  private let storage: Mutex<Values>

  /// A new task.
  init(
    _ identifier: Int, kind: Kind, request: URLRequest, from source: Source = .none,
    completion: Completion? = nil, in session: SessionCore, values: Values = Values()
  ) {
    self.identifier = identifier
    self.kind = kind
    self.request = request
    self.source = source
    self.completion = completion
    self.session = session
    storage = Mutex(values)
  }

  /// A task that an earlier process instance resumed.
  convenience init(_ snapshot: TaskSnapshot, in session: SessionCore) {
    var values = Values()
    values.state = snapshot.isSuspended ? .suspended : .running
    values.hasBegun = true
    values.description = snapshot.taskDescription
    values.priority = snapshot.priority
    values.earliestBeginDate = snapshot.earliestBeginDate
    values.bytesClientExpectsToSend = snapshot.bytesClientExpectsToSend
    values.bytesClientExpectsToReceive = snapshot.bytesClientExpectsToReceive
    self.init(
      snapshot.taskIdentifier, kind: snapshot.type == .upload ? .upload : .download,
      request: URLRequest(snapshot.request),
      in: session, values: values)
    took(snapshot)
  }

  deinit {
    if !storage.withLock({ $0.hasBegun }) { session.dropped(identifier) }
  }

  /// Creates an object for the author.
  var object: URLSessionTask {
    switch kind {
    case .data: URLSessionDataTask(self)
    case .upload: URLSessionUploadTask(self)
    case .download: URLSessionDownloadTask(self)
    }
  }

  /// - Parameter task: the object that cancelling the progress cancels.
  func progress(of task: URLSessionTask) -> Progress {
    let progress = storage.withLock { values in
      if let progress = values.progress { return progress }
      let progress = Progress.discreteProgress(totalUnitCount: values.bytesExpected)
      progress.cancellationHandler = { [weak task] in task?.cancel() }
      values.progress = progress
      return progress
    }
    measure()
    return progress
  }

  var values: Values { storage.withLock { $0 } }
  func change(_ body: (inout Values) -> Void) { storage.withLock { body(&$0) } }

  /// Whether this process performs it itself.
  var isInline: Bool { !session.isBackground || kind == .data }

  /// Whether the host performs it.
  private var isAtHost: Bool {
    !isInline && storage.withLock { $0.hasBegun && ($0.state == .running || $0.state == .suspended) }
  }

  // MARK: Properties set by the author

  func describe(_ text: String?) {
    change { $0.description = text }
    if isAtHost { session.change(self) { $0.description = ChangeTransfer.Description(text) } }
  }

  func prioritize(_ priority: Float) {
    let priority = min(max(priority, 0), 1)
    change { $0.priority = priority }
    if isAtHost { session.change(self) { $0.priority = priority } }
  }

  func begin(notBefore date: Date?) {
    change { $0.earliestBeginDate = date }
    if let date, isAtHost { session.change(self) { $0.earliestBeginDate = date } }
  }

  func take(_ delegate: (any URLSessionTaskDelegate)?) {
    guard !session.isBackground else {
      if delegate != nil { session.process.log("tasks of background sessions do not support a task delegate") }
      return
    }
    change { $0.delegate = delegate }
  }

  // MARK: Actions of the author

  func resume(_ task: URLSessionTask) {
    let (begins, goesOn) = storage.withLock { values in
      guard values.state == .suspended else { return (false, false) }
      defer { (values.state, values.hasBegun) = (.running, true) }
      return (!values.hasBegun, values.hasBegun)
    }
    if begins { session.begin(task) }
    if goesOn { hold(false) }
  }

  func suspend(_ task: URLSessionTask) {
    let holds = storage.withLock { values in
      guard values.state == .running else { return false }
      values.state = .suspended
      return true
    }
    if holds { hold(true) }
  }

  private func hold(_ isHeld: Bool) {
    if isInline { values.run?.hold(isHeld) } else { session.change(self) { $0.isSuspended = isHeld } }
  }

  func cancel(_ task: URLSessionTask, producingResumeData handler: (@Sendable (Data?) -> Void)?) {
    let (formerState, hasBegun, run) = storage.withLock { values in
      defer {
        if values.state != .completed { values.state = .canceling }
        values.hasBegun = true
      }
      return (values.state, values.hasBegun, values.run)
    }
    guard formerState == .running || formerState == .suspended else { return handler?(nil) ?? () }
    guard hasBegun else {
      if case .resumeData(let data) = source { handler?(data) } else { handler?(nil) }
      return session.fail(task, .cancelled)
    }
    guard isInline else { return session.cancel(self, handler) }
    if let run { run.cancel(handler) } else { handler?(nil) }
  }

  // MARK: Progress and end

  /// Stores the host's snapshot.
  func took(_ snapshot: TaskSnapshot) {
    let current = snapshot.currentRequest.map { URLRequest($0) }
    change { values in
      if let current { values.currentRequest = current }
      values.bytesSent = snapshot.bytesSent
      values.bytesExpectedToSend = snapshot.bytesExpectedToSend
      values.bytesReceived = snapshot.bytesReceived
      values.bytesExpected = snapshot.bytesExpected
    }
    measure()
  }

  /// Stores the response and the counts. The end is reported separately.
  func transferred(_ outcome: TaskOutcome) {
    took(outcome.task)
    if let response = outcome.response.flatMap({ HTTPURLResponse($0) }) { answered(response) }
  }

  func answered(_ response: URLResponse) {
    change { values in
      values.response = response
      if let url = response.url, url != (values.currentRequest ?? request).url {
        var request = values.currentRequest ?? request
        request.url = url
        values.currentRequest = request
      }
    }
  }

  /// Updates `progress`: with the response's bytes for a download or data task, with the body's bytes for an upload.
  func measure() {
    let values = values
    guard let progress = values.progress else { return }
    let (done, all) =
      kind == .upload ? (values.bytesSent, values.bytesExpectedToSend) : (values.bytesReceived, values.bytesExpected)
    if all >= 0 { progress.totalUnitCount = all }
    progress.completedUnitCount = done
    guard values.state == .completed, values.error == nil else { return }
    progress.totalUnitCount = max(done, 1)
    progress.completedUnitCount = progress.totalUnitCount
  }

  func ended(_ error: (any Error)?) {
    change { values in
      values.state = .completed
      values.error = error
      values.run = nil
    }
    measure()
  }
}

/// A file that is passed to a delegate method, and whether the method moved or read it.
struct HandedFile {
  private let path: String
  private let isWatched: Bool

  /// Sets the access time to 1970. The next access changes it.
  init(_ url: URL) {
    path = url.path
    // Access time: the beginning of 1970. Modification time: unchanged (UTIME_OMIT of linux/stat.h).
    let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)]
    var volume = statvfs()
    // ST_NOATIME of bits/statvfs.h: the volume does not record access times.
    isWatched = statvfs(path, &volume) == 0 && volume.f_flag & 1024 == 0 && utimensat(AT_FDCWD, path, times, 0) == 0
  }

  /// Whether the file is still at its path, has no other link and was not read. `false` where this cannot be
  /// determined.
  var isLeftBehind: Bool {
    var status = stat()
    guard isWatched, stat(path, &status) == 0 else { return false }
    return status.st_size > 0 && status.st_nlink == 1 && status.st_atim.tv_sec == 0
  }
}
