// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import WidgetKit

/// Downloads the figures in a background session, which outlives the extension's process.
final class FiguresDownload: NSObject, URLSessionDownloadDelegate, Sendable {
  static let shared = FiguresDownload()
  static let sessionIdentifier = "com.example.CaffeineTracker.Widget.figures"

  private struct State {
    var session: URLSession?
    var isStarting = false
    /// The system has called the events handler, and the session has not reported yet that all events are delivered.
    var isHandlingEvents = false
    var hasNewFigures = false
  }

  private let state = Mutex(State())
  @MainActor private var completions: [() -> Void] = []

  private var request: URLRequest? {
    let address = ProcessInfo.processInfo.environment["CAFFEINE_FIGURES_URL"] ?? "https://caffeine.example.com/figures"
    return URL(string: address).map { URLRequest(url: $0) }
  }

  /// The session of this process. It may be a new object for a session that an earlier process created.
  private var session: URLSession {
    state.withLock { state in
      if let session = state.session { return session }
      let configuration = URLSessionConfiguration.background(withIdentifier: Self.sessionIdentifier)
      configuration.sharedContainerIdentifier = FiguresFile.group
      configuration.sessionSendsLaunchEvents = true
      let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      state.session = session
      return session
    }
  }

  /// Starts a download, unless one is in progress.
  func start() async {
    let isFirst = state.withLock { state in
      defer { state.isStarting = true }
      return !state.isStarting
    }
    guard isFirst, let request else { return }
    defer { state.withLock { $0.isStarting = false } }
    let session = session
    guard await session.allTasks.isEmpty else { return }
    let task = session.downloadTask(with: request)
    task.resume()
    print("download \(task.taskIdentifier) started")
  }

  /// Called when the system has events of the session. `completion` is called after all of them are handled.
  @MainActor func handleEvents(completion: @escaping () -> Void) {
    completions.append(completion)
    state.withLock { $0.isHandlingEvents = true }
    _ = session
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    let status = (downloadTask.response as? HTTPURLResponse)?.statusCode
    guard status == 200 else { return print("the server answered \(status ?? 0); the last figures are kept") }
    do {
      try FiguresFile.shared?.take(location)
      state.withLock { $0.hasNewFigures = true }
      print("download \(downloadTask.taskIdentifier) finished")
    } catch {
      print("the figures could not be stored: \(error)")
    }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    if let error { print("download \(task.taskIdentifier) failed: \(error)") }
    // While the extension runs it is not woken, and `urlSessionDidFinishEvents` is not called.
    if !state.withLock({ $0.isHandlingEvents }) { reloadIfNew() }
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    state.withLock { $0.isHandlingEvents = false }
    reloadIfNew()
    Task { @MainActor in
      let waiting = completions
      completions = []
      for completion in waiting { completion() }
    }
  }

  private func reloadIfNew() {
    let isNew = state.withLock { state in
      defer { state.hasNewFigures = false }
      return state.hasNewFigures
    }
    if isNew { WidgetCenter.shared.reloadTimelines(ofKind: CaffeineTrackerWidget.kind) }
  }
}
