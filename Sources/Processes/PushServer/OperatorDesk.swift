import APNs
import Conversations
import Foundation
import MessageBus
import PushStore

/// What an operator asks of the push server, beside its tokens and its log.
struct OperatorDesk: Sendable {
  let backends: [PushEnvironment: PushBackend]
  let keeper: PushKeeper
  let orders: PushBackend.Orders

  /// Before the connection is started.
  func listen(on connection: any BusConnection) {
    connection.onRequest(SendPush.self) { request, _ in try await send(request) }
    connection.onRequest(AnswerPushes.self) { order, _ in
      try AnswerOrders.check(order)
      orders.take(order)
      return Done()
    }
  }

  /// Sends a notification as Apple's console does: the contract without the provider's authorization.
  private func send(_ request: SendPush) async throws(BusError) -> SendPush.Reply {
    guard let token = request.token ?? request.subject.flatMap(keeper.tokens.active)?.token else {
      throw BusError(
        .noSuchToken,
        request.subject.map { "no active device token: \($0.use.rawValue) of \($0.bundle) on \($0.device)" }
          ?? "neither a token nor an app is named")
    }
    let environment = keeper.tokens[token.lowercased()]?.environment ?? .development
    guard let backend = backends[environment] else { throw BusError(.failed, "no \(environment.rawValue) environment") }
    let body = Array(request.payload.utf8)
    let asked = APNsRequest(
      method: "POST", path: "/3/device/\(token)",
      headers: request.headers.sorted { $0.key < $1.key }.map { APNsRequest.Header(name: $0.key, value: $0.value) },
      body: Array(body.prefix(APNsRequest.bodyLimit)), isTruncated: body.count > APNsRequest.bodyLimit)
    let now = Date()
    var session = ProviderSession.console
    let due = backend.check(asked, in: &session, now: now)
    let verdict = await withCheckedContinuation { continuation in
      backend.decide(due, now: now) { continuation.resume(returning: $0) }
    }
    return SendPush.Reply(
      status: verdict.status, reason: verdict.reason, explanation: verdict.explanation, apnsID: verdict.apnsID,
      uniqueID: verdict.uniqueID)
  }
}
