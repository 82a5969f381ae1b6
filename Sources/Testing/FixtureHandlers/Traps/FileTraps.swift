// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import WidgetKit

// Pitfalls with the downloaded file.

/// 9: reads the file after the delegate method returned.
final class ReadsLater: NSObject, Downloader {
  let keptState = Kept()
  private let file = Mutex<URL?>(nil)

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    file.withLock { $0 = location }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    Task { if let file = file.withLock(\.self) { take(file) } }
  }
}

/// 16: accepts the body of an error response as the file.
final class TakesAnyFile: NSObject, Downloader {
  let keptState = Kept()

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    take(location)
  }
}

/// 17: sends its credentials along a redirection to another server.
final class TrustsRedirection: NSObject, Downloader {
  let keptState = Kept()

  func start() {
    var request = URLRequest(url: FixtureURL.file)
    request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
    session.downloadTask(with: request).resume()
  }

  func begin() async { if Folder.isFirst("began") { start() } }
}

/// 17, right: resolves the redirection itself, and sends its credentials to the target.
final class AsksWhereTo: NSObject, Downloader {
  let keptState = Kept()

  func begin() async {
    guard Folder.isFirst("began"), let place = try? await place() else { return }
    var request = URLRequest(url: place)
    request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
    session.downloadTask(with: request).resume()
  }

  private func place() async throws -> URL {
    let (_, response) = try await URLSession.shared.data(from: FixtureURL.file, delegate: StaysHere())
    let place = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Location")
    return place.flatMap { URL(string: $0) } ?? FixtureURL.file
  }

  private final class StaysHere: NSObject, URLSessionTaskDelegate {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest
    ) async -> URLRequest? { nil }
  }
}

/// 19: app and extension write one file, with or without a lock between processes.
final class Publishes: NSObject, Downloader {
  let keptState = Kept()
  private let isLocked: Bool
  init(isLocked: Bool) { self.isLocked = isLocked }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    Task { await publish() }
  }

  /// Reads the published file, and writes it with one more entry, with a slow request between the two.
  private func publish() async {
    let lock = open(Folder.file("lock").path, O_RDWR | O_CREAT, 0o600)
    defer { close(lock) }
    if isLocked { flock(lock, LOCK_EX) }
    let file = Folder.file("published")
    let entries = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    await askServer()
    try? (entries + "\(identifier)\n").write(to: file, atomically: true, encoding: .utf8)
    print("published")
  }
}

// Pitfalls with waits and ends.

/// 5: starts one download in each wake.
final class OneAfterTheOther: NSObject, Downloader {
  let keptState = Kept()

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    session.downloadTask(with: FixtureURL.file).resume()
    Task { @MainActor in complete() }
  }
}

/// 5, right: starts all downloads before it is suspended.
final class AllTogether: NSObject, Downloader {
  let keptState = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    for _ in 1...3 { session.downloadTask(with: FixtureURL.file).resume() }
  }
}

/// 14: treats a force quit by the user as a failure of the server.
final class GivesUp: NSObject, Downloader {
  let keptState = Kept()

  func begin() async {
    let session = session
    if Folder.isFirst("began") { session.downloadTask(with: FixtureURL.file).resume() }
  }
}

/// 14: exits by itself, for comparison with a force quit.
final class Exits: NSObject, Downloader {
  let keptState = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    start()
    exit(0)
  }
}

/// 14, right: restarts the downloads that a force quit cancelled.
final class BeginsAgain: NSObject, Downloader {
  let keptState = Kept()

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
  let keptState = Kept()

  var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
    configuration.sharedContainerIdentifier = Folder.group
    configuration.timeoutIntervalForResource = 60
    return configuration
  }
}

/// 18: gives up when the background transfer service cannot be reached.
final class TriesOnce: NSObject, Downloader {
  let keptState = Kept()

  func begin() async {
    guard Folder.isFirst("began") else { return }
    await askServer()
    start()
  }
}

/// 18, right: retries.
final class TriesAgain: NSObject, Downloader {
  let keptState = Kept()

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
