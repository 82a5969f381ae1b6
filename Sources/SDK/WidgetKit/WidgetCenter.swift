// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
import AuthorRuntime
import Foundation
import MessageBus
import Messages
import Synchronization

/// Requests new timelines, and lists placed widgets. Source: `WidgetKit.WidgetCenter`.
public final class WidgetCenter: Sendable {
  public static let shared = WidgetCenter()

  /// Keys of the user info of an app that is opened from a widget. Source: `WidgetCenter.UserInfoKey`; the values are
  /// not public, so these are ours.
  public struct UserInfoKey: Sendable {
    /// The widget's kind.
    public static let kind = "WGWidgetUserInfoKeyKind"
    /// The widget's family.
    public static let family = "WGWidgetUserInfoKeyFamily"
    /// The Live Activity.
    public static let activityID = "WGWidgetUserInfoKeyActivityID"
  }

  private init() {}

  /// Requests a new timeline of a kind. Returns at once. The system decides when it reloads, within the widget's
  /// budget.
  public func reloadTimelines(ofKind kind: String) { reload(kind) }
  /// Requests new timelines of all kinds of this app.
  public func reloadAllTimelines() { reload(nil) }

  /// Lists the widgets of this app that the user has placed. `completion` is called on a background thread.
  @preconcurrency public func getCurrentConfigurations(
    _ completion: @escaping @Sendable (Result<[WidgetInfo], any Error>) -> Void
  ) {
    let (process, context) = (process, HostedProcess.currentContext)
    process.startTask {
      do {
        let infos = try await WidgetCenter.configurations(process, context)
        process.asCurrent(context) { completion(.success(infos)) }
      } catch {
        process.asCurrent(context) { completion(.failure(error)) }
      }
    }
  }

  /// Lists the widgets of this app that the user has placed.
  public func currentConfigurations() async throws -> [WidgetInfo] {
    try await WidgetCenter.configurations(process, HostedProcess.currentContext)
  }

  /// The recommended configurations changed. Without effect where the user can configure widgets, as here.
  public func invalidateConfigurationRecommendations() {}
  /// The provider's `relevance()` changed. Without effect: only the Smart Stack of watchOS reads it.
  public func invalidateRelevance(ofKind kind: String) {}

  /// The token for widget pushes; `nil` until a token is available and a widget that supports pushes is placed.
  public var currentPushInfo: WidgetPushInfo? {
    get async {
      let process = process
      do {
        let reply = try await process.connection.request(
          AskPushInfo(), to: process.host, context: HostedProcess.currentContext)
        return reply.token.flatMap { Data(hexadecimal: $0) }.map(WidgetPushInfo.init)
      } catch {
        process.log("WidgetCenter.currentPushInfo: the host did not reply: \(error)")
        return nil
      }
    }
  }

  private var process: HostedProcess {
    guard let process = HostedProcess.current else {
      fatalError("WidgetCenter needs the device of `widgetlab up`; this process was not started by its agent")
    }
    return process
  }

  private static func configurations(_ process: HostedProcess, _ context: MessageContext) async throws -> [WidgetInfo] {
    let reply = try await process.connection.request(ListPlacements(), to: process.host, context: context)
    return reply.placements.filter { $0.family != .control }.map(WidgetInfo.init)
  }

  private func reload(_ kind: String?) {
    process.deliver(
      ReloadTimelines(widgetKind: kind, within: HostedProcess.currentMethod), context: HostedProcess.currentContext)
  }
}

/// A widget that the user placed. Source: `WidgetKit.WidgetInfo`; its `configuration`, an `INIntent`, does not exist
/// here.
@preconcurrency public struct WidgetInfo: Sendable, Identifiable, Hashable, CustomDebugStringConvertible {
  public let family: WidgetFamily
  /// The author's name of the widget.
  public let kind: String
  private let placement: Placement

  init(_ placement: Placement) {
    family = WidgetFamily(placement.family)
    kind = placement.kind
    self.placement = placement
  }

  public var id: WidgetInfo { self }
  public var debugDescription: String { "WidgetInfo(kind: \(kind), family: \(family))" }

  /// The widget's configuration; `nil` for a widget without one, or with another type of intent. Blocks until the author's query has
  /// returned the chosen entities.
  public func widgetConfigurationIntent<Intent: WidgetConfigurationIntent>(
    of intentType: Intent.Type = Intent.self
  ) -> Intent? {
    intentType.restoredBlocking(placement.configuration, of: placement.intent)
  }
}
