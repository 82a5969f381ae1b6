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
    // The author's provider. It must be safe when a setting has providers called concurrently.
    nonisolated(unsafe) let provider = provider
    return { request, _, done in
      if request.purpose != .timeline { return done(provider.previewValue) }
      give(done) { try await currentValue(of: request) { try await provider.currentValue() } }
    }
  }

  static func asking<Provider: AppIntentControlValueProvider>(_ provider: Provider) -> TimelineSource.Ask {
    // The same.
    nonisolated(unsafe) let provider = provider
    return { request, _, done in
      give(done) {
        let intent = try await configuration(Provider.Configuration.self, of: request)
        if request.purpose != .timeline { return provider.previewValue(configuration: intent) }
        return try await currentValue(of: request) { try await provider.currentValue(configuration: intent) }
      }
    }
  }

  static func asking<Configuration: ControlConfigurationIntent>(_ intent: Configuration.Type) -> TimelineSource.Ask {
    { request, _, done in give(done) { try await configuration(intent, of: request) } }
  }

  /// - Throws: `failed` with the author's error.
  private static func currentValue(of request: RequestTimeline, _ ask: () async throws -> Any) async throws -> Any {
    do {
      return try await ask()
    } catch {
      throw BusError(.failed, "currentValue() of \(request.widgetKind) threw \(error)")
    }
  }

  /// - Throws: `bad-configuration` when the values do not fit, or the author's query throws.
  private static func configuration<Configuration: ControlConfigurationIntent>(
    _ intent: Configuration.Type, of request: RequestTimeline
  ) async throws -> Configuration {
    do {
      return try await intent.restored(request.configuration)
    } catch {
      throw BusError(.badConfiguration, "\(request.widgetKind): \(error)")
    }
  }

  /// Completes with the value, or with the error.
  private static func give(_ done: @escaping @Sendable (Any) -> Void, _ value: @escaping () async throws -> Any) {
    // Captures only the author's provider, and is called once.
    nonisolated(unsafe) let value = value
    Task {
      do {
        done(try await value())
      } catch {
        done(error)
      }
    }
  }
}
