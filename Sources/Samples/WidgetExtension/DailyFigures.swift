// SPDX-License-Identifier: Apache-2.0

import Foundation
import WidgetKit

/// One day's caffeine as the server sends it.
struct DailyFigures: Codable, Sendable {
  struct Drink: Codable, Sendable {
    let name: String
    let milligrams: Int
    let time: Date
  }

  let date: Date
  let milligrams: Int
  let drinks: [Drink]
  /// The number of seconds for which they are fresh.
  let freshFor: TimeInterval
}

/// The last figures that were received, in the folder of the app group.
struct FiguresFile: Sendable {
  struct Stored: Sendable {
    let figures: DailyFigures
    let came: Date

    /// Whether newer figures are not needed yet.
    var isFresh: Bool { Date() < came.addingTimeInterval(figures.freshFor) }
  }

  static let group = "group.com.example.CaffeineTracker"

  /// `nil` when the process does not belong to the group.
  static let shared = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group).map {
    FiguresFile(url: $0.appendingPathComponent("figures.json"))
  }

  let url: URL

  /// The figures in the file; `nil` without a file.
  var stored: Stored? {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    guard let data = try? Data(contentsOf: url),
      let figures = try? decoder.decode(DailyFigures.self, from: data),
      let came = try? FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date
    else { return nil }
    return Stored(figures: figures, came: came)
  }

  /// Replaces the last file with a downloaded one.
  func take(_ download: URL) throws {
    try? FileManager.default.removeItem(at: url)
    try FileManager.default.moveItem(at: download, to: url)
    try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: url.path)
  }
}

/// The developer's server: it has today's figures, and notifies the widgets with a push when they change.
struct CaffeineServer: Sendable {
  /// `nil` in an environment without a server that pushes.
  static let shared = ProcessInfo.processInfo.environment["CAFFEINE_SERVER_URL"].flatMap { URL(string: $0) }
    .map { CaffeineServer(url: $0) }

  let url: URL

  /// The current figures; `nil` when the server cannot be reached.
  func figures() async -> DailyFigures? {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    var request = URLRequest(url: url.appendingPathComponent("figures"))
    request.cachePolicy = .reloadIgnoringLocalCacheData
    request.timeoutInterval = 5
    guard let (data, response) = try? await URLSession.shared.data(for: request),
      (response as? HTTPURLResponse)?.statusCode == 200
    else { return nil }
    return try? decoder.decode(DailyFigures.self, from: data)
  }
}
