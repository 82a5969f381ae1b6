// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import WidgetKit

// Pitfalls with the identifier, creation and duration of sessions.

/// 1: the app's session and the extension's have the same identifier.
final class OneIdentifierForAll: NSObject, Downloader {
  let keptState = Kept()
  var identifier: String { "com.example.Trial.session" }
}

/// 2: the configuration names no container that the extension shares with its app.
final class WithoutContainer: NSObject, Downloader {
  let keptState = Kept()
  var configuration: URLSessionConfiguration { .background(withIdentifier: identifier) }
}

/// 7 and 8: creates the session when content is requested, and not when the system has events for it.
final class MakesSessionWhenAsked: NSObject, Downloader {
  let keptState = Kept()

  func begin() async {
    let session = session
    if Folder.isFirst("began") { session.downloadTask(with: FixtureURL.file).resume() }
  }

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    keptState.completions.append(completion)
  }
}

/// 10: awaits a result that arrives only after the process may have exited.
final class Awaits: NSObject, Downloader {
  let keptState = Kept()

  func begin() async {
    guard let (file, _) = try? await session.download(from: FixtureURL.file) else { return }
    take(file)
  }
}

/// 11: creates a session and a delegate for each download, all with one identifier.
final class OneSessionEach: NSObject, Downloader {
  let keptState = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    for name in ["first", "second"] {
      let session = URLSession(configuration: configuration, delegate: Named(name), delegateQueue: nil)
      session.downloadTask(with: FixtureURL.file).resume()
    }
  }

  private final class Named: NSObject, URLSessionDownloadDelegate {
    private let name: String
    init(_ name: String) { self.name = name }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
      print("the \(name) delegate has the file of task \(downloadTask.taskIdentifier)")
    }
  }
}

/// 12: continues to use a session that it has invalidated.
final class KeepsInvalidSession: NSObject, Downloader {
  let keptState = Kept()

  func text() async -> String {
    session.downloadTask(with: FixtureURL.file).resume()
    session.finishTasksAndInvalidate()
    return "under way"
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

/// 12, right: creates a new session when the last one has become invalid.
final class MakesSessionAgain: NSObject, Downloader {
  let keptState = Kept()

  func text() async -> String {
    session.downloadTask(with: FixtureURL.file).resume()
    session.finishTasksAndInvalidate()
    return "under way"
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    keptState.session.withLock { $0 = nil }
    print("the session is over")
  }
}

/// 13: starts a download whenever no task is listed. Completed tasks whose events were delivered are not listed.
final class AsksWhatRuns: NSObject, Downloader {
  let keptState = Kept()

  func text() async -> String {
    if await session.allTasks.isEmpty { start() }
    return Folder.bytes.map { "\($0) bytes" } ?? "nothing yet"
  }
}

// Pitfalls in when the completion is stored, and when it is called.

/// 3: assumes that the handler is called before the events are delivered.
final class CompletesWhenFinished: NSObject, Downloader {
  let keptState = Kept()

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    keptState.completions.append(completion)
    _ = session
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    reload()
    Task { @MainActor in complete() }
  }
}

/// 4: assumes that the handler is called at all.
final class WithGroup: NSObject, Downloader {
  let keptState = Kept()
  private let events = DispatchGroup()

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    keptState.completions.append(completion)
    events.enter()
    events.notify(queue: .main) { Task { @MainActor in self.complete() } }
    _ = session
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { events.leave() }
}

/// 20: reloads only in `urlSessionDidFinishEvents`.
final class ReloadsWhenFinished: NSObject, Downloader {
  let keptState = Kept()

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    print("completed \(task.taskIdentifier)")
  }
}

/// 22: assumes that the modifier reports that the widget became visible.
final class OnlyReloads: NSObject, Downloader {
  let keptState = Kept()

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    WidgetCenter.shared.reloadAllTimelines()
  }
}

/// 23: calls the completion before the events are delivered.
final class CompletesAtOnce: NSObject, Downloader {
  let keptState = Kept()

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    completion()
    WidgetCenter.shared.reloadAllTimelines()
  }
}

/// 24: has two widgets, and keeps only one completion.
final class OneVariable: NSObject, Downloader {
  let keptState = Kept()
  @MainActor private var completion: (() -> Void)?

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    self.completion = completion
    _ = session
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    reload()
    Task { @MainActor in completion?() }
  }
}

/// 25: stores the completion some time after the handler returned.
final class StoresLater: NSObject, Downloader {
  let keptState = Kept()
  @MainActor private var completion: (() -> Void)?

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    _ = session
    Task { @MainActor in
      await askServer()
      self.completion = completion
      print("stored")
    }
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    Task { @MainActor in
      print("finished")
      completion?()
    }
  }
}
