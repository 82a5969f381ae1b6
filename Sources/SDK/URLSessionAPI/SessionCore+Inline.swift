// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import Messages
import Synchronization

// Inline tasks.
extension SessionCore {
  /// The shared state of the session's inline requests. `nil` when this process cannot perform any.
  private func connect() -> (any InlineConnections)? {
    if let connections = state.withLock({ $0.connections }) { return connections }
    guard let performer = InlineRequests.of(process).performer else { return nil }
    let made = performer.session(configuration.inline(of: ClientProfileSource.of(process).profile))
    let connections = state.withLock { state in
      let connections = state.connections ?? made
      state.connections = connections
      return connections
    }
    if let spare = connections as AnyObject === made as AnyObject ? nil : made { spare.close() }
    return connections
  }

  /// The first `resume()` of an inline task.
  func beginInline(_ task: URLSessionTask) {
    guard let connections = connect() else {
      process.log("task \(task.taskIdentifier): this process cannot perform its own requests")
      return fail(task, .resourceUnavailable)
    }
    if isBackground { SuspensionWatch.of(process).begin() }
    let run = InlineRun(task, in: self, HostedProcess.currentContext)
    task.core.change { $0.run = run }
    // Another thread may have changed the state since.
    switch task.state {
    case .canceling: run.cancel()
    case .suspended: run.hold(true)
    case .running, .completed: break
    }
    run.begin(on: connections)
  }

  /// The class of the author that loads a task's request; `nil` when the session loads it.
  func protocolClass(for task: URLSessionTask) -> URLProtocol.Type? {
    guard !isBackground else { return nil }
    let registered = isShared ? URLProtocol.registeredClasses : []
    return (configuration.protocolClasses + registered).first { $0.canInit(with: task) }
  }

  /// Ends transfers that a suspension of the process interrupted: data tasks of background sessions end with -997
  /// (`URLError.backgroundSessionWasDisconnected`). Downloads and uploads belong to the host.
  func wasSuspended() {
    guard isBackground else { return }
    for task in runningTasks { task.core.values.run?.abandon(.backgroundSessionWasDisconnected) }
  }

  /// `URLSession.reset`.
  func reset() async {
    await state.withLock { $0.connections }?.reset()
  }
}

/// Detects that the process was suspended: the kernel sends SIGCONT when it is resumed.
final class SuspensionWatch: Sendable {
  private let process: HostedProcess
  private let source = Mutex<(any DispatchSourceSignal)?>(nil)

  private init(_ process: HostedProcess) { self.process = process }

  static func of(_ process: HostedProcess) -> SuspensionWatch {
    process.part(SuspensionWatch.self) { SuspensionWatch($0) }
  }

  /// Starts the detection. It is active when this returns. Further calls have no effect.
  func begin() {
    let isListening = MonotonicSemaphore()
    source.withLock { source in
      guard source == nil else { return }
      let made = DispatchSource.makeSignalSource(signal: SIGCONT, queue: .global())
      made.setEventHandler { [process] in SessionRegistry.of(process).wasSuspended() }
      made.setRegistrationHandler { isListening.signal() }
      made.resume()
      source = made
      isListening.wait(seconds: 1)
    }
  }
}
