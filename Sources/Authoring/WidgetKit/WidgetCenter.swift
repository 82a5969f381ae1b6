import Archive
import AuthoredProcess
import Conversations
import Foundation
import MessageBus

/// Asks the system for new timelines, and what is placed. Source: `WidgetKit.WidgetCenter`.
public final class WidgetCenter: Sendable {
  /// The one of this process.
  public static let shared = WidgetCenter()

  /// Keys of what an app is handed when it is opened from a widget. Source: `WidgetCenter.UserInfoKey`; their values are
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

  /// Asks for a new timeline of a kind. Returns at once; the system decides when, within the widget's budget.
  public func reloadTimelines(ofKind kind: String) { reload(kind) }
  /// Asks for new timelines of all kinds of this app.
  public func reloadAllTimelines() { reload(nil) }

  /// Which widgets of this app a person has placed. `completion` is called on a thread of its own.
  @preconcurrency public func getCurrentConfigurations(
    _ completion: @escaping @Sendable (Result<[WidgetInfo], any Error>) -> Void
  ) {
    let (process, story) = (process, HostedProcess.currentStory)
    Task {
      do {
        let infos = try await WidgetCenter.configurations(process, story)
        process.asCurrent(story) { completion(.success(infos)) }
      } catch {
        process.asCurrent(story) { completion(.failure(error)) }
      }
    }
  }

  /// Which widgets of this app a person has placed.
  public func currentConfigurations() async throws -> [WidgetInfo] {
    try await WidgetCenter.configurations(process, HostedProcess.currentStory)
  }

  /// The recommended configurations changed. Without effect where a person configures widgets, as here.
  public func invalidateConfigurationRecommendations() {}
  /// The provider's `relevance()` changed. Without effect outside watchOS, whose Smart Stack alone reads it.
  public func invalidateRelevance(ofKind kind: String) {}

  /// The token for widget pushes; `nil` while there is none, or no widget that supports pushes is placed.
  public var currentPushInfo: WidgetPushInfo? {
    get async {
      let process = process
      do {
        let reply = try await process.connection.request(
          AskPushInfo(), to: process.host, story: HostedProcess.currentStory)
        return reply.token.flatMap { Data(hexadecimal: $0) }.map(WidgetPushInfo.init)
      } catch {
        process.log("WidgetCenter.currentPushInfo: the host does not answer: \(error)")
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

  private static func configurations(_ process: HostedProcess, _ story: Story) async throws -> [WidgetInfo] {
    let reply = try await process.connection.request(ListPlacements(), to: process.host, story: story)
    return reply.placements.map(WidgetInfo.init)
  }

  private func reload(_ kind: String?) {
    process.deliver(
      ReloadTimelines(widgetKind: kind, within: HostedProcess.currentMethod), story: HostedProcess.currentStory)
  }
}
