// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import Synchronization
import WidgetKit

// Mistakes with the events of a download.

/// Starts the download at the first request, and prints the size of the file.
final class NewsDownload: NSObject, URLSessionDownloadDelegate {
  static let shared = NewsDownload()
  static let identifier = "com.example.Mistake.news"
  private let made = Mutex<URLSession?>(nil)
  @MainActor var completion: (() -> Void)?

  var session: URLSession {
    made.withLock { made in
      if let made { return made }
      let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
      configuration.sharedContainerIdentifier = FixtureMistakes.environment["TRIAL_GROUP"]
      let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      made = session
      return session
    }
  }

  func begin() {
    guard let url = FixtureMistakes.environment["TRIAL_URL"].flatMap({ URL(string: $0) }),
      !UserDefaults.standard.bool(forKey: "began")
    else { return }
    UserDefaults.standard.set(true, forKey: "began")
    session.downloadTask(with: url).resume()
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    print("came \((try? Data(contentsOf: location))?.count ?? 0)")
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    WidgetCenter.shared.reloadAllTimelines()
    Task { @MainActor in
      completion?()
      completion = nil
    }
  }
}

struct DownloadsNews: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    if !UserDefaults.standard.bool(forKey: "began") { NewsDownload.shared.begin() }
    completion(Timeline("news to come"))
  }
}

/// Omits the modifier that handles the events.
struct WithoutHandler: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: FixtureMistakes.kind, provider: DownloadsNews()) { entry in Text(verbatim: entry.text) }
  }
}

/// Starts its only download in the handler of the download's events.
struct DownloadsInHandler: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: FixtureMistakes.kind, provider: AnswersAnyway()) { entry in Text(verbatim: entry.text) }
      .onBackgroundURLSessionEvents { identifier, completion in
        guard identifier == FixtureMistakes.kind else { return }
        NewsDownload.shared.begin()
        completion()
      }
  }
}

struct WithHandler: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: FixtureMistakes.kind, provider: DownloadsNews()) { entry in Text(verbatim: entry.text) }
      .onBackgroundURLSessionEvents(matching: NewsDownload.identifier) { _, completion in
        NewsDownload.shared.completion = completion
        _ = NewsDownload.shared.session
      }
  }
}
