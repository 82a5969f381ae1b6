import Foundation
import Synchronization
import WidgetKit

// What waits, and what ends.

/// 5: begins one download in each wake.
final class OneAfterTheOther: NSObject, Downloader {
  let kept = Kept()

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    session.downloadTask(with: TrialURL.file).resume()
    Task { @MainActor in complete() }
  }
}

/// 5, right: begins all downloads before it sleeps.
final class AllTogether: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    for _ in 1...3 { session.downloadTask(with: TrialURL.file).resume() }
  }
}

/// 14: takes it for the server's failure that a person has ended the app.
final class GivesUp: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    let session = session
    if Folder.isFirst("began") { session.downloadTask(with: TrialURL.file).resume() }
  }
}

/// 14: ends itself, as a test of what happens when a person does.
final class Exits: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    start()
    exit(0)
  }
}

/// 14, right: begins again what was cancelled because a person ended the app.
final class BeginsAgain: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    let session = session
    if Folder.isFirst("began") { session.downloadTask(with: TrialURL.file).resume() }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard (error as? URLError)?.backgroundTaskCancelledReason == .userForceQuitApplication else { return }
    print("ended by the person")
    session.downloadTask(with: TrialURL.file).resume()
  }
}

/// 15, right: does not wait for a network longer than what is shown is worth.
final class WaitsAMinute: NSObject, Downloader {
  let kept = Kept()

  var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
    configuration.sharedContainerIdentifier = Folder.group
    configuration.timeoutIntervalForResource = 60
    return configuration
  }
}

/// 18: takes it for the end that the system's service could not be reached.
final class TriesOnce: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    await askServer()
    start()
  }
}

/// 18, right: asks again.
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
      print("could not communicate; once more")
      start()
    default: reload()
    }
  }
}
