// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
import AuthorRuntime
import Foundation
import MessageBus
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
  init?<Value>(control givenValue: Any, _ content: @escaping (Value) -> some ControlWidgetTemplate) {
    guard let value = givenValue as? Value else { return nil }
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
  static func none(_ request: RequestTimeline, context: TimelineProviderContext, done: (Any) -> Void) { done(()) }

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

/// Requests reloads of controls, and lists placed controls. Source: `WidgetKit.ControlCenter`.
public final class ControlCenter: Sendable {
  public static let shared = ControlCenter()

  private init() {}

  /// The controls of this app that the user has placed.
  public func currentControls() async throws -> [ControlInfo] {
    let process = process
    let reply = try await process.connection.request(
      ListPlacements(), to: process.host, context: HostedProcess.currentContext)
    let controls = reply.placements.filter { $0.family == .control }
    guard !controls.isEmpty else { return [] }
    let info = try await process.connection.request(
      AskPushInfo(), to: process.host, context: HostedProcess.currentContext)
    return controls.map { ControlInfo($0, token: info.controls[$0.id].flatMap { Data(hexadecimal: $0) }) }
  }

  /// Requests a reload of the controls of a kind. Returns at once.
  public func reloadControls(ofKind kind: String) { reload(kind) }
  /// Requests a reload of all controls of this app. Returns at once.
  public func reloadAllControls() { reload(nil) }

  private func reload(_ kind: String?) {
    process.deliver(
      ReloadTimelines(widgetKind: kind, within: HostedProcess.currentMethod, areControls: true),
      context: HostedProcess.currentContext)
  }

  private var process: HostedProcess {
    guard let process = HostedProcess.current else {
      fatalError("ControlCenter needs the device of `widgetlab up`; this process was not started by its agent")
    }
    return process
  }
}

/// A control that the user has placed. Source: `WidgetKit.ControlInfo`.
public struct ControlInfo: Hashable, Sendable {
  /// The author's name of the control.
  public let kind: String
  /// The push token of the control; `nil` without a push handler, and until a token is available.
  public let pushInfo: ControlPushInfo?
  private let placement: Placement

  init(_ placement: Placement, token: Data?) {
    kind = placement.kind
    pushInfo = token.map(ControlPushInfo.init)
    self.placement = placement
  }

  /// The control's configuration; `nil` when it does not match this intent type. Blocks until the author's query has
  /// returned the chosen entities.
  public func configurationIntent<Intent: ControlConfigurationIntent>(
    of intentType: Intent.Type = Intent.self
  ) -> Intent? {
    intentType.restoredBlocking(placement.configuration, of: placement.intent)
  }
}

/// The token with which the developer's backend sends pushes to a control. Source: `WidgetKit.ControlPushInfo`.
public struct ControlPushInfo: Hashable, Sendable {
  public let token: Data
}

/// Receives the push tokens of controls. Source: `WidgetKit.ControlPushHandler`.
public protocol ControlPushHandler {
  /// The system creates the handler.
  init()
  /// A token or the set of controls that support pushes has changed.
  func pushTokensDidChange(controls: [ControlInfo])
}
