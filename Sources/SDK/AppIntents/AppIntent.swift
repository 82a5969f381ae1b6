// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation
import Synchronization
// The modules that `import AppIntents` makes visible to an author's file.
@_exported public import URLSessionAPI

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
  /// Where it may be performed.
  static var supportedModes: IntentModes { get }
  /// Whether the device must be unlocked to perform it.
  static var authenticationPolicy: IntentAuthenticationPolicy { get }
  /// Whether the system offers it without being asked.
  static var isDiscoverable: Bool { get }
  /// The sentence that describes the parameters to the user.
  @ParameterSummaryBuilder<Self> static var parameterSummary: SummaryContent { get }
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
  /// As `openAppWhenRun` says.
  public static var supportedModes: IntentModes { openAppWhenRun ? .foreground : .background }
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

/// The earlier form of `LiveActivityIntent`, also performed in the app's process. Source:
/// `AppIntents.LiveActivityStartingIntent`.
public protocol LiveActivityStartingIntent: SystemIntent {}

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

/// The result of an intent. Source: `AppIntents.IntentResult`.
public protocol IntentResult: Sendable {}

/// A result with a value. Source: `AppIntents.ReturnsValue`.
public protocol ReturnsValue<Value>: IntentResult {
  associatedtype Value: Sendable
  var value: Value? { get }
}

/// A result with a dialog for the user. Source: `AppIntents.ProvidesDialog`.
public protocol ProvidesDialog: IntentResult {}

/// A result with another intent, which the system performs. Source: `AppIntents.OpensIntent`.
public protocol OpensIntent: IntentResult {
  /// `nil` for none.
  var opensIntent: (any AppIntent)? { get }
}

/// The result of `.result()`. Source: `AppIntents.IntentResultContainer`.
public struct IntentResultContainer<Value: Sendable>: ReturnsValue, OpensIntent {
  /// `nil` for a result without a value.
  public let value: Value?
  public var opensIntent: (any AppIntent)?
}

/// The result of `.result(dialog:)`.
public struct DialogResult<Value: Sendable>: ReturnsValue, OpensIntent, ProvidesDialog {
  /// `nil` for a result without a value.
  public let value: Value?
  public var opensIntent: (any AppIntent)?
}

extension IntentResult where Self == IntentResultContainer<Never> {
  public static func result() -> Self { IntentResultContainer(value: nil) }
}

extension IntentResult {
  public static func result<Value: Sendable>(value: Value) -> Self where Self == IntentResultContainer<Value> {
    IntentResultContainer(value: value)
  }
  public static func result(dialog: IntentDialog) -> Self where Self == DialogResult<Never> {
    DialogResult(value: nil)
  }
  public static func result<Value: Sendable>(value: Value, dialog: IntentDialog) -> Self
  where Self == DialogResult<Value> {
    DialogResult(value: value)
  }
}

extension IntentResult {
  public static func result(opensIntent: some AppIntent) -> Self where Self == IntentResultContainer<Never> {
    IntentResultContainer(value: nil, opensIntent: opensIntent)
  }
  public static func result<Value: Sendable>(value: Value, opensIntent: some AppIntent) -> Self
  where Self == IntentResultContainer<Value> {
    IntentResultContainer(value: value, opensIntent: opensIntent)
  }
  public static func result(opensIntent: some AppIntent, dialog: IntentDialog) -> Self
  where Self == DialogResult<Never> {
    DialogResult(value: nil, opensIntent: opensIntent)
  }
  public static func result<Value: Sendable>(
    value: Value, opensIntent: some AppIntent, dialog: IntentDialog
  ) -> Self where Self == DialogResult<Value> {
    DialogResult(value: value, opensIntent: opensIntent)
  }
}

/// An intent that opens the app with a URL, as a link does. Source: `AppIntents.OpenURLIntent`.
public struct OpenURLIntent: SystemIntent {
  public static let title: LocalizedStringResource = "Open URL"
  public static var openAppWhenRun: Bool { true }

  @IntentParameter(title: "URL") public var url: URL

  public init() {}
  public init(_ url: URL) { self.url = url }

  @concurrent public func perform() async throws -> some IntentResult & OpensIntent { .result(opensIntent: self) }
}

/// An object of the app that an intent or a query uses. Source: `AppIntents.AppDependency`.
@propertyWrapper public struct AppDependency<Value: Sendable>: Sendable {
  private let key: AnyHashableSendable?

  public init(key: (any Hashable & Sendable)? = nil) { self.key = key.map { AnyHashableSendable($0) } }

  /// Ends the process when nothing was added for this type, as on a phone.
  public var wrappedValue: Value {
    guard let value: Value = AppDependencyManager.shared.value(key) else {
      fatalError("AppDependency: no \(Value.self) was added to AppDependencyManager before it was used")
    }
    return value
  }
}

/// A key of the author.
private struct AnyHashableSendable: Hashable, Sendable {
  private let text: String
  init(_ key: any Hashable & Sendable) { text = "\(type(of: key)).\(key)" }
}

/// The objects that intents use. Source: `AppIntents.AppDependencyManager`.
public final class AppDependencyManager: Sendable {
  public static let shared = AppDependencyManager()

  private struct Name: Hashable {
    let type: ObjectIdentifier
    let key: AnyHashableSendable?
  }

  private let made = Mutex<[Name: any Sendable]>([:])

  /// Adds an object for its type.
  public func add<Dependency: Sendable>(
    key: (any Hashable & Sendable)? = nil,
    dependency dependencyProvider: @autoclosure @escaping @Sendable () -> Dependency
  ) {
    let value = dependencyProvider()
    made.withLock {
      $0[Name(type: ObjectIdentifier(Dependency.self), key: key.map { AnyHashableSendable($0) })] = value
    }
  }

  fileprivate func value<Value: Sendable>(_ key: AnyHashableSendable?) -> Value? {
    made.withLock { $0[Name(type: ObjectIdentifier(Value.self), key: key)] as? Value }
  }
}

extension AppIntent {
  /// Declares an object of the app that the intent uses.
  public typealias Dependency<Value: Sendable> = AppDependency<Value>
}

extension EntityQuery {
  /// Declares an object of the app that the query uses.
  public typealias Dependency<Value: Sendable> = AppDependency<Value>
}

/// An intent that takes the place of one of an `.intentdefinition`. Source: `AppIntents.CustomIntentMigratedAppIntent`.
/// The values that a user chose for the former one are kept where the parameters have the same names.
public protocol CustomIntentMigratedAppIntent: AppIntent {
  /// The class of the former intent.
  static var intentClassName: String { get }
}

/// An intent that another replaces. Source: `AppIntents.DeprecatedAppIntent`.
public protocol DeprecatedAppIntent: AppIntent {}
