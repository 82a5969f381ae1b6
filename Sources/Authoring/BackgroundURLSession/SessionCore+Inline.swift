import AuthoredProcess
import Conversations
import Foundation
import Synchronization

// Tasks that this process performs itself.
extension SessionCore {
  /// What the session's inline requests share. `nil` when this process has nobody who performs any.
  private func connect() -> (any InlineConnections)? {
    if let connections = state.withLock({ $0.connections }) { return connections }
    guard let performer = InlineRequests.of(process).performer else { return nil }
    let made = performer.session(configuration.inline)
    let connections = state.withLock { state in
      let connections = state.connections ?? made
      state.connections = connections
      return connections
    }
    if let spare = connections as AnyObject === made as AnyObject ? nil : made { spare.close() }
    return connections
  }

  /// The first `resume()` of a task that this process performs.
  func beginInline(_ task: URLSessionTask) {
    guard let connections = connect() else {
      process.log("task \(task.taskIdentifier): this process has nobody who performs its requests")
      return fail(task, .resourceUnavailable)
    }
    if isBackground { SuspensionWatch.of(process).begin() }
    let run = InlineRun(task, in: self, HostedProcess.currentStory)
    task.core.change { $0.run = run }
    // Meanwhile another thread may have changed its mind.
    switch task.state {
    case .canceling: run.cancel()
    case .suspended: run.hold(true)
    case .running, .completed: break
    }
    run.begin(on: connections)
  }

  /// What the process was suspended in the middle of does not go on: data tasks of background sessions end with -997
  /// (`URLError.backgroundSessionWasDisconnected`). Downloads and uploads are the host's.
  func wasSuspended() {
    guard isBackground else { return }
    for task in runningTasks { task.core.values.run?.abandon(.backgroundSessionWasDisconnected) }
  }

  /// `URLSession.reset`.
  func reset() async {
    await state.withLock { $0.connections }?.reset()
  }
}

/// Learns that the process was suspended: the kernel says so when it goes on.
final class SuspensionWatch: Sendable {
  private let process: HostedProcess
  private let source = Mutex<(any DispatchSourceSignal)?>(nil)

  private init(_ process: HostedProcess) { self.process = process }

  static func of(_ process: HostedProcess) -> SuspensionWatch {
    process.part(SuspensionWatch.self) { SuspensionWatch($0) }
  }

  /// From now on: when it returns, a suspension is noticed. Once is enough.
  func begin() {
    let isListening = DispatchSemaphore(value: 0)
    source.withLock { source in
      guard source == nil else { return }
      let made = DispatchSource.makeSignalSource(signal: SIGCONT, queue: .global())
      made.setEventHandler { [process] in SessionRegistry.of(process).wasSuspended() }
      made.setRegistrationHandler { isListening.signal() }
      made.resume()
      source = made
      _ = isListening.wait(timeout: .now() + 1)
    }
  }
}
