// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages
public import SwiftUI
import URLSessionAPI

// Source of all, unless noted: `WidgetKit` of the iOS 18 SDK. A modifier records what the author declares. The host
// decides whether the device's platform and version support it.

// MARK: Name and description
extension WidgetConfiguration {
  /// The widget's name in the gallery.
  @MainActor @preconcurrency public func configurationDisplayName(_ displayName: Text) -> some WidgetConfiguration {
    declaring { $0.displayName = displayName.resolved(in: EnvironmentValues(language: .device)) }
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

  /// The widget's name in the gallery. Source: the macOS 27 SDK.
  @_disfavoredOverload @MainActor @preconcurrency public func configurationDisplayName(
    _ displayName: LocalizedStringResource
  ) -> some WidgetConfiguration {
    declaring { $0.displayName = displayName.resolved() }
  }

  /// The widget's description in the gallery.
  @MainActor @preconcurrency public func description(_ description: Text) -> some WidgetConfiguration {
    declaring { $0.description = description.resolved(in: EnvironmentValues(language: .device)) }
  }

  /// The widget's description in the gallery.
  @MainActor @preconcurrency public func description(
    _ descriptionKey: LocalizedStringKey
  ) -> some WidgetConfiguration {
    description(Text(descriptionKey))
  }

  /// The widget's description in the gallery.
  @_disfavoredOverload @MainActor @preconcurrency public func description<S: StringProtocol>(
    _ description: S
  ) -> some WidgetConfiguration {
    self.description(Text(verbatim: String(description)))
  }

  /// The widget's description in the gallery. Source: the macOS 27 SDK.
  @_disfavoredOverload @MainActor @preconcurrency public func description(
    _ descriptionResource: LocalizedStringResource
  ) -> some WidgetConfiguration {
    declaring { $0.description = descriptionResource.resolved() }
  }
}

// MARK: Families, locations and appearance
extension WidgetConfiguration {
  /// The families that the widget supports. Default: all.
  @MainActor @preconcurrency public func supportedFamilies(_ families: [WidgetFamily]) -> some WidgetConfiguration {
    declaring { $0.families = families.map(\.name) }
  }

  /// Disables the content margins that the system adds. From iOS 17 on.
  @MainActor @preconcurrency public func contentMarginsDisabled() -> some WidgetConfiguration {
    declaring { $0.contentMarginsDisabled = true }
  }

  /// Whether the system may remove the container background in places without one. Default: it may. From iOS 17 on.
  @MainActor @preconcurrency public func containerBackgroundRemovable(
    _ isRemovable: Bool = true
  ) -> some WidgetConfiguration {
    declaring { $0.isBackgroundRemovable = isRemovable }
  }

  /// The locations where the gallery lists these families under *Other*. Several calls are combined.
  @MainActor @preconcurrency public func disfavoredLocations(
    _ locations: [WidgetLocation], for families: [WidgetFamily]
  ) -> some WidgetConfiguration {
    declaring { $0.disfavored.append(.init(locations: locations.map(\.name), families: families.map(\.name))) }
  }

  /// The system prompts for the configuration when the widget is placed.
  @MainActor @preconcurrency public func promptsForUserConfiguration() -> some WidgetConfiguration {
    declaring { $0.promptsForUserConfiguration = true }
  }

  /// Additional families of a Live Activity.
  @MainActor @preconcurrency public func supplementalActivityFamilies(
    _ families: [ActivityFamily]
  ) -> some WidgetConfiguration {
    ModifiedConfiguration(content: self) { description in
      description.activity?.supplementalFamilies = families.map(\.description)
      description.declaration?.supplementalActivityFamilies = families.map(\.description)
    }
  }

  /// The kind that this one replaces. Source: the macOS 27 SDK; only on watchOS.
  @MainActor @preconcurrency public func associatedKind(_ associatedKind: String?) -> some WidgetConfiguration {
    declaring { $0.associatedKind = associatedKind }
  }

  /// How the widget can be mounted on a wall. Source: the macOS 27 SDK; only on visionOS.
  @MainActor @preconcurrency public func supportedMountingStyles(
    _ styles: [WidgetMountingStyle]
  ) -> some WidgetConfiguration {
    declaring { $0.mountingStyles = styles.map(\.name) }
  }

  /// The material of the widget. Source: the macOS 27 SDK; only on visionOS.
  @MainActor @preconcurrency public func widgetTexture(_ material: WidgetTexture) -> some WidgetConfiguration {
    declaring { $0.texture = material.name }
  }
}

// MARK: Events
extension WidgetConfiguration {
  /// The type that receives the token for widget pushes. Source: the macOS 27 SDK.
  @MainActor @preconcurrency public func pushHandler(
    _ pushHandlerType: any WidgetPushHandler.Type
  ) -> some WidgetConfiguration {
    ModifiedConfiguration(content: self) { description in
      description.declaration?.pushHandler = "\(pushHandlerType)"
      description.pushHandler = PushHandlerCall(
        type: ObjectIdentifier(pushHandlerType), name: "\(pushHandlerType)"
      ) { token, widgets in
        pushHandlerType.init().pushTokenDidChange(WidgetPushInfo(token: token), widgets: widgets.map(WidgetInfo.init))
      }
    }
  }

  /// Handles the events of the background session with this identifier.
  ///
  /// - Parameter urlSessionEvent: called on the main thread with the identifier and a completion, to be called after
  ///   `urlSessionDidFinishEvents(forBackgroundURLSession:)`.
  @MainActor @preconcurrency public func onBackgroundURLSessionEvents(
    matching matchingString: String,
    _ urlSessionEvent: @escaping (_ identifier: String, _ completion: @escaping () -> Void) -> Void
  ) -> some WidgetConfiguration {
    onBackgroundURLSessionEvents(matching: { $0 == matchingString }, urlSessionEvent)
  }

  /// Handles the events of the background sessions for which `matchingBlock` returns `true`; of all when it is `nil`.
  ///
  /// - Parameter urlSessionEvent: called on the main thread with the identifier and a completion, to be called after
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

  private func declaring(_ declare: @escaping (inout WidgetDeclaration) -> Void) -> some WidgetConfiguration {
    ModifiedConfiguration(content: self) { description in
      guard var declaration = description.declaration else { return }
      declare(&declaration)
      description.declaration = declaration
    }
  }
}

/// A place for a widget. Source: `WidgetKit.WidgetLocation`.
public struct WidgetLocation: Sendable, Hashable {
  let name: WidgetLocationName

  public static let homeScreen = WidgetLocation(name: .homeScreen)
  public static let lockScreen = WidgetLocation(name: .lockScreen)
  /// A phone in landscape that is charging.
  public static let standBy = WidgetLocation(name: .standBy)
  /// A Mac that displays the phone's widgets.
  public static let iPhoneWidgetsOnMac = WidgetLocation(name: .iPhoneWidgetsOnMac)
  public static let carPlay = WidgetLocation(name: .carPlay)
  public static let watchFace = WidgetLocation(name: .watchFace)
  /// The Smart Stack of a watch.
  public static let smartStack = WidgetLocation(name: .smartStack)
}

/// How a widget is mounted on a wall. Source: `WidgetKit.WidgetMountingStyle`.
public struct WidgetMountingStyle: Sendable, Hashable {
  let name: String
  /// In front of the wall.
  public static let elevated = WidgetMountingStyle(name: "elevated")
  /// Recessed into the wall.
  public static let recessed = WidgetMountingStyle(name: "recessed")
}

/// The material of a widget on a wall. Source: `WidgetKit.WidgetTexture`.
public struct WidgetTexture: Sendable, Hashable {
  let name: String
  public static let glass = WidgetTexture(name: "glass")
  public static let paper = WidgetTexture(name: "paper")
}

/// The size of a Live Activity. Source: `WidgetKit.ActivityFamily`.
public enum ActivityFamily: Int, Sendable, Hashable, CustomStringConvertible {
  /// For a watch.
  case small
  /// For a Lock Screen.
  case medium

  public var description: String {
    switch self {
    case .small: "small"
    case .medium: "medium"
    }
  }
}
