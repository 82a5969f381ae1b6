// SPDX-License-Identifier: Apache-2.0

public import URLSessionAPI

/// A type with a name that is the same in every process. Source: `AppIntents.PersistentlyIdentifiable`.
public protocol PersistentlyIdentifiable {
  static var persistentIdentifier: String { get }
}

extension PersistentlyIdentifiable {
  /// The type's name.
  public static var persistentIdentifier: String { "\(Self.self)" }
}

/// An action that the system can perform for a widget's button, or a widget's configuration. Source:
/// `AppIntents.AppIntent`.
public protocol AppIntent: PersistentlyIdentifiable, Sendable {
  /// The result type of `perform()`.
  associatedtype PerformResult: IntentResult
  /// The type of `parameterSummary`.
  associatedtype SummaryContent: ParameterSummary
  static var title: LocalizedStringResource { get }
  /// A description for the user.
  static var description: IntentDescription? { get }
  /// Whether the app is brought to the foreground to perform it.
  static var openAppWhenRun: Bool { get }
  /// Whether the device must be unlocked to perform it.
  static var authenticationPolicy: IntentAuthenticationPolicy { get }
  /// Whether the system offers it without being asked.
  static var isDiscoverable: Bool { get }
  /// The sentence that describes the parameters to the user.
  static var parameterSummary: SummaryContent { get }
  /// Performs the intent.
  @concurrent func perform() async throws -> PerformResult
  /// The system creates the intent, then sets its parameters.
  init()
}

extension AppIntent {
  /// Declares a property of an intent that the user can set.
  public typealias Parameter<Value: _IntentValue> = IntentParameter<Value>

  public static var description: IntentDescription? { nil }
  public static var openAppWhenRun: Bool { false }
  /// May run on a locked device.
  public static var authenticationPolicy: IntentAuthenticationPolicy { .alwaysAllowed }
  public static var isDiscoverable: Bool { true }
  public static var parameterSummary: some ParameterSummary { EmptyParameterSummary() }
}

/// When an intent may run. Source: `AppIntents.IntentAuthenticationPolicy`.
public enum IntentAuthenticationPolicy: Sendable {
  /// Also on a locked device.
  case alwaysAllowed
  /// After the user has authenticated.
  case requiresAuthentication
  /// While the device is unlocked.
  case requiresLocalDeviceAuthentication
}

/// An intent whose parameters are a widget's configuration. Source: `AppIntents.WidgetConfigurationIntent`.
public protocol WidgetConfigurationIntent: AppIntent {}

extension WidgetConfigurationIntent {
  /// Does nothing: only the parameters are read.
  @concurrent public func perform() async throws -> some IntentResult { .result() }
}

/// An intent whose parameters are a control's configuration. Source: `AppIntents.ControlConfigurationIntent`.
public protocol ControlConfigurationIntent: AppIntent {}

extension ControlConfigurationIntent {
  /// Does nothing: only the parameters are read.
  @concurrent public func perform() async throws -> some IntentResult { .result() }
}

/// An intent that the system defines. Source: `AppIntents.SystemIntent`.
public protocol SystemIntent: AppIntent {}

/// An intent that brings the app to the foreground and shows something. Source: `AppIntents.OpenIntent`.
public protocol OpenIntent: SystemIntent {
  /// The type of `target`.
  associatedtype Value: _IntentValue
  /// What the app shows.
  var target: Value { get set }
}

extension OpenIntent {
  public static var openAppWhenRun: Bool { true }
}

/// An intent that sets a value. For a toggle's intent, the system sets `value`. Source: `AppIntents.SetValueIntent`.
public protocol SetValueIntent: SystemIntent {
  /// The type of `value`.
  associatedtype ValueType: _IntentValue
  /// The value to set.
  var value: ValueType { get set }
}

/// An intent that plays or stops sound, in the app's process. Source: `AppIntents.AudioPlaybackIntent`.
public protocol AudioPlaybackIntent: SystemIntent {}

/// An intent that starts in the app in the background. Source: `AppIntents.ForegroundContinuableIntent`.
public protocol ForegroundContinuableIntent: AppIntent {}

/// An intent that starts or changes a Live Activity, in the app's process. Source: `AppIntents.LiveActivityIntent`.
public protocol LiveActivityIntent: SystemIntent {}

/// An intent that starts or ends a transmission, in the app's process. Source:
/// `AppIntents.PushToTalkTransmissionIntent`.
public protocol PushToTalkTransmissionIntent: SystemIntent {}

/// A description of an intent for the user. Source: `AppIntents.IntentDescription`.
public struct IntentDescription: Sendable, ExpressibleByStringInterpolation {
  public let descriptionText: LocalizedStringResource
  /// The category in which it is listed.
  public let categoryName: LocalizedStringResource?
  /// Search terms.
  public let searchKeywords: [LocalizedStringResource]

  public init(
    _ descriptionText: LocalizedStringResource, categoryName: LocalizedStringResource? = nil,
    searchKeywords: [LocalizedStringResource] = []
  ) {
    self.descriptionText = descriptionText
    self.categoryName = categoryName
    self.searchKeywords = searchKeywords
  }
  public init(stringLiteral value: String) { self.init(LocalizedStringResource(stringLiteral: value)) }
  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(LocalizedStringResource(stringInterpolation: stringInterpolation))
  }
}

/// A text that an intent shows or speaks to the user. Source: `AppIntents.IntentDialog`.
public struct IntentDialog: Sendable, ExpressibleByStringInterpolation {
  public let full: LocalizedStringResource

  public init(_ full: LocalizedStringResource) { self.full = full }
  public init(stringLiteral value: String) { self.init(LocalizedStringResource(stringLiteral: value)) }
  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(LocalizedStringResource(stringInterpolation: stringInterpolation))
  }
}
