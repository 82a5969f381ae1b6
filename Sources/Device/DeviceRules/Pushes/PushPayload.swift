// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The fields of a notification's payload that the device evaluates.
struct PushPayload {
  /// `"content-changed": true`. Source: "Updating widgets with WidgetKit push notifications".
  private(set) var isContentChanged = false
  /// `"content-available": 1`. Source: "Pushing background updates to your app".
  private(set) var isContentAvailable = false

  /// - Parameter text: JSON; a trailing comma is accepted, since Apple's own sample has one.
  init(_ text: String) {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    guard let aps = try? decoder.decode(Payload.self, from: Data(text.utf8)).aps else { return }
    isContentChanged = aps.contentChanged
    isContentAvailable = aps.contentAvailable
  }

  private struct Payload: Decodable {
    let aps: Aps
  }

  private struct Aps: Decodable {
    enum Key: String, CodingKey {
      case contentChanged = "content-changed"
      case contentAvailable = "content-available"
    }
    let contentChanged: Bool
    let contentAvailable: Bool

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      contentChanged = (try? values.decode(Bool.self, forKey: .contentChanged)) ?? false
      let number = try? values.decode(Int.self, forKey: .contentAvailable)
      contentAvailable = number.map { $0 == 1 } ?? (try? values.decode(Bool.self, forKey: .contentAvailable)) ?? false
    }
  }
}
