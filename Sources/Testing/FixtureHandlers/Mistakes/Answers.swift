// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import Synchronization
import WidgetKit

// Mistakes in when a provider completes, and with what.

/// The server's articles, and what is shown of them.
enum Server {
  struct Article: Decodable {
    let title: String
    /// Seconds from now.
    let begins: Double
  }

  static func articles() async throws -> [Article] {
    guard let url = FixtureMistakes.environment["TRIAL_URL"].flatMap({ URL(string: $0) }) else { return [] }
    let (data, _) = try await URLSession.shared.data(from: url)
    return try JSONDecoder().decode([Article].self, from: data)
  }
}

extension Timeline where EntryType == Note {
  /// One text, for an hour.
  init(_ text: String) {
    self.init(entries: [Note(date: Date(), text: text)], policy: .after(Date().addingTimeInterval(3600)))
  }
}

/// Never completes when the server's response is not the expected one.
struct AnswersWhenAllIsWell: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    Task {
      guard let first = try? await Server.articles().first else { return }
      completion(Timeline(first.title))
    }
  }
}

struct AnswersAnyway: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    Task { completion(Timeline((try? await Server.articles().first)?.title ?? "no news")) }
  }
}

/// Blocks its thread until the server has answered. Shows how many characters both ways of loading give, and the version of
/// the system.
struct LoadsSynchronously: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let url = FixtureMistakes.environment["TRIAL_URL"].flatMap { URL(string: $0) }
    let data = url.flatMap { try? Data(contentsOf: $0) }
    var encoding = String.Encoding.ascii
    let text = url.flatMap { try? String(contentsOf: $0, usedEncoding: &encoding) }
    let system = ProcessInfo.processInfo
    let isNew = system.isOperatingSystemAtLeast(
      OperatingSystemVersion(majorVersion: 17, minorVersion: 0, patchVersion: 0))
    completion(
      Timeline(
        "\(data?.count ?? -1) \(text?.count ?? -1) \(isNew) \(system.operatingSystemVersion.majorVersion) "
          + system.operatingSystemVersionString))
  }
}

/// Completes with the cached text at once, and again with the new one: calls the same completion twice.
struct ShowsCacheThenNews: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    completion(Timeline("from the cache"))
    Task {
      if let news = try? await Server.articles().first { completion(Timeline(news.title)) }
    }
  }
}

/// Omits past entries; in the evening no entry is left.
struct ShowsWhatIsToCome: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    Task { completion(Timeline(entries: await upcoming(), policy: .never)) }
  }
}

struct ShowsWhatIsToComeOrNothing: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    Task {
      let entries = await upcoming()
      let none = [Note(date: Date(), text: "nothing more today")]
      completion(Timeline(entries: entries.isEmpty ? none : entries, policy: .never))
    }
  }
}

private func upcoming() async -> [Note] {
  let articles = (try? await Server.articles()) ?? []
  return articles.filter { $0.begins > 0 }.map { Note(date: Date().addingTimeInterval($0.begins), text: $0.title) }
}

/// Assumes that the response is not empty.
struct TrustsTheServer: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    Task {
      let articles = (try? await Server.articles()) ?? []
      completion(Timeline(articles[0].title))
    }
  }
}

struct LooksFirst: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    Task { completion(Timeline(((try? await Server.articles()) ?? []).first?.title ?? "no news")) }
  }
}

/// Decodes an image of 4000 by 4000 pixels to show it in a small widget.
struct DecodesAllOfIt: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    Task {
      let pixels = [UInt32](repeating: 0xff33_6699, count: 4000 * 4000)
      // Requests the caption while the image is in memory.
      let caption = (try? await Server.articles().first)?.title ?? "no caption"
      completion(Timeline("\(caption), \(pixels.count) pixels"))
    }
  }
}

struct DecodesWhatIsSeen: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    Task {
      let pixels = [UInt32](repeating: 0xff33_6699, count: 400 * 400)
      let caption = (try? await Server.articles().first)?.title ?? "no caption"
      completion(Timeline("\(caption), \(pixels.count) pixels"))
    }
  }
}

/// The server's text of an article.
private let article = String(repeating: "All of it, word for word. ", count: 1000)

/// An entry for every article of the year, each with its whole text, which the view truncates.
struct GivesWholeArticles: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let entries = (0..<365).map { Note(date: Date().addingTimeInterval(Double($0) * 86_400), text: article) }
    completion(Timeline(entries: entries, policy: .never))
  }
}

struct GivesHeadlines: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let headline = String(article.prefix(25))
    let entries = (0..<365).map { Note(date: Date().addingTimeInterval(Double($0) * 86_400), text: headline) }
    completion(Timeline(entries: entries, policy: .never))
  }
}

// Mistakes in the dates of entries and in reload policies.

/// Requests a reload every five minutes.
struct AsksEveryFiveMinutes: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let next = Calendar.current.date(byAdding: .minute, value: 5, to: Date()) ?? Date()
    completion(Timeline(entries: [Note(date: Date(), text: "every five minutes")], policy: .after(next)))
  }
}

struct AsksEveryHour: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let next = Calendar.current.date(byAdding: .hour, value: 1, to: Date()) ?? Date()
    completion(Timeline(entries: [Note(date: Date(), text: "every hour")], policy: .after(next)))
  }
}

/// An entry for each hour of the day that was measured, which is in the past.
struct CountsFromTheData: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let measured = Date().addingTimeInterval(-2 * 86_400)
    let entries = (0..<24).map { Note(date: measured.addingTimeInterval(Double($0) * 3600), text: "hour \($0)") }
    completion(Timeline(entries: entries, policy: .atEnd))
  }
}

struct CountsFromNow: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let now = Date()
    let entries = (0..<24).map { Note(date: now.addingTimeInterval(Double($0) * 3600), text: "hour \($0)") }
    completion(Timeline(entries: entries, policy: .atEnd))
  }
}

/// Reloads the widget from its own provider.
struct ReloadsWhatItGives: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    UserDefaults.standard.set("saved", forKey: "note")
    WidgetCenter.shared.reloadAllTimelines()
    completion(Timeline("saved"))
  }
}

struct SavesWhatItGives: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    UserDefaults.standard.set("saved", forKey: "note")
    completion(Timeline("saved"))
  }
}

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
