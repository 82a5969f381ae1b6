// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Downloads the app's own figures in a background session.
final class FiguresSession: NSObject, URLSessionDownloadDelegate, Sendable {
  static let shared = FiguresSession()
  static let identifier = "com.example.CaffeineTracker.app.figures"

  private let made = Mutex<URLSession?>(nil)
  @MainActor private var completion: (() -> Void)?

  private var session: URLSession {
    made.withLock { made in
      if let made { return made }
      let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
      let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      made = session
      return session
    }
  }

  /// Starts a download, unless one is in progress.
  func start() async {
    let address = ProcessInfo.processInfo.environment["CAFFEINE_FIGURES_URL"] ?? "https://caffeine.example.com/figures"
    guard let url = URL(string: address), await session.allTasks.isEmpty else { return }
    session.downloadTask(with: url).resume()
  }

  /// Called when the system has events of the session. `completion` is called after all of them are handled.
  @MainActor func handleEvents(completion: @escaping () -> Void) {
    self.completion = completion
    _ = session
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    // The system deletes the file when this method returns.
    let figures = try? Data(contentsOf: location)
    print("the app downloaded its figures: \(figures?.count ?? 0) bytes")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    if let error { print("the app's download failed: \(error)") }
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    Task { @MainActor in
      completion?()
      completion = nil
    }
  }
}
