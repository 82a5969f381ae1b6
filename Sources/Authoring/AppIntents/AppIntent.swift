public import BackgroundURLSession

/// A value whose type has a name that outlives a process. Source: `AppIntents.PersistentlyIdentifiable`.
public protocol PersistentlyIdentifiable {
  /// The name.
  static var persistentIdentifier: String { get }
}

extension PersistentlyIdentifiable {
  /// The type's name.
  public static var persistentIdentifier: String { "\(Self.self)" }
}

/// Something that the system can have done: a widget's button, or a person's choice for a widget. Source:
/// `AppIntents.AppIntent`.
public protocol AppIntent: PersistentlyIdentifiable, Sendable {
  /// What `perform()` gives back.
  associatedtype PerformResult: IntentResult
  /// The sentence in which a person reads the parameters.
  associatedtype SummaryContent: ParameterSummary
  /// Its name for people.
  static var title: LocalizedStringResource { get }
  /// What it does, for people.
  static var description: IntentDescription? { get }
  /// Whether the app is brought to the front for it.
  static var openAppWhenRun: Bool { get }
  /// Whether the device must be unlocked for it.
  static var authenticationPolicy: IntentAuthenticationPolicy { get }
  /// Whether the system offers it by itself.
  static var isDiscoverable: Bool { get }
  /// The sentence in which a person reads the parameters.
  static var parameterSummary: SummaryContent { get }
  /// Does it.
  @concurrent func perform() async throws -> PerformResult
  /// The system makes the intent, then sets its parameters.
  init()
}

extension AppIntent {
  /// What a property of an intent that a person can set is declared with.
  public typealias Parameter<Value: _IntentValue> = IntentParameter<Value>

  /// None.
  public static var description: IntentDescription? { nil }
  /// No.
  public static var openAppWhenRun: Bool { false }
  /// It may run on a locked device.
  public static var authenticationPolicy: IntentAuthenticationPolicy { .alwaysAllowed }
  /// Yes.
  public static var isDiscoverable: Bool { true }
  /// None.
  public static var parameterSummary: some ParameterSummary { EmptyParameterSummary() }
}

/// When an intent may run. Source: `AppIntents.IntentAuthenticationPolicy`.
public enum IntentAuthenticationPolicy: Sendable {
  /// On a locked device too.
  case alwaysAllowed
  /// When the person is known.
  case requiresAuthentication
  /// When the device is unlocked.
  case requiresLocalDeviceAuthentication
}

/// An intent whose parameters are the choices for a widget. Source: `AppIntents.WidgetConfigurationIntent`.
public protocol WidgetConfigurationIntent: AppIntent {}

extension WidgetConfigurationIntent {
  /// It does nothing: it is read.
  @concurrent public func perform() async throws -> some IntentResult { .result() }
}

/// An intent whose parameters are the choices for a control. Source: `AppIntents.ControlConfigurationIntent`.
public protocol ControlConfigurationIntent: AppIntent {}

extension ControlConfigurationIntent {
  /// It does nothing: it is read.
  @concurrent public func perform() async throws -> some IntentResult { .result() }
}

/// An intent that the system itself knows. Source: `AppIntents.SystemIntent`.
public protocol SystemIntent: AppIntent {}

/// An intent that brings the app to the front and shows something. Source: `AppIntents.OpenIntent`.
public protocol OpenIntent: SystemIntent {
  /// What is shown.
  associatedtype Value: _IntentValue
  /// What is shown.
  var target: Value { get set }
}

extension OpenIntent {
  /// Yes.
  public static var openAppWhenRun: Bool { true }
}

/// An intent that sets a value; of a toggle's the system sets `value`. Source: `AppIntents.SetValueIntent`.
public protocol SetValueIntent: SystemIntent {
  /// What is set.
  associatedtype ValueType: _IntentValue
  /// What is set.
  var value: ValueType { get set }
}

/// An intent that plays or stops sound, in the app. Source: `AppIntents.AudioPlaybackIntent`.
public protocol AudioPlaybackIntent: SystemIntent {}

/// An intent that begins in the app behind the front. Source: `AppIntents.ForegroundContinuableIntent`.
public protocol ForegroundContinuableIntent: AppIntent {}

/// An intent that begins or changes a Live Activity, in the app. Source: `AppIntents.LiveActivityIntent`.
public protocol LiveActivityIntent: SystemIntent {}

/// An intent that begins or ends a transmission, in the app. Source: `AppIntents.PushToTalkTransmissionIntent`.
public protocol PushToTalkTransmissionIntent: SystemIntent {}

/// What an intent does, in a person's words. Source: `AppIntents.IntentDescription`.
public struct IntentDescription: Sendable, ExpressibleByStringInterpolation {
  /// The text.
  public let descriptionText: LocalizedStringResource
  /// Under what it is listed.
  public let categoryName: LocalizedStringResource?
  /// Words by which it is found.
  public let searchKeywords: [LocalizedStringResource]

  /// A description.
  public init(
    _ descriptionText: LocalizedStringResource, categoryName: LocalizedStringResource? = nil,
    searchKeywords: [LocalizedStringResource] = []
  ) {
    self.descriptionText = descriptionText
    self.categoryName = categoryName
    self.searchKeywords = searchKeywords
  }
  /// A literal.
  public init(stringLiteral value: String) { self.init(LocalizedStringResource(stringLiteral: value)) }
  /// A literal with values in it.
  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(LocalizedStringResource(stringInterpolation: stringInterpolation))
  }
}

/// What an intent says to a person. Source: `AppIntents.IntentDialog`.
public struct IntentDialog: Sendable, ExpressibleByStringInterpolation {
  /// The text.
  public let full: LocalizedStringResource

  /// A dialog.
  public init(_ full: LocalizedStringResource) { self.full = full }
  /// A literal.
  public init(stringLiteral value: String) { self.init(LocalizedStringResource(stringLiteral: value)) }
  /// A literal with values in it.
  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(LocalizedStringResource(stringInterpolation: stringInterpolation))
  }
}
