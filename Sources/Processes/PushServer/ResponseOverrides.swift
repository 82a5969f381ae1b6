// SPDX-License-Identifier: Apache-2.0

import APNs
import Foundation
import Messages

/// Responses that the operator has set for requests, oldest first, each for a number of times. They are not persisted.
struct ResponseOverrides: Sendable {
  /// Those that are not used up.
  private(set) var overrides: [OverrideResponses] = []

  /// Adds an override; one for 0 times removes those for the same token.
  mutating func handle(_ replacement: OverrideResponses) {
    if replacement.times == 0 {
      overrides.removeAll { replacement.token == nil || $0.token == replacement.token }
    } else {
      overrides.append(replacement)
    }
  }

  /// Returns the override for a request to a token, and decrements its count.
  mutating func next(for token: String) -> OverrideResponses? {
    guard !overrides.isEmpty else { return nil }
    let token = token.lowercased()
    guard let index = overrides.firstIndex(where: { $0.token == nil || $0.token == token }) else { return nil }
    let replacement = overrides[index]
    if replacement.times == 1 {
      overrides.remove(at: index)
    } else {
      overrides[index] = OverrideResponses(
        status: replacement.status, reason: replacement.reason, manner: replacement.manner,
        times: replacement.times - 1, token: replacement.token,
        latency: replacement.latency)
    }
    return replacement
  }

  /// Validates an override.
  ///
  /// - Throws: `refused`.
  static func check(_ replacement: OverrideResponses) throws(BusError) {
    guard (0...1_000_000).contains(replacement.times) else {
      throw BusError(.refused, "times must be 0 to 1000000, not \(replacement.times)")
    }
    guard (0...3_600).contains(replacement.latency) else {
      throw BusError(.refused, "the latency must be 0 to 3600 seconds, not \(replacement.latency)")
    }
    guard replacement.status != 200 else {
      guard replacement.reason == nil else { throw BusError(.refused, "a 200 has no reason") }
      return
    }
    guard (400...599).contains(replacement.status) else {
      throw BusError(
        .refused, "\(replacement.status) is not a valid status: use 400 to 599, or 200 for the normal response")
    }
  }
}

extension OverrideResponses {
  /// How the response is sent.
  var mannerOnWire: APNsAnswer.Manner {
    switch manner {
    case .response: .response
    case .closesStream: .reset
    case .goesAway: .goAway
    }
  }

  /// Returns the normal response with the latency and manner of this override.
  func delaying(_ answer: APNsAnswer) -> APNsAnswer {
    APNsAnswer(
      status: answer.status, reason: answer.reason, timestamp: answer.timestamp, apnsID: answer.apnsID,
      idHeader: answer.idHeader, uniqueID: answer.uniqueID,
      manner: manner == .response ? answer.manner : mannerOnWire, latency: latency)
  }

  /// Returns the response of this override instead of the normal one.
  func replacing(_ due: APNsAnswer, now: Date) -> APNsAnswer {
    APNsAnswer(
      status: status, reason: reason, timestamp: status == 410 ? now : nil, apnsID: due.apnsID,
      idHeader: due.idHeader, uniqueID: due.uniqueID, manner: mannerOnWire, latency: latency)
  }

  /// The explanation in the delivery log.
  var explanation: String { "set by `widgetlab apns answer`" }
}
