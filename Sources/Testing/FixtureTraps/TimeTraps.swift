// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import WidgetKit

// Pitfalls with waits and ends.

/// 5: starts one download in each wake.
final class OneAfterTheOther: NSObject, Downloader {
  let kept = Kept()

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    session.downloadTask(with: FixtureURL.file).resume()
    Task { @MainActor in complete() }
  }
}

/// 5, right: starts all downloads before it is suspended.
final class AllTogether: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    for _ in 1...3 { session.downloadTask(with: FixtureURL.file).resume() }
  }
}

/// 14: treats a force quit by the user as a failure of the server.
final class GivesUp: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    let session = session
    if Folder.isFirst("began") { session.downloadTask(with: FixtureURL.file).resume() }
  }
}

/// 14: exits by itself, for comparison with a force quit.
final class Exits: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    start()
    exit(0)
  }
}

/// 14, right: restarts the downloads that a force quit cancelled.
final class BeginsAgain: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    let session = session
    if Folder.isFirst("began") { session.downloadTask(with: FixtureURL.file).resume() }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard (error as? URLError)?.backgroundTaskCancelledReason == .userForceQuitApplication else { return }
    print("force quit by the user")
    session.downloadTask(with: FixtureURL.file).resume()
  }
}

/// 15, right: does not wait for a network longer than the content is useful.
final class WaitsAMinute: NSObject, Downloader {
  let kept = Kept()

  var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
    configuration.sharedContainerIdentifier = Folder.group
    configuration.timeoutIntervalForResource = 60
    return configuration
  }
}

/// 18: gives up when the background transfer service cannot be reached.
final class TriesOnce: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    await askServer()
    start()
  }
}

/// 18, right: retries.
final class TriesAgain: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    await askServer()
    start()
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    switch (error as? URLError)?.code {
    case .backgroundSessionWasDisconnected?, .backgroundSessionInUseByAnotherProcess?:
      print("could not communicate; retrying")
      start()
    default: reload()
    }
  }
}
