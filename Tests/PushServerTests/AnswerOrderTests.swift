import APNs
import Conversations
import Foundation
import Testing

@testable import PushServer

/// Answers that an operator asked for.
@Suite struct `an order of an answer` {
  private func order(
    _ status: Int, _ reason: String? = nil, manner: AnswerPushes.Manner = .response, times: Int = 1,
    token: String? = nil, latency: Double = 0
  ) -> AnswerPushes {
    AnswerPushes(status: status, reason: reason, manner: manner, times: times, token: token, latency: latency)
  }

  @Test func `holds for as many requests as it says, and the earlier one first`() {
    var orders = AnswerOrders()
    orders.take(order(503, "ServiceUnavailable", times: 2))
    orders.take(order(500, "InternalServerError"))
    #expect((0..<4).map { _ in orders.next(for: "00ff")?.status } == [503, 503, 500, nil])
  }

  @Test func `for a token is met by requests to it alone`() {
    var orders = AnswerOrders()
    orders.take(order(410, "Unregistered", token: "00ff"))
    #expect(orders.next(for: "11") == nil)
    #expect(orders.next(for: "00ff")?.reason == "Unregistered")
    #expect(orders.next(for: "00ff") == nil)
  }

  @Test func `for 0 times takes back those of its token, or all`() {
    var orders = AnswerOrders()
    orders.take(order(410, "Unregistered", token: "00ff"))
    orders.take(order(500, "InternalServerError"))
    orders.take(order(200, times: 0, token: "00ff"))
    #expect(orders.next(for: "00ff")?.status == 500)
    orders.take(order(500, "InternalServerError", times: 9))
    orders.take(order(200, times: 0))
    #expect(orders.next(for: "00ff") == nil)
  }

  @Test(
    arguments: [
      (302, nil, 1, 0), (200, "Unregistered", 1, 0), (503, "Shutdown", -1, 0), (503, "Shutdown", 1, -1),
      (503, "Shutdown", 1, 10_000), (600, nil, 1, 0),
    ] as [(Int, String?, Int, Double)])
  func `that makes no sense is refused`(status: Int, reason: String?, times: Int, latency: Double) {
    #expect(throws: BusError.self) {
      try AnswerOrders.check(order(status, reason, times: times, latency: latency))
    }
  }

  @Test func `replaces the answer that is due, or delays it`() {
    let due = APNsAnswer(status: 200, apnsID: "id", uniqueID: UUID())
    let now = Date(timeIntervalSince1970: 1_000)
    let gone = order(410, "Unregistered").replacing(due, now: now)
    #expect(gone.status == 410 && gone.timestamp == now && gone.apnsID == "id" && gone.uniqueID == due.uniqueID)
    #expect(order(503, "Shutdown", manner: .goesAway).replacing(due, now: now).manner == .goAway)
    let late = order(200, manner: .closesStream, latency: 2).delaying(due)
    #expect(late.status == 200 && late.latency == 2 && late.manner == .reset)
    let ending = APNsAnswer(status: 403, reason: "Forbidden", apnsID: "id", manner: .responseAndGoAway)
    #expect(order(200, latency: 1).delaying(ending).manner == .responseAndGoAway)
  }
}
