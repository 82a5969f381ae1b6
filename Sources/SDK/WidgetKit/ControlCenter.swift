// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
import AuthorRuntime
import Foundation
import MessageBus
import Messages

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
