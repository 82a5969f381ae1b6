// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// What the author's process reports because the device does not simulate it.
@Suite(.timeLimit(.minutes(1))) struct `Unsimulated declarations` {
  private func reported(_ fixture: SDKFixture) async -> [String] {
    await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }.map(\.subject).sorted()
  }

  @Test(.rule("SESSION-17", "DIAGNOSIS-11"))
  func `each changed property without effect is reported once, and none of an unchanged configuration`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    _ = fixture.session(Delegate())
    #expect(await reported(fixture).isEmpty)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.tlsMinimumSupportedProtocolVersion = .TLSv13
    configuration.tlsMaximumSupportedProtocolVersion = .TLSv12
    configuration.multipathServiceType = .aggregate
    configuration.networkServiceType = .background
    configuration.httpShouldUsePipelining = true
    configuration.shouldUseExtendedBackgroundIdleMode = true
    for _ in 1...2 { fixture.process.asCurrent { _ = URLSession(configuration: configuration) } }
    #expect(
      await reported(fixture) == [
        "httpShouldUsePipelining", "multipathServiceType", "networkServiceType", "shouldUseExtendedBackgroundIdleMode",
        "tlsMaximumSupportedProtocolVersion", "tlsMinimumSupportedProtocolVersion",
      ])
  }

  @Test(
    .rule("DIAGNOSIS-11"),
    arguments: [
      (.returnCacheDataDontLoad, ["returnCacheDataDontLoad"]), (.returnCacheDataElseLoad, ["returnCacheDataElseLoad"]),
      (.useProtocolCachePolicy, []), (.reloadIgnoringLocalCacheData, []),
    ] as [(NSURLRequest.CachePolicy, [String])])
  func `a cache policy that answers from a cache is reported`(
    policy: NSURLRequest.CachePolicy, subjects: [String]
  ) async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    policy.noticeUnsimulated(in: fixture.process)
    #expect(await reported(fixture) == subjects)
  }
}
