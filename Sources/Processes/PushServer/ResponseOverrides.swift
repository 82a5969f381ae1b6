// SPDX-License-Identifier: Apache-2.0

import APNs
import Foundation
import Messages

/// Responses that the operator has set for requests, oldest first, each for a number of times. They are not persisted.
struct ResponseOverrides: Sendable {
  private var orders: [OverrideResponses] = []

  /// Adds an override; one for 0 times removes those for the same token.
  mutating func handle(_ order: OverrideResponses) {
    if order.times == 0 {
      orders.removeAll { order.token == nil || $0.token == order.token }
    } else {
      orders.append(order)
    }
  }

  /// Returns the override for a request to a token, and decrements its count.
  mutating func next(for token: String) -> OverrideResponses? {
    guard !orders.isEmpty else { return nil }
    let token = token.lowercased()
    guard let index = orders.firstIndex(where: { $0.token == nil || $0.token == token }) else { return nil }
    let order = orders[index]
    if order.times == 1 {
      orders.remove(at: index)
    } else {
      orders[index] = OverrideResponses(
        status: order.status, reason: order.reason, manner: order.manner, times: order.times - 1, token: order.token,
        latency: order.latency)
    }
    return order
  }

  /// Validates an override.
  ///
  /// - Throws: `refused`.
  static func check(_ order: OverrideResponses) throws(BusError) {
    guard (0...1_000_000).contains(order.times) else {
      throw BusError(.refused, "times must be 0 to 1000000, not \(order.times)")
    }
    guard (0...3_600).contains(order.latency) else {
      throw BusError(.refused, "the latency must be 0 to 3600 seconds, not \(order.latency)")
    }
    guard order.status != 200 else {
      guard order.reason == nil else { throw BusError(.refused, "a 200 has no reason") }
      return
    }
    guard (400...599).contains(order.status) else {
      throw BusError(
        .refused, "\(order.status) is not a valid status: use 400 to 599, or 200 for the normal response")
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
