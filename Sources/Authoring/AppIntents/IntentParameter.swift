import Archive
public import BackgroundURLSession
import Synchronization

/// A property of an intent that a person can set: `@Parameter`. Source: `AppIntents.IntentParameter`.
@propertyWrapper public final class IntentParameter<Value: _IntentValue>: Sendable {
  private let title: LocalizedStringResource?
  private let standard: Value?
  private let options: (@concurrent @Sendable () async throws -> [Value])?
  private let unchosen: (@concurrent @Sendable () async -> Value?)?
  private let stored: Mutex<Value?>

  /// The value that a person chose, or that stands when nobody chose.
  public var wrappedValue: Value {
    get {
      guard let value = stored.withLock({ $0 }) else {
        fatalError(
          """
          the parameter \(title?.resolved() ?? "without title") has no value: nobody chose one, and it has no default; \
          declare it optional, or give it a default
          """)
      }
      return value
    }
    set { stored.withLock { $0 = newValue } }
  }

  /// The parameter itself.
  public var projectedValue: IntentParameter<Value> { self }

  init(
    _ title: LocalizedStringResource?, _ standard: Value?,
    options: (@concurrent @Sendable () async throws -> [Value])? = nil,
    unchosen: (@concurrent @Sendable () async -> Value?)? = nil
  ) {
    self.title = title
    self.standard = standard
    self.options = options
    self.unchosen = unchosen
    stored = Mutex(standard ?? Value.none)
  }

  /// A parameter.
  public convenience init(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Value? = nil,
    requestValueDialog: IntentDialog? = nil
  ) {
    self.init(title, defaultValue)
  }

  /// A parameter without a title.
  public convenience init(description: LocalizedStringResource? = nil, requestValueDialog: IntentDialog? = nil) {
    self.init(nil, nil)
  }

  /// A parameter whose values a provider offers.
  public convenience init<Provider: DynamicOptionsProvider>(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Value? = nil,
    requestValueDialog: IntentDialog? = nil, optionsProvider: Provider
  ) where Provider.Result == Value {
    self.init(
      title, defaultValue, options: { try await optionsProvider.results() },
      unchosen: { await optionsProvider.defaultResult() })
  }

  /// An optional parameter whose values a provider offers.
  public convenience init<Wrapped: _IntentValue, Provider: DynamicOptionsProvider>(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Value? = nil,
    requestValueDialog: IntentDialog? = nil, optionsProvider: Provider
  ) where Value == Wrapped?, Provider.Result == Wrapped {
    self.init(
      title, defaultValue, options: { try await optionsProvider.results() },
      unchosen: { await optionsProvider.defaultResult() })
  }

  /// A parameter whose entities a query of its own finds.
  public convenience init<Query: EntityQuery>(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Value? = nil,
    requestValueDialog: IntentDialog? = nil, query: Query
  ) where Query.Entity == Value {
    self.init(
      title, defaultValue, options: { try await query.suggestedEntities() }, unchosen: { await query.defaultResult() })
  }
}

extension IntentParameter where Value == Bool {
  /// How a person sees the choice. Source: `AppIntents.Bool.IntentDisplayName`.
  public struct DisplayName: Sendable {
    let yes: LocalizedStringResource
    let no: LocalizedStringResource

    /// Words for both.
    public init(true yes: LocalizedStringResource, false no: LocalizedStringResource) {
      self.yes = yes
      self.no = no
    }
  }

  /// A choice between two.
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
    /// As text.
    case field
    /// By steps.
    case stepper
    /// Along a line.
    case slider
  }
}

extension IntentParameter where Value == Int {
  /// A whole number, within a range.
  public convenience init(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Int? = nil,
    controlStyle: ControlStyle = .field, inclusiveRange: (Int, Int)? = nil, requestValueDialog: IntentDialog? = nil
  ) {
    self.init(title, defaultValue)
  }
}

extension IntentParameter where Value == Double {
  /// A number, within a range.
  public convenience init(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Double? = nil,
    controlStyle: ControlStyle = .field, inclusiveRange: (Double, Double)? = nil,
    requestValueDialog: IntentDialog? = nil
  ) {
    self.init(title, defaultValue)
  }
}

extension _IntentValue {
  /// The value that an optional has without one; `nil` for every other type.
  fileprivate static var none: Self? { (Self.self as? any Absent.Type)?.absent as? Self }
}

/// A type with a value that is none.
private protocol Absent {
  static var absent: Self { get }
}

extension Optional: Absent {
  fileprivate static var absent: Wrapped? { .none }
}

/// A parameter of an intent whose type only the author's code knows.
protocol AnyIntentParameter: Sendable {
  var archive: ArchivedValue? { get }
  @concurrent func declaration(named name: String) async -> IntentDeclaration.Parameter
  /// - Throws: `IntentRefusal` for a value that it does not take, and what the author's query throws.
  @concurrent func restore(_ value: ArchivedValue?) async throws
}

extension IntentParameter: AnyIntentParameter {
  var archive: ArchivedValue? { stored.withLock { $0 }?._archived.value }

  @concurrent func declaration(named name: String) async -> IntentDeclaration.Parameter {
    let choices: [Value]? =
      if let options { try? await options() } else { try? await Value._choices() }
    return IntentDeclaration.Parameter(
      name: name, title: title?.resolved() ?? name, type: Value._kind.type, isOptional: Value._kind.isOptional,
      standard: await standing()?._archived.value,
      options: (choices ?? []).compactMap { choice in
        choice._archived.value.map { IntentDeclaration.Option(value: $0, title: choice._title) }
      })
  }

  @concurrent func restore(_ value: ArchivedValue?) async throws {
    guard let value else {
      if let standing = await standing() { stored.withLock { $0 = standing } }
      return
    }
    guard let restored = try await Value._restored(_IntentArchive(value)) else {
      throw IntentRefusal(reason: "\(title?.resolved() ?? "a parameter") takes no \(value)")
    }
    stored.withLock { $0 = restored }
  }

  /// What stands when nobody chose.
  private func standing() async -> Value? {
    if let standard { return standard }
    if let unchosen { return await unchosen() }
    return await Value._unchosen()
  }
}

/// Why an intent cannot be made of what travelled.
package struct IntentRefusal: Error, CustomStringConvertible {
  let reason: String
  package var description: String { reason }
}
