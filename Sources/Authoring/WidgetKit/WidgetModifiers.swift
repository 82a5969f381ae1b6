import Archive
import BackgroundURLSession
public import SwiftUI

// Source of all: `WidgetKit` of the iOS 18 SDK.
extension WidgetConfiguration {
  /// The widget's name in the gallery.
  @MainActor @preconcurrency public func configurationDisplayName(_ displayName: Text) -> some WidgetConfiguration {
    ModifiedConfiguration(content: self) { $0.displayName = displayName.archive.lines.joined() }
  }

  /// The widget's name in the gallery.
  @MainActor @preconcurrency public func configurationDisplayName(
    _ displayNameKey: LocalizedStringKey
  ) -> some WidgetConfiguration {
    configurationDisplayName(Text(displayNameKey))
  }

  /// The widget's name in the gallery.
  @_disfavoredOverload @MainActor @preconcurrency public func configurationDisplayName<S: StringProtocol>(
    _ displayName: S
  ) -> some WidgetConfiguration {
    configurationDisplayName(Text(verbatim: String(displayName)))
  }

  /// What the gallery says of the widget.
  @MainActor @preconcurrency public func description(_ description: Text) -> some WidgetConfiguration {
    ModifiedConfiguration(content: self) { $0.description = description.archive.lines.joined() }
  }

  /// What the gallery says of the widget.
  @MainActor @preconcurrency public func description(
    _ descriptionKey: LocalizedStringKey
  ) -> some WidgetConfiguration {
    description(Text(descriptionKey))
  }

  /// What the gallery says of the widget.
  @_disfavoredOverload @MainActor @preconcurrency public func description<S: StringProtocol>(
    _ description: S
  ) -> some WidgetConfiguration {
    self.description(Text(verbatim: String(description)))
  }

  /// The families that the widget can be placed in; all, without this modifier.
  @MainActor @preconcurrency public func supportedFamilies(_ families: [WidgetFamily]) -> some WidgetConfiguration {
    ModifiedConfiguration(content: self) { $0.families = families.map(\.name) }
  }

  /// What to do with the events of the background session with this identifier.
  ///
  /// - Parameter urlSessionEvent: called on the main thread with the identifier and a completion, which it keeps until
  ///   `urlSessionDidFinishEvents(forBackgroundURLSession:)`.
  @MainActor @preconcurrency public func onBackgroundURLSessionEvents(
    matching matchingString: String,
    _ urlSessionEvent: @escaping (_ identifier: String, _ completion: @escaping () -> Void) -> Void
  ) -> some WidgetConfiguration {
    onBackgroundURLSessionEvents(matching: { $0 == matchingString }, urlSessionEvent)
  }

  /// What to do with the events of the background sessions that `matchingBlock` chooses; of all, when it is `nil`.
  ///
  /// - Parameter urlSessionEvent: called on the main thread with the identifier and a completion, which it keeps until
  ///   `urlSessionDidFinishEvents(forBackgroundURLSession:)`.
  @MainActor @preconcurrency public func onBackgroundURLSessionEvents(
    matching matchingBlock: ((_ identifier: String) -> Bool)? = nil,
    _ urlSessionEvent: @escaping (_ identifier: String, _ completion: @escaping () -> Void) -> Void
  ) -> some WidgetConfiguration {
    ModifiedConfiguration(content: self) {
      $0.handlers.append(
        BackgroundEventsHandler(matches: { matchingBlock?($0) ?? true }, call: { urlSessionEvent($0, $1) }))
    }
  }
}
