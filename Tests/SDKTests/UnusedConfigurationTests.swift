// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

@Suite(.timeLimit(.minutes(1))) struct `Unused configuration of background sessions` {
  @Test(.rule("SESSION-02"))
  func `configuration properties that no background transfer uses stay in the process`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let configuration = URLSessionConfiguration.background(withIdentifier: "kept")
    configuration.sharedContainerIdentifier = SDKFixture.group
    configuration.waitsForConnectivity = true
    configuration.requestCachePolicy = .returnCacheDataDontLoad
    configuration.urlCache = URLCache(memoryCapacity: 1, diskCapacity: 0)
    configuration.urlCredentialStorage = nil
    configuration.networkServiceType = .background
    configuration.httpShouldUsePipelining = true
    configuration.shouldUseExtendedBackgroundIdleMode = true
    configuration.tlsMinimumSupportedProtocolVersion = .TLSv13
    configuration.tlsMaximumSupportedProtocolVersion = .TLSv12
    configuration.multipathServiceType = .handover
    let session = fixture.process.asCurrent {
      URLSession(configuration: configuration, delegate: nil, delegateQueue: nil)
    }
    configuration.requestCachePolicy = .useProtocolCachePolicy
    _ = await session.allTasks
    let sentConfiguration = SessionConfiguration(sharedContainerIdentifier: SDKFixture.group)
    #expect(await fixture.host.opened.map(\.configuration.withoutProduct) == [sentConfiguration])
    let copy = session.configuration
    #expect(copy.waitsForConnectivity && copy.httpShouldUsePipelining && copy.shouldUseExtendedBackgroundIdleMode)
    #expect(copy.requestCachePolicy == .returnCacheDataDontLoad && copy.networkServiceType == .background)
    #expect(copy.urlCache?.memoryCapacity == 1 && copy.urlCredentialStorage == nil)
    #expect(copy.tlsMinimumSupportedProtocolVersion == .TLSv13 && copy.tlsMaximumSupportedProtocolVersion == .TLSv12)
    #expect(copy.multipathServiceType == .handover)
  }
}

extension SessionConfiguration {
  /// The configuration without what the product adds to it: its client profile and its cookies.
  var withoutProduct: SessionConfiguration {
    var configuration = self
    configuration.client = nil
    configuration.cookies = nil
    return configuration
  }
}
