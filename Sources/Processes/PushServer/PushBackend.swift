import APNs
import Conversations
import Foundation
import PushStore
import Synchronization

/// What stands behind the front of one environment: the contract says at once what is wrong with a request, and what is good
/// goes to the keeper, whose word the provider's 200 waits for.
struct PushBackend: APNsBackend {
  let contract: APNsContract
  let keys: ProviderKeyRing
  let keeper: PushKeeper
  let orders: Orders

  /// The operator's orders, of both environments.
  final class Orders: Sendable {
    private let orders = Mutex(AnswerOrders())
    func take(_ order: AnswerPushes) { orders.withLock { $0.take(order) } }
    func next(for token: String) -> AnswerPushes? { orders.withLock { $0.next(for: token) } }
  }

  func open(certificate: [UInt8]?) -> ProviderSession { ProviderSession(certificate: certificate) }

  func receive(
    _ request: APNsRequest, in session: inout ProviderSession, answer: @escaping @Sendable (APNsAnswer) -> Void
  ) {
    let now = Date()
    let verdict = check(request, in: &session, now: now)
    guard let order = orders.next(for: verdict.token) else {
      return decide(verdict, now: now) { answer($0.answer) }
    }
    guard order.status != 200 else { return decide(verdict, now: now) { answer(order.delaying($0.answer)) } }
    let refusal = PushArrival.Verdict.refused(
      status: order.status, reason: order.reason, explanation: order.explanation)
    keeper.take(PushArrival(verdict, refusal)) { _ in }
    answer(order.replacing(verdict.answer, now: now))
  }

  /// What the contract says.
  func check(_ request: APNsRequest, in session: inout ProviderSession, now: Date) -> APNsVerdict {
    contract.check(request, in: &session, now: now, key: keys.key) { keeper.tokens[$0] }
  }

  /// Keeps what was accepted and notes what was refused.
  ///
  /// - Parameter then: called once, on any thread, with the verdict that stands.
  func decide(_ verdict: APNsVerdict, now: Date, then: @escaping @Sendable (APNsVerdict) -> Void) {
    guard case .accepted(let push) = verdict.outcome else {
      let refusal = PushArrival.Verdict.refused(
        status: verdict.status, reason: verdict.reason, explanation: verdict.explanation ?? "")
      keeper.take(PushArrival(verdict, refusal)) { _ in }
      return then(verdict)
    }
    let notification = PushedNotification(
      uniqueID: verdict.uniqueID, apnsID: verdict.apnsID, subject: push.token.subject, type: push.type,
      priority: push.priority, collapseID: push.collapseID, payload: push.payload, acceptedAt: now,
      expiration: push.expiration, isFromStorage: false)
    keeper.take(PushArrival(verdict, .accepted(notification, remark: push.remark))) { promise in
      switch promise {
      case .kept: then(verdict)
      case .full: then(verdict.refused(APNsRefusal(.serviceUnavailable, "too many requests wait to be written")))
      case .broken: then(verdict.refused(APNsRefusal(.internalServerError, "the database cannot be written")))
      }
    }
  }
}

extension PushArrival {
  init(_ verdict: APNsVerdict, _ outcome: PushArrival.Verdict) {
    self.init(
      uniqueID: verdict.uniqueID, apnsID: verdict.apnsID, subject: verdict.device?.subject,
      token: verdict.device?.token ?? verdict.token, type: verdict.type, verdict: outcome)
  }
}
