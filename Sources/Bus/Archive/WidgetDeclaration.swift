// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The declaration of one widget kind by its extension: the author's modifiers, evaluated once per process.
package struct WidgetDeclaration: Codable, Hashable, Sendable {
  /// One call of `disfavoredLocations(_:for:)`.
  package struct Disfavored: Codable, Hashable, Sendable {
    package let locations: [WidgetLocationName]
    package let families: [WidgetFamilyName]
    package init(locations: [WidgetLocationName], families: [WidgetFamilyName]) {
      self.locations = locations
      self.families = families
    }
  }

  /// The kind that the author gave the widget.
  package var kind: String
  /// In the language of the device.
  package var displayName: String?
  /// In the language of the device.
  package var description: String?
  /// `nil`: all families.
  package var families: [WidgetFamilyName]?
  package var contentMarginsDisabled = false
  /// The calls in order.
  package var disfavored: [Disfavored] = []
  package var isBackgroundRemovable = true
  package var promptsForUserConfiguration = false
  /// The type name given to `pushHandler(_:)`.
  package var pushHandler: String?
  /// Source: `supportedMountingStyles(_:)`.
  package var mountingStyles: [String]?
  /// Source: `widgetTexture(_:)`.
  package var texture: String?
  /// Source: `associatedKind(_:)`.
  package var associatedKind: String?
  /// Source: `supplementalActivityFamilies(_:)`.
  package var supplementalActivityFamilies: [String] = []
  /// The options that the user can configure; `nil` for a widget without configuration.
  package var configuration: IntentDeclaration?
  /// Configurations recommended by the provider, for a device without a configuration interface.
  package var recommendations: [RecommendedConfiguration] = []
  /// The author's provider type.
  package var provider: String = ""
  /// Whether it handles the events of background sessions.
  package var handlesBackgroundEvents = false
  /// A control (`ControlWidget`), which is placed in Control Center only.
  package var isControl = false

  package init(kind: String) { self.kind = kind }
}

/// The parameters of an intent that the user can configure.
package struct IntentDeclaration: Codable, Hashable, Sendable {
  /// One option of a parameter.
  package struct Option: Codable, Hashable, Sendable {
    package let value: ArchivedValue
    package let title: String
    package let subtitle: String?
    /// The title of the section that it is in.
    package let section: String?
    package init(value: ArchivedValue, title: String, subtitle: String? = nil, section: String? = nil) {
      self.value = value
      self.title = title
      self.subtitle = subtitle
      self.section = section
    }
  }

  package struct Parameter: Codable, Hashable, Sendable {
    package enum ValueType: String, Codable, Sendable {
      case bool, int, double, string, date, url, `enum`, entity
    }
    /// The property's name.
    package let name: String
    package let title: String
    package let type: ValueType
    package let isOptional: Bool
    /// The default value; `nil` when there is no default.
    package let standard: ArchivedValue?
    /// The options; empty where any value is allowed or where the author's code is queried.
    package let options: [Option]
    private let asked: Bool?
    /// Options and default come from the author's query or options provider when the user configures the widget.
    package var isAsked: Bool { asked ?? false }
    package init(
      name: String, title: String, type: ValueType, isOptional: Bool, standard: ArchivedValue?, options: [Option],
      isAsked: Bool = false
    ) {
      self.name = name
      self.title = title
      self.type = type
      self.isOptional = isOptional
      self.standard = standard
      self.options = options
      asked = isAsked ? true : nil
    }
  }

  /// The author's intent type.
  package let type: String
  package let title: String
  package let parameters: [Parameter]
  package init(type: String, title: String, parameters: [Parameter]) {
    self.type = type
    self.title = title
    self.parameters = parameters
  }
}

/// Source: `AppIntentRecommendation` and `WidgetKit.IntentRecommendation`.
package struct RecommendedConfiguration: Codable, Hashable, Sendable {
  package let description: String
  package let values: [String: ArchivedValue]
  package init(description: String, values: [String: ArchivedValue]) {
    self.description = description
    self.values = values
  }
}

/// One widget that the user placed on a screen.
package struct Placement: Codable, Hashable, Sendable, Identifiable {
  /// Numbered from 1 on each device, and never reused.
  package let id: Int
  /// The extension's bundle identifier.
  package let bundle: String
  package let kind: String
  package let family: WidgetFamilyName
  package let location: WidgetLocationName
  /// The intent's parameters that the user chose, by name. Others have their default.
  package var configuration: [String: ArchivedValue]
  /// The type of the configuration's intent, in messages to author's processes; `nil` without an intent.
  package var intent: String?
  package init(
    id: Int, bundle: String, kind: String, family: WidgetFamilyName, location: WidgetLocationName,
    configuration: [String: ArchivedValue] = [:]
  ) {
    self.id = id
    self.bundle = bundle
    self.kind = kind
    self.family = family
    self.location = location
    self.configuration = configuration
  }
}

/// The result of a widget push at one placement. Timelines reports it, and Pushes reports it to the push server.
package struct PlacementReloadReport: Sendable, Equatable {
  /// `apns-unique-id`.
  package let push: UUID
  package let placement: Int
  package let outcome: ReloadOutcome

  package init(push: UUID, placement: Int, outcome: ReloadOutcome) {
    self.push = push
    self.placement = placement
    self.outcome = outcome
  }
}

/// The state of a reload that a widget push requested.
package enum ReloadOutcome: Codable, Sendable, Hashable {
  /// Paid, or being decided: the extension is to be asked.
  case pending
  /// The budget delays the reload.
  case delayed(rule: String, until: Date?)
  /// The reload is refused.
  case refused(rule: String)
  /// A timeline that was requested after the push is stored.
  case stored
  /// The reload failed, and is tried again.
  case failed(String)
  /// The reload failed, and is not tried again.
  case gaveUp(String)
  /// A newer push replaced it.
  case superseded
}
