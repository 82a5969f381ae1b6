import APNs
import Conversations
import Foundation

/// Answers other than those that are due, as an operator asked for them: the earliest first, each as often as was said.
/// They end with the process.
struct AnswerOrders: Sendable {
  private var orders: [AnswerPushes] = []

  /// Takes an order; one for 0 times takes back those for the same token.
  mutating func take(_ order: AnswerPushes) {
    if order.times == 0 {
      orders.removeAll { order.token == nil || $0.token == order.token }
    } else {
      orders.append(order)
    }
  }

  /// The order that a request to a token meets, once less from now on.
  mutating func next(for token: String) -> AnswerPushes? {
    guard !orders.isEmpty else { return nil }
    let token = token.lowercased()
    guard let index = orders.firstIndex(where: { $0.token == nil || $0.token == token }) else { return nil }
    let order = orders[index]
    if order.times == 1 {
      orders.remove(at: index)
    } else {
      orders[index] = AnswerPushes(
        status: order.status, reason: order.reason, manner: order.manner, times: order.times - 1, token: order.token,
        latency: order.latency)
    }
    return order
  }

  /// Why an order cannot be taken.
  ///
  /// - Throws: `refused`.
  static func check(_ order: AnswerPushes) throws(BusError) {
    guard (0...1_000_000).contains(order.times) else {
      throw BusError(.refused, "times is 0 to 1000000, and not \(order.times)")
    }
    guard (0...3_600).contains(order.latency) else {
      throw BusError(.refused, "the latency is 0 to 3600 seconds, and not \(order.latency)")
    }
    guard order.status != 200 else {
      guard order.reason == nil else { throw BusError(.refused, "a 200 has no reason") }
      return
    }
    guard (400...599).contains(order.status) else {
      throw BusError(
        .refused, "\(order.status) is no status of a refusal: 400 to 599, or 200 for the answer that is due")
    }
  }
}

extension AnswerPushes {
  /// What happens on the wire.
  var mannerOnWire: APNsAnswer.Manner {
    switch manner {
    case .response: .response
    case .closesStream: .reset
    case .goesAway: .goAway
    }
  }

  /// The answer that is due, in the way that was asked for.
  func delaying(_ answer: APNsAnswer) -> APNsAnswer {
    APNsAnswer(
      status: answer.status, reason: answer.reason, timestamp: answer.timestamp, apnsID: answer.apnsID,
      idHeader: answer.idHeader, uniqueID: answer.uniqueID,
      manner: manner == .response ? answer.manner : mannerOnWire, latency: latency)
  }

  /// This answer, in the place of the one that is due.
  func replacing(_ due: APNsAnswer, now: Date) -> APNsAnswer {
    APNsAnswer(
      status: status, reason: reason, timestamp: status == 410 ? now : nil, apnsID: due.apnsID,
      idHeader: due.idHeader, uniqueID: due.uniqueID, manner: mannerOnWire, latency: latency)
  }

  /// What the delivery log says of it.
  var explanation: String { "as `widgetlab apns answer` asked for" }
}
