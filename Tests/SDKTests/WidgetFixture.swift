// SPDX-License-Identifier: Apache-2.0

import Archive
import MessageBus
import Messages

@testable import AuthorRuntime
@testable import SwiftUI
@testable import WidgetKit

extension SDKFixture {
  /// An announced extension with these widgets.
  static func serving(_ descriptions: @MainActor () -> [WidgetDescription]) async throws -> SDKFixture {
    let fixture = try SDKFixture()
    try await fixture.host.start()
    await MainActor.run { serve(descriptions(), in: fixture.process) }
    try await fixture.announce()
    return fixture
  }

  /// Requests a timeline from the extension.
  func ask(
    _ kind: String, _ purpose: RequestTimeline.Purpose = .timeline, family: WidgetFamilyName = .systemSmall,
    configuration: [String: ArchivedValue] = [:], limits: ArchiveLimits = ArchiveLimits(), isPreview: Bool = false
  ) async throws -> RequestTimeline.Reply {
    let request = RequestTimeline(
      purpose, widgetKind: kind, because: .operator,
      environment: WidgetEnvironment(family: family, width: 155, height: 155, isPreview: isPreview),
      configuration: configuration, limits: limits)
    return try await host.connection.request(request, to: SDKFixture.widget)
  }
}
