// SPDX-License-Identifier: Apache-2.0

import Foundation
import WidgetKit

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
