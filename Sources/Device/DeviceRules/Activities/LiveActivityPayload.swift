// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The fields of a payload that decide about a Live Activity. Source: *Generating a remote notification*.
package struct LiveActivityPayload: Sendable, Hashable {
  package enum Event: String, Decodable, Sendable { case start, update, end }
  package private(set) var event: Event?
  package private(set) var timestamp: Double?
  package private(set) var staleDate: Date?
  package private(set) var dismissalDate: Date?
  package private(set) var hasAttributes = false
  /// Whether it has an alert, a text or a dictionary. A device drops a start without one.
  package private(set) var hasAlert = false

  package init() {}

  /// - Returns: `nil` when it is not JSON with `aps`.
  package init?(_ text: String) {
    guard let aps = try? JSONDecoder().decode(Payload.self, from: Data(text.utf8)).aps else { return nil }
    self = aps.payload
  }

  private struct Payload: Decodable { let aps: Aps }

  private struct Aps: Decodable {
    enum Key: String, CodingKey {
      case event, timestamp, alert
      case staleDate = "stale-date"
      case dismissalDate = "dismissal-date"
      case attributesType = "attributes-type"
    }
    var payload = LiveActivityPayload()

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      payload.event = (try? values.decodeIfPresent(String.self, forKey: .event)).flatMap { $0.flatMap(Event.init) }
      payload.timestamp = try? values.decode(Double.self, forKey: .timestamp)
      func date(_ key: Key) -> Date? {
        (try? values.decode(Double.self, forKey: key)).map { Date(timeIntervalSince1970: $0) }
      }
      payload.staleDate = date(.staleDate)
      payload.dismissalDate = date(.dismissalDate)
      payload.hasAttributes = values.contains(.attributesType)
      payload.hasAlert =
        (try? values.decode(String.self, forKey: .alert)) != nil
        || (try? values.nestedContainer(keyedBy: Key.self, forKey: .alert)) != nil
    }
  }
}

/// The fields of a payload that a device with the author's code shows. Source: *Generating a remote notification*.
struct LiveActivityContent: Sendable, Hashable {
  /// JSON, with sorted keys; `nil` when it is missing or not an object.
  package let state: String?
  package let attributesType: String?
  /// JSON, with sorted keys.
  package let attributes: String?
  package let relevanceScore: Double?
  /// The title of the alert, or its text.
  let alert: String?
  /// `"input-push-token": 1`: the app gets a token for updates.
  let wantsToken: Bool

  package init(_ text: String) {
    let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let aps = object?["aps"] as? [String: Any] ?? [:]
    func json(_ key: String) -> String? {
      guard let part = aps[key] as? [String: Any],
        let data = try? JSONSerialization.data(withJSONObject: part, options: [.sortedKeys, .withoutEscapingSlashes])
      else { return nil }
      return String(decoding: data, as: UTF8.self)
    }
    state = json("content-state")
    attributesType = aps["attributes-type"] as? String
    attributes = json("attributes")
    relevanceScore = (aps["relevance-score"] as? NSNumber)?.doubleValue
    let details = aps["alert"] as? [String: Any]
    alert = aps["alert"] as? String ?? details?["title"] as? String ?? details?["body"] as? String
    wantsToken = (aps["input-push-token"] as? NSNumber)?.boolValue ?? false
  }
}
