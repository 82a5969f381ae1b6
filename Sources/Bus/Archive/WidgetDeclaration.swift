/// What an extension says of one kind of its widgets: the author's modifiers, read once in a process.
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

  /// The author's name of the widget.
  package var kind: String
  /// In the language of the device.
  package var displayName: String?
  /// In the language of the device.
  package var description: String?
  /// `nil`: all.
  package var families: [WidgetFamilyName]?
  package var contentMarginsDisabled = false
  /// All calls together.
  package var disfavored: [Disfavored] = []
  package var isBackgroundRemovable = true
  package var promptsForUserConfiguration = false
  /// The name of the type of `pushHandler(_:)`.
  package var pushHandler: String?
  /// Source: `supportedMountingStyles(_:)`.
  package var mountingStyles: [String]?
  /// Source: `widgetTexture(_:)`.
  package var texture: String?
  /// Source: `associatedKind(_:)`.
  package var associatedKind: String?
  /// Source: `supplementalActivityFamilies(_:)`.
  package var supplementalActivityFamilies: [String] = []
  /// What a person can choose; `nil` for a widget without configuration.
  package var configuration: IntentDeclaration?
  /// Configurations that the provider recommends, for a device without a configuration interface.
  package var recommendations: [IntentRecommendation] = []
  /// The author's type of the provider.
  package var provider: String = ""
  /// Whether it has an action for the events of background sessions.
  package var handlesBackgroundEvents = false
  /// A control (`ControlWidget`): recorded, and never placed.
  package var isControl = false

  package init(kind: String) { self.kind = kind }
}

/// What a person can choose of an intent.
package struct IntentDeclaration: Codable, Hashable, Sendable {
  /// One thing to choose among.
  package struct Option: Codable, Hashable, Sendable {
    package let value: ArchivedValue
    package let title: String
    package init(value: ArchivedValue, title: String) {
      self.value = value
      self.title = title
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
    /// Its value when nobody has chosen; `nil` when it has none.
    package let standard: ArchivedValue?
    /// What there is to choose; empty where it is free, or where the author is to be asked.
    package let options: [Option]
    private let asked: Bool?
    /// Options and standard are what the author's query or options provider finds when a person configures the widget.
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

  /// The author's type.
  package let type: String
  package let title: String
  package let parameters: [Parameter]
  package init(type: String, title: String, parameters: [Parameter]) {
    self.type = type
    self.title = title
    self.parameters = parameters
  }
}

/// Source: `AppIntentRecommendation`.
package struct IntentRecommendation: Codable, Hashable, Sendable {
  package let description: String
  package let values: [String: ArchivedValue]
  package init(description: String, values: [String: ArchivedValue]) {
    self.description = description
    self.values = values
  }
}

/// One widget that a person put on a screen.
package struct Placement: Codable, Hashable, Sendable, Identifiable {
  /// Numbered from 1 on each device, and never given twice.
  package let id: Int
  /// The extension's bundle identifier.
  package let bundle: String
  package let kind: String
  package let family: WidgetFamilyName
  package let location: WidgetLocationName
  /// What the person chose: the intent's parameters by their names. Those that are not there have their standard.
  package var configuration: [String: ArchivedValue]
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
