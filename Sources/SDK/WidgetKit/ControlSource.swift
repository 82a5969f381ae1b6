// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Archive
import Foundation
import Messages
import SwiftUI

// How the value and the view of a control are asked for: as a timeline with one entry.

/// The entry of a control's current value.
private struct ControlEntry: TimelineEntry {
  let date = Date()
}

extension GivenTimeline {
  /// One entry with the view of a control's value; `nil` for another type.
  ///
  /// - Parameter content: the author's closure.
  init?<Value>(control given: Any, _ content: @escaping (Value) -> some ControlWidgetTemplate) {
    guard let value = given as? Value else { return nil }
    entries = 1
    policy = .never
    entry = { _ in ControlEntry() }
    view = { _ in TemplateView(template: content(value)) }
  }
}

/// The view of a template, built on the main actor.
private struct TemplateView<Template: ControlWidgetTemplate>: View {
  // Built by a closure that is called on the main actor.
  nonisolated(unsafe) private let template: Template

  nonisolated init(template: Template) { self.template = template }

  var body: some View { template.archivedView }
}

/// Sources of a control's value. Its preview is asked for the gallery, and shown until there is a value.
enum ControlSource {
  /// Of a control without a value.
  static func none(_ request: RequestTimeline, _ context: TimelineProviderContext, _ done: (Any) -> Void) { done(()) }

  static func asking<Provider: ControlValueProvider>(_ provider: Provider) -> TimelineSource.Ask {
    // Used by one task at a time, which the source's queue starts.
    nonisolated(unsafe) let provider = provider
    // The same: it captures only the provider.
    nonisolated(unsafe) let value: () async throws -> Any = { try await provider.currentValue() }
    return { request, _, done in
      if request.purpose != .timeline { return done(provider.previewValue) }
      give(request, done) { _ in try await value() }
    }
  }

  static func asking<Provider: AppIntentControlValueProvider>(_ provider: Provider) -> TimelineSource.Ask {
    // Used by one task at a time, which the source's queue starts.
    nonisolated(unsafe) let provider = provider
    // The same: it captures only the provider.
    nonisolated(unsafe) let value: (RequestTimeline) async throws -> Any = { request in
      let intent = try await Provider.Configuration.restored(request.configuration)
      if request.purpose != .timeline { return provider.previewValue(configuration: intent) }
      return try await provider.currentValue(configuration: intent)
    }
    return configured { try await value($0) }
  }

  static func asking<Configuration: ControlConfigurationIntent>(_ intent: Configuration.Type) -> TimelineSource.Ask {
    configured { try await Configuration.restored($0.configuration) }
  }

  private static func configured(
    _ value: @escaping (RequestTimeline) async throws -> Any
  ) -> TimelineSource.Ask {
    // Captures only the author's provider, which one task uses at a time.
    nonisolated(unsafe) let value = value
    return { request, _, done in give(request, done, value) }
  }

  private static func give(
    _ request: RequestTimeline, _ done: @escaping @Sendable (Any) -> Void,
    _ value: @escaping (RequestTimeline) async throws -> Any
  ) {
    // Captures only the author's provider, which one task uses at a time.
    nonisolated(unsafe) let value = value
    Task {
      do {
        done(try await value(request))
      } catch {
        done(BusError(.failed, "currentValue() of \(request.widgetKind) threw \(error)"))
      }
    }
  }
}
