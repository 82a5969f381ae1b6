// SPDX-License-Identifier: Apache-2.0

import APNs
import BusTesting
import FidelityRules
import Foundation
import GRDB
import Messages
import PushDelivery
import PushRules
import Testing

@testable import PushServer

/// The answer to a push that the queue of the service does not take.
@Suite(.timeLimit(.minutes(1))) struct `The queue of the push server` {
  @Test(.rule("APNS-35"), arguments: [0, 1])
  func `an accepted push above the queue limit is answered 503 ServiceUnavailable`(queueLimit: Int) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/keys-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder + "/provider", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data(#"{"keys":[],"certificates":[]}"#.utf8).write(
      to: URL(fileURLWithPath: folder + "/provider/provider.json"))
    var settings = PushSettings()
    settings.queueLimit = queueLimit
    let service = try PushDeliveryService(
      database: DatabaseQueue(), bus: InMemoryBus().connection(.pushServer), clock: ManualClock(), settings: settings
    ) { Issue.record("broken: \($0)") }
    await service.begin()
    let contract = APNsContract(environment: .development)
    let backend = try PushBackend(
      contract: contract, keys: ProviderKeyRing(folder: folder), service: service, overrides: PushBackend.Overrides())
    let subject = PushSubject(device: "iphone", bundle: "com.example.A", use: .app)
    let token = DeviceToken(
      token: "00ff", subject: subject, environment: .development, state: .active, since: .distantPast)
    let headers = [("apns-topic", "com.example.A"), ("apns-push-type", "alert")]
    let request = APNsRequest(
      method: "POST", path: "/3/device/00ff", headers: headers.map(APNsRequest.Header.init),
      body: Array(#"{"aps":{"alert":"a"}}"#.utf8))
    var session = ProviderSession.console
    let verdict = contract.check(request, in: &session, now: Date(), key: { _ in nil }, token: { _ in token })
    #expect(verdict.status == 200, "\(verdict)")
    let answer = await withCheckedContinuation { continuation in
      backend.decide(verdict, now: Date()) { continuation.resume(returning: $0) }
    }
    #expect(answer.status == (queueLimit == 0 ? 503 : 200))
    #expect(answer.reason == (queueLimit == 0 ? "ServiceUnavailable" : nil))
    await service.leave()
  }
}
