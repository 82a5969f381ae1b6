import AuthoredProcess
import Conversations
import MessageBus

/// Asks the system for new timelines. Source: `WidgetKit.WidgetCenter`.
public final class WidgetCenter: Sendable {
  /// The one of this process.
  public static let shared = WidgetCenter()

  private init() {}

  /// Asks for a new timeline of a kind. Returns at once; the system decides when, within the widget's budget.
  public func reloadTimelines(ofKind kind: String) { reload(kind) }
  /// Asks for new timelines of all kinds of this app.
  public func reloadAllTimelines() { reload(nil) }

  private func reload(_ kind: String?) {
    guard let process = HostedProcess.current else {
      fatalError("WidgetCenter needs the device of `widgetlab up`; this process was not started by its agent")
    }
    process.deliver(ReloadTimelines(widgetKind: kind), story: HostedProcess.currentStory)
  }
}
