// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
import Synchronization
public import URLSessionAPI

/// A property of an intent that the user can set: `@Parameter`. Source: `AppIntents.IntentParameter`.
@propertyWrapper public final class IntentParameter<Value: _IntentValue>: Sendable {
  private let title: LocalizedStringResource?
  private let standard: Value?
  private let source: Source?
  private let storedValue: Mutex<Value?>

  /// The chosen value, or else the default. A switch without both is off.
  public var wrappedValue: Value {
    get {
      guard let value = storedValue.withLock({ $0 }) ?? false as? Value else {
        fatalError(
          """
          the parameter \(title?.resolved() ?? "without title") has no value: none was chosen, and it has no default; \
          declare it optional, or give it a default
          """)
      }
      return value
    }
    set { storedValue.withLock { $0 = newValue } }
  }

  public var projectedValue: IntentParameter<Value> { self }

  /// Provides values that are not determined by the type alone.
  struct Source: Sendable {
    let options: @concurrent @Sendable () async throws -> _IntentOptions
    let unchosen: @concurrent @Sendable () async -> Value?
    var matches: @concurrent @Sendable (String) async throws -> _IntentOptions = { _ in _IntentOptions([]) }
  }

  init(_ title: LocalizedStringResource?, _ standard: Value?, source: Source? = nil) {
    self.title = title
    self.standard = standard
    self.source = source
    storedValue = Mutex(standard ?? Value.none)
  }

  public convenience init(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Value? = nil,
    requestValueDialog: IntentDialog? = nil
  ) {
    self.init(title, defaultValue)
  }

  public convenience init(description: LocalizedStringResource? = nil, requestValueDialog: IntentDialog? = nil) {
    self.init(nil, nil)
  }

  /// A parameter whose values come from an options provider.
  public convenience init<Provider: DynamicOptionsProvider>(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Value? = nil,
    requestValueDialog: IntentDialog? = nil, optionsProvider: Provider
  ) where Value.ValueType == Provider.DefaultValue.ValueType {
    self.init(
      title, defaultValue,
      source: Source(
        options: { try await optionsProvider.results()._options },
        unchosen: { Value.fitting(await optionsProvider.defaultResult()) }))
  }

  /// A parameter with its own entity query.
  public convenience init<Query: EntityQuery>(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Value? = nil,
    requestValueDialog: IntentDialog? = nil, query: Query
  ) where Query.Entity == Value.ValueType {
    self.init(
      title, defaultValue,
      source: Source(
        options: { try await query.suggestedEntities()._options },
        unchosen: { Value.fitting(await query.defaultResult()) }, matches: { try await query.found($0) }))
  }
}

extension IntentParameter where Value == Bool {
  /// The labels of the two values. Source: `AppIntents.Bool.IntentDisplayName`.
  public struct DisplayName: Sendable {
    let yes: LocalizedStringResource
    let no: LocalizedStringResource

    public init(true yes: LocalizedStringResource, false no: LocalizedStringResource) {
      self.yes = yes
      self.no = no
    }
  }

  /// A parameter with two values.
  public convenience init(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Bool? = nil,
    displayName: DisplayName, requestValueDialog: IntentDialog? = nil
  ) {
    self.init(title, defaultValue)
  }
}

extension IntentParameter {
  /// How a number is entered. Source: `AppIntents.IntentParameter.ControlStyle`.
  public enum ControlStyle: Sendable {
    /// A text field.
    case field
    /// A stepper.
    case stepper
    /// A slider.
    case slider
  }
}

extension IntentParameter where Value == Int {
  /// An integer parameter, optionally within a range.
  public convenience init(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Int? = nil,
    controlStyle: ControlStyle = .field, inclusiveRange: (Int, Int)? = nil, requestValueDialog: IntentDialog? = nil
  ) {
    self.init(title, defaultValue)
  }
}

extension IntentParameter where Value == Double {
  /// A number parameter, optionally within a range.
  public convenience init(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Double? = nil,
    controlStyle: ControlStyle = .field, inclusiveRange: (Double, Double)? = nil,
    requestValueDialog: IntentDialog? = nil
  ) {
    self.init(title, defaultValue)
  }
}

extension _IntentValue {
  /// The `nil` of an optional type; `nil` for every other type.
  fileprivate static var none: Self? { (Self.self as? any Absent.Type)?.absent as? Self }
}

/// A type with a value for "no value".
private protocol Absent {
  static var absent: Self { get }
}

extension Optional: Absent {
  fileprivate static var absent: Wrapped? { .none }
}

/// The options and the default of a parameter, from the author's code.
struct IntentChoices: Sendable {
  let options: [IntentDeclaration.Option]
  let standard: ArchivedValue?
}

/// A parameter of an intent, without its type.
protocol AnyIntentParameter: Sendable {
  var archive: ArchivedValue? { get }
  /// Whether it can be read, and is not `nil`.
  var hasValue: Bool { get }
  /// Whether the author's code provides the options.
  var isAsked: Bool { get }
  /// - Parameter choices: `nil` when the author's code was not called.
  func declaration(named name: String, _ choices: IntentChoices?) -> IntentDeclaration.Parameter
  /// The options, and those that match the search text. Sets the default of the author's code if there is no value.
  @concurrent func choices(_ words: String?) async -> IntentChoices
  /// - Throws: `IntentRefusal` for a value that it does not accept, and errors of the author's query.
  @concurrent func restore(_ value: ArchivedValue?) async throws
}

extension AnyIntentParameter {
  /// Restores the value that a text of the user means: an option's value or title, a text or a number. A text that means none
  /// changes nothing.
  @concurrent func restore(_ text: String, among options: [IntentDeclaration.Option]) async {
    let option = options.first { $0.value == .string(text) || $0.title == text }
    for value in [option?.value, .string(text), Double(text).map { .number($0) }].compactMap(\.self) {
      if (try? await restore(value)) != nil { return }
    }
  }
}

extension IntentParameter: AnyIntentParameter {
  var archive: ArchivedValue? { storedValue.withLock { $0 }?._archived.value }

  var hasValue: Bool { archive != nil || Value.self == Bool.self }

  var isAsked: Bool { source != nil || Value._kind.type == .entity }

  func declaration(named name: String, _ choices: IntentChoices?) -> IntentDeclaration.Parameter {
    IntentDeclaration.Parameter(
      name: name, title: title?.resolved() ?? name, type: Value._kind.type, isOptional: Value._kind.isOptional,
      standard: choices?.standard ?? standard?._archived.value, options: choices?.options ?? [], isAsked: isAsked)
  }

  @concurrent func choices(_ words: String?) async -> IntentChoices {
    var foundOptions: [IntentDeclaration.Option] = []
    do {
      if let source {
        foundOptions = try await source.options().options
        if let words { foundOptions += try await source.matches(words).options }
      } else {
        foundOptions = try await Value._choices()?.options ?? []
        if let words { foundOptions += try await Value._matches(words).options }
      }
    } catch {
      HostedProcess.current?.log("cannot list the options of \(title?.resolved() ?? "a parameter"): \(error)")
    }
    var options: [IntentDeclaration.Option] = []
    for option in foundOptions where !options.contains(where: { $0.value == option.value }) { options.append(option) }
    let standing = await standing()
    if archive == nil, let standing { storedValue.withLock { $0 = standing } }
    return IntentChoices(options: options, standard: standing?._archived.value)
  }

  @concurrent func restore(_ value: ArchivedValue?) async throws {
    guard let value else {
      if let standing = await standing() { storedValue.withLock { $0 = standing } }
      return
    }
    guard let restored = try await Value._restored(_IntentArchive(value)) else {
      throw IntentRefusal(reason: "\(title?.resolved() ?? "a parameter") does not accept \(value)")
    }
    storedValue.withLock { $0 = restored }
  }

  /// The value that applies when the user chose none.
  private func standing() async -> Value? {
    if let standard { return standard }
    if let source { return await source.unchosen() }
    return await Value._unchosen()
  }
}

/// Why an intent could not be restored from its archive.
package struct IntentRefusal: Error, CustomStringConvertible {
  let reason: String
  package var description: String { reason }
}

/// The values of other parameters, for an options provider or a query. Source: `AppIntents.IntentParameterDependency`.
@propertyWrapper public final class IntentParameterDependency<Intent: AppIntent>: Sendable {
  // The paths of properties, which contain no values.
  nonisolated(unsafe) private let parameters: [PartialKeyPath<Intent>]

  public init<each Value: _IntentValue>(_ parameters: repeat KeyPath<Intent, IntentParameter<each Value>>) {
    var all: [PartialKeyPath<Intent>] = []
    for parameter in repeat each parameters { all.append(parameter) }
    self.parameters = all
  }

  /// The intent that the user configures, with the values so far, or the intent whose values are looked up. `nil` if
  /// one of the parameters has no value, for another intent, and when nothing is configured.
  public var wrappedValue: IntentProjection<Intent>? {
    guard let intent = ConfiguredIntent.current as? Intent,
      parameters.allSatisfy({ (intent[keyPath: $0] as? any AnyIntentParameter)?.hasValue == true })
    else { return nil }
    return IntentProjection(intent)
  }
}

/// The values of an intent, which are not optional. Source: `AppIntents.IntentProjection`.
@dynamicMemberLookup public final class IntentProjection<Intent: AppIntent>: Sendable {
  private let intent: Intent

  fileprivate init(_ intent: Intent) { self.intent = intent }

  public subscript<Value: _IntentValue>(dynamicMember path: KeyPath<Intent, Value>) -> Value.UnwrappedType {
    guard let value = intent[keyPath: path] as? Value.UnwrappedType else {
      fatalError("\(path) has no value; list the parameter in IntentParameterDependency")
    }
    return value
  }
}

/// The intent whose options are asked for, or whose values are looked up.
enum ConfiguredIntent {
  @TaskLocal static var current: (any AppIntent)?
}

extension DynamicOptionsProvider {
  /// Declares the parameters that the options depend on.
  public typealias ParameterDependency = IntentParameterDependency
}
