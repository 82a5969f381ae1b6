// SPDX-License-Identifier: Apache-2.0

import Foundation
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
