import Foundation
import Synchronization
import WidgetKit

// What came, and what is done with it.

/// 9: reads the file when the method that it was handed in has returned.
final class ReadsLater: NSObject, Downloader {
  let kept = Kept()
  private let file = Mutex<URL?>(nil)

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    file.withLock { $0 = location }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    Task { if let file = file.withLock(\.self) { take(file) } }
  }
}

/// 16: takes what the server says of its trouble for what was asked for.
final class TakesAnyFile: NSObject, Downloader {
  let kept = Kept()

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    take(location)
  }
}

/// 17: gives its credentials to a server that sends it to another one.
final class TrustsRedirection: NSObject, Downloader {
  let kept = Kept()

  func start() {
    var request = URLRequest(url: TrialURL.file)
    request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
    session.downloadTask(with: request).resume()
  }

  func begin() async { if Folder.isFirst("began") { start() } }
}

/// 17, right: asks itself where the file is, and gives its credentials to that server.
final class AsksWhereTo: NSObject, Downloader {
  let kept = Kept()

  func begin() async {
    guard Folder.isFirst("began"), let place = try? await place() else { return }
    var request = URLRequest(url: place)
    request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
    session.downloadTask(with: request).resume()
  }

  private func place() async throws -> URL {
    let (_, response) = try await URLSession.shared.data(from: TrialURL.file, delegate: StaysHere())
    let place = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Location")
    return place.flatMap { URL(string: $0) } ?? TrialURL.file
  }

  private final class StaysHere: NSObject, URLSessionTaskDelegate {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest
    ) async -> URLRequest? { nil }
  }
}

/// 19: app and extension write one file, with or without a lock that holds over processes.
final class Publishes: NSObject, Downloader {
  let kept = Kept()
  private let isLocked: Bool
  init(isLocked: Bool) { self.isLocked = isLocked }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    Task { await publish() }
  }

  /// Reads what is published, and writes it again with an entry more, which takes its time.
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
