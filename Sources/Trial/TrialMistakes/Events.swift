import Foundation
import SwiftUI
import Synchronization
import WidgetKit

// A download whose end somebody must be told of.

/// Begins the download when it is first asked, and shows what came.
final class NewsDownload: NSObject, URLSessionDownloadDelegate {
  static let shared = NewsDownload()
  static let identifier = "com.example.Mistake.news"
  private let made = Mutex<URLSession?>(nil)
  @MainActor var completion: (() -> Void)?

  var session: URLSession {
    made.withLock { made in
      if let made { return made }
      let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
      configuration.sharedContainerIdentifier = TrialMistakes.environment["TRIAL_GROUP"]
      let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      made = session
      return session
    }
  }

  func begin() {
    guard let url = TrialMistakes.environment["TRIAL_URL"].flatMap({ URL(string: $0) }),
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

/// Leaves the modifier out, since nobody says what it is for.
struct WithoutHandler: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: TrialMistakes.kind, provider: DownloadsNews()) { entry in Text(verbatim: entry.text) }
  }
}

/// Begins its only download when it is told that it has ended.
struct DownloadsInHandler: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: TrialMistakes.kind, provider: AnswersAnyway()) { entry in Text(verbatim: entry.text) }
      .onBackgroundURLSessionEvents { identifier, completion in
        guard identifier == TrialMistakes.kind else { return }
        NewsDownload.shared.begin()
        completion()
      }
  }
}

struct WithHandler: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: TrialMistakes.kind, provider: DownloadsNews()) { entry in Text(verbatim: entry.text) }
      .onBackgroundURLSessionEvents(matching: NewsDownload.identifier) { _, completion in
        NewsDownload.shared.completion = completion
        _ = NewsDownload.shared.session
      }
  }
}
