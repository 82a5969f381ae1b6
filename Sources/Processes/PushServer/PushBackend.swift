// SPDX-License-Identifier: Apache-2.0

import APNs
import Foundation
import Messages
import PushDelivery
import PushRules
import Synchronization

/// Handles the requests of one environment. The contract validates a request at once; an accepted one goes to the
/// service, and the provider receives its 200 after it is stored.
struct PushBackend: APNsBackend {
  let contract: APNsContract
  let keys: ProviderKeyRing
  let service: PushDeliveryService
  let overrides: Overrides
  /// Counts responses; `nil` without metrics.
  var metrics: ProviderMetrics?

  /// The response overrides of the operator, for both environments.
  final class Overrides: Sendable {
    private let overrides = Mutex(ResponseOverrides())
    /// The overrides that are not used up.
    var all: [OverrideResponses] { overrides.withLock { $0.overrides } }
    func handle(_ replacement: OverrideResponses) { overrides.withLock { $0.handle(replacement) } }
    func next(for token: String) -> OverrideResponses? { overrides.withLock { $0.next(for: token) } }
  }

  func open(certificate: [UInt8]?) -> ProviderSession { ProviderSession(certificate: certificate) }

  func lookUp(_ request: APNsRequest, then: @escaping @Sendable (APNsLookUp) -> Void) -> APNsLookUp? {
    guard let token = request.deviceToken else { return APNsLookUp(token: .success(nil)) }
    return service.find(token) { then(APNsLookUp(token: $0)) }.map { APNsLookUp(token: $0) }
  }

  func receive(
    _ request: APNsRequest, in session: inout ProviderSession, answer: @escaping @Sendable (APNsAnswer) -> Void
  ) { receive(request, APNsLookUp(token: .success(nil)), in: &session, answer: answer) }

  func receive(
    _ request: APNsRequest, _ lookUp: APNsLookUp, in session: inout ProviderSession,
    answer: @escaping @Sendable (APNsAnswer) -> Void
  ) {
    guard let metrics else { return respond(to: request, lookUp, in: &session, answer: answer) }
    let began = ContinuousClock.now
    respond(to: request, lookUp, in: &session) { given in
      metrics.count(status: given.status, reason: given.reason, after: ContinuousClock.now - began)
      answer(given)
    }
  }

  private func respond(
    to request: APNsRequest, _ lookUp: APNsLookUp, in session: inout ProviderSession,
    answer: @escaping @Sendable (APNsAnswer) -> Void
  ) {
    let now = Date()
    let verdict = check(request, lookUp, in: &session, now: now)
    guard let replacement = overrides.next(for: verdict.token) else {
      return decide(verdict, now: now) { answer($0.answer) }
    }
    guard replacement.status != 200 else {
      return decide(verdict, now: now) { answer(replacement.delaying($0.answer)) }
    }
    let refusal = PushArrival.Verdict.refused(
      status: replacement.status, reason: replacement.reason, explanation: replacement.explanation)
    service.handle(PushArrival(verdict, refusal)) { _ in }
    answer(replacement.replacing(verdict.answer, now: now))
  }

  /// Validates a request.
  func check(
    _ request: APNsRequest, _ lookUp: APNsLookUp, in session: inout ProviderSession, now: Date
  ) -> APNsVerdict {
    contract.check(request, in: &session, now: now, key: keys.key) { _ in try lookUp.token.get() }
  }

  /// Stores an accepted request, and records a refused one.
  ///
  /// - Parameter then: called once, on any thread, with the final verdict.
  func decide(_ verdict: APNsVerdict, now: Date, then: @escaping @Sendable (APNsVerdict) -> Void) {
    guard case .accepted(let push) = verdict.outcome else {
      let refusal = PushArrival.Verdict.refused(
        status: verdict.status, reason: verdict.reason, explanation: verdict.explanation ?? "")
      service.handle(PushArrival(verdict, refusal)) { _ in }
      return then(verdict)
    }
    let notification = PushedNotification(
      uniqueID: verdict.uniqueID, apnsID: verdict.apnsID, subject: push.token.subject, type: push.type,
      priority: push.priority, collapseID: push.collapseID, payload: push.payload, acceptedAt: now,
      expiration: push.expiration, isFromStorage: false)
    service.handle(PushArrival(verdict, .accepted(notification, remark: push.remark))) { promise in
      switch promise {
      case .kept: then(verdict)
      case .full: then(verdict.refused(APNsRefusal(.serviceUnavailable, "too many requests wait to be written")))
      case .away: then(verdict.refused(APNsRefusal(.serviceUnavailable, "the database cannot be written at present")))
      case .tokenEnded(let token): then(verdict.refused(APNsRefusal(because: token)))
      case .broken: then(verdict.refused(APNsRefusal(.internalServerError, "cannot write the database")))
      }
    }
  }
}

extension APNsRefusal {
  /// The token ended while the request was accepted.
  init(because token: DeviceToken?) {
    let explanation = "the token ended while the request was accepted"
    switch token?.state {
    case .expired: self.init(.expiredToken, explanation, timestamp: token?.since)
    case .unregistered: self.init(.unregistered, explanation, timestamp: token?.since)
    case .active, nil: self.init(.badDeviceToken, explanation)
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

/// Responses that the operator has set for requests, oldest first, each for a number of times. They are not persisted.
struct ResponseOverrides: Sendable {
  /// The overrides that are not used up.
  private(set) var overrides: [OverrideResponses] = []

  /// Adds an override; one for 0 times removes the overrides for the same token.
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
