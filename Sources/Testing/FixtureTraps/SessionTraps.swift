// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import WidgetKit

// Pitfalls with the identifier, creation and duration of sessions.

/// 1: the app's session and the extension's have the same identifier.
final class OneIdentifierForAll: NSObject, Downloader {
  let kept = Kept()
  var identifier: String { "com.example.Trial.session" }
}

/// 2: the configuration names no container that the extension shares with its app.
final class WithoutContainer: NSObject, Downloader {
  let kept = Kept()
  var configuration: URLSessionConfiguration { .background(withIdentifier: identifier) }
}

/// 7 and 8: creates the session when content is requested, and not when the system has events for it.
final class MakesSessionWhenAsked: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    let session = session
    if Folder.isFirst("began") { session.downloadTask(with: FixtureURL.file).resume() }
  }

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    kept.completions.append(completion)
  }
}

/// 10: awaits a result that arrives only after the process may have exited.
final class Awaits: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    guard let (file, _) = try? await session.download(from: FixtureURL.file) else { return }
    take(file)
  }
}

/// 11: creates a session and a delegate for each download, all with one identifier.
final class OneSessionEach: NSObject, Downloader {
  let kept = Kept()

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
  let kept = Kept()

  func text() async -> String {
    session.downloadTask(with: FixtureURL.file).resume()
    session.finishTasksAndInvalidate()
    return "under way"
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

/// 12, right: creates a new session when the last one has become invalid.
final class MakesSessionAgain: NSObject, Downloader {
  let kept = Kept()

  func text() async -> String {
    session.downloadTask(with: FixtureURL.file).resume()
    session.finishTasksAndInvalidate()
    return "under way"
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    kept.session.withLock { $0 = nil }
    print("the session is over")
  }
}

/// 13: starts a download whenever no task is listed. Completed tasks whose events were delivered are not listed.
final class AsksWhatRuns: NSObject, Downloader {
  let kept = Kept()

  func text() async -> String {
    if await session.allTasks.isEmpty { start() }
    return Folder.bytes.map { "\($0) bytes" } ?? "nothing yet"
  }
}
