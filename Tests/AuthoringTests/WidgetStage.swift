import Archive
import Conversations
import MessageBus

@testable import AuthoredProcess
@testable import SwiftUI
@testable import WidgetKit

extension Stage {
  /// An extension of these widgets that is announced.
  static func serving(_ descriptions: @MainActor () -> [WidgetDescription]) async throws -> Stage {
    let stage = try Stage()
    try await stage.host.start()
    await MainActor.run { serve(descriptions(), in: stage.process) }
    try await stage.announce()
    return stage
  }

  /// What the extension answers to the host.
  func ask(
    _ kind: String, _ purpose: RequestTimeline.Purpose = .timeline, family: WidgetFamilyName = .systemSmall,
    configuration: [String: ArchivedValue] = [:], limits: ArchiveLimits = ArchiveLimits(), isPreview: Bool = false
  ) async throws -> RequestTimeline.Reply {
    let request = RequestTimeline(
      purpose, widgetKind: kind, because: .operator,
      environment: WidgetEnvironment(family: family, width: 155, height: 155, isPreview: isPreview),
      configuration: configuration, limits: limits)
    return try await host.connection.request(request, to: Stage.widget)
  }
}
