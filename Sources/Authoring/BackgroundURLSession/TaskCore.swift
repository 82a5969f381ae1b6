import Conversations
import Foundation
import Synchronization

/// What a task object stands for in this process.
final class TaskCore: Sendable {
  struct Values: Sendable {
    var state: URLSessionTask.State
    var description: String?
    var response: URLResponse?
    var error: (any Error)?
    var bytesReceived: Int64 = 0
    var bytesExpected: Int64 = -1
  }

  let identifier: Int
  let request: URLRequest
  /// Why it cannot run; `nil` when the session was sound as the task was made.
  let obstacle: URLError.Code?
  let session: SessionCore
  private let storage: Mutex<Values>

  /// A new task.
  init(_ identifier: Int, _ request: URLRequest, in session: SessionCore, obstacle: URLError.Code?) {
    self.identifier = identifier
    self.request = request
    self.session = session
    self.obstacle = obstacle
    storage = Mutex(Values(state: .suspended))
  }

  /// A task that an earlier life resumed.
  init(_ snapshot: TaskSnapshot, in session: SessionCore) {
    identifier = snapshot.taskIdentifier
    request = URLRequest(snapshot.request)
    self.session = session
    obstacle = nil
    storage = Mutex(
      Values(
        state: .running, description: snapshot.taskDescription, bytesReceived: snapshot.bytesReceived,
        bytesExpected: snapshot.bytesExpected))
  }

  var values: Values { storage.withLock { $0 } }

  var currentRequest: URLRequest {
    var request = request
    if let url = values.response?.url { request.url = url }
    return request
  }

  func describe(_ text: String?) { storage.withLock { $0.description = text } }

  func resume(_ task: URLSessionTask) {
    let begins = storage.withLock { values in
      guard values.state == .suspended else { return false }
      values.state = .running
      return true
    }
    guard begins else { return }
    if let obstacle {
      session.fail(task, obstacle)
    } else {
      session.begin(task)
    }
  }

  func cancel(_ task: URLSessionTask) {
    let former = storage.withLock { values in
      defer { if values.state != .completed { values.state = .canceling } }
      return values.state
    }
    switch former {
    case .running: session.cancel(self)
    case .suspended: session.fail(task, .cancelled)
    case .canceling, .completed: return
    }
  }

  /// The server's answer and what came are known; the end has not been told.
  func transferred(_ outcome: TaskOutcome) {
    let response = outcome.response.flatMap { HTTPURLResponse($0) }
    storage.withLock { values in
      if let response { values.response = response }
      values.bytesReceived = outcome.task.bytesReceived
      values.bytesExpected = outcome.task.bytesExpected
    }
  }

  func ended(_ error: (any Error)?) {
    storage.withLock { values in
      values.state = .completed
      values.error = error
    }
  }
}
