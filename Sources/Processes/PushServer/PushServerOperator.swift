// SPDX-License-Identifier: Apache-2.0

import APNs
import Foundation
import MessageBus
import Messages
import PushDelivery

/// Handles operator requests other than those for tokens.
struct PushServerOperator: Sendable {
  let backends: [PushEnvironment: PushBackend]
  let service: PushDeliveryService
  let overrides: PushBackend.Overrides

  /// Registers the handlers. Call before the connection is started.
  func listen(on connection: any BusConnection) {
    connection.onRequest(SendPush.self) { request, _ in try await send(request) }
    // The delivery log is the service's; the responses that were set are not.
    connection.onRequest(ListPushes.self) { request, _ in
      var reply = try await service.page(request)
      reply.overrides = overrides.all
      return reply
    }
    connection.onRequest(OverrideResponses.self) { replacement, _ in
      try ResponseOverrides.check(replacement)
      overrides.handle(replacement)
      return Done()
    }
  }

  private func read<Value: Sendable>(_ token: () async throws -> Value) async throws(BusError) -> Value {
    do {
      return try await token()
    } catch {
      throw BusError(.failed, "cannot read the push server's database: \(error)")
    }
  }

  /// Sends a notification as Apple's console does: the contract without provider authentication.
  private func send(_ request: SendPush) async throws(BusError) -> SendPush.Reply {
    let active = try await read {
      guard let subject = request.subject else { return nil as String? }
      return try await service.current(subject)?.token
    }
    guard let token = request.token ?? active else {
      throw BusError(
        .noSuchToken,
        request.subject.map { "no active device token for \($0.use.rawValue) of \($0.bundle) on \($0.device)" }
          ?? "the request has neither a token nor an app")
    }
    let known = try await read { try await service.find(token.lowercased()) }
    let environment = known?.environment ?? .development
    guard let backend = backends[environment] else { throw BusError(.failed, "no \(environment.rawValue) environment") }
    let body = Array(request.payload.utf8)
    let asked = APNsRequest(
      method: "POST", path: "/3/device/\(token)",
      headers: request.headers.sorted { $0.key < $1.key }.map { APNsRequest.Header(name: $0.key, value: $0.value) },
      body: Array(body.prefix(APNsRequest.bodyLimit)), isTruncated: body.count > APNsRequest.bodyLimit)
    let now = Date()
    var session = ProviderSession.console
    let due = backend.check(asked, APNsLookUp(token: .success(known)), in: &session, now: now)
    let verdict = await withCheckedContinuation { continuation in
      backend.decide(due, now: now) { continuation.resume(returning: $0) }
    }
    return SendPush.Reply(
      status: verdict.status, reason: verdict.reason, explanation: verdict.explanation, apnsID: verdict.apnsID,
      uniqueID: verdict.uniqueID)
  }
}
