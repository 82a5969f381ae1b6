import Archive
import AuthoredProcess
public import BackgroundURLSession
import Synchronization

/// A property of an intent that a person can set: `@Parameter`. Source: `AppIntents.IntentParameter`.
@propertyWrapper public final class IntentParameter<Value: _IntentValue>: Sendable {
  private let title: LocalizedStringResource?
  private let standard: Value?
  private let source: Source?
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

  /// Where an author's values come from that are not known of their type alone.
  struct Source: Sendable {
    let options: @concurrent @Sendable () async throws -> [Value]
    let unchosen: @concurrent @Sendable () async -> Value?
    var matches: @concurrent @Sendable (String) async throws -> [Value] = { _ in [] }
  }

  init(_ title: LocalizedStringResource?, _ standard: Value?, source: Source? = nil) {
    self.title = title
    self.standard = standard
    self.source = source
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
      title, defaultValue,
      source: Source(
        options: { try await optionsProvider.results() }, unchosen: { await optionsProvider.defaultResult() }))
  }

  /// An optional parameter whose values a provider offers.
  public convenience init<Wrapped: _IntentValue, Provider: DynamicOptionsProvider>(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Value? = nil,
    requestValueDialog: IntentDialog? = nil, optionsProvider: Provider
  ) where Value == Wrapped?, Provider.Result == Wrapped {
    self.init(
      title, defaultValue,
      source: Source(
        options: { try await optionsProvider.results() }, unchosen: { await optionsProvider.defaultResult() }))
  }

  /// A parameter whose entities a query of its own finds.
  public convenience init<Query: EntityQuery>(
    title: LocalizedStringResource, description: LocalizedStringResource? = nil, default defaultValue: Value? = nil,
    requestValueDialog: IntentDialog? = nil, query: Query
  ) where Query.Entity == Value {
    self.init(
      title, defaultValue,
      source: Source(
        options: { try await query.suggestedEntities() }, unchosen: { await query.defaultResult() },
        matches: { try await query.found($0) }))
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

/// What the author's code says of a parameter when it is asked.
struct IntentChoices: Sendable {
  let options: [IntentDeclaration.Option]
  let standard: ArchivedValue?
}

/// A parameter of an intent whose type only the author's code knows.
protocol AnyIntentParameter: Sendable {
  var archive: ArchivedValue? { get }
  /// Whether the author's code is asked for what there is to choose.
  var isAsked: Bool { get }
  /// - Parameter choices: `nil` where the author was not asked.
  func declaration(named name: String, _ choices: IntentChoices?) -> IntentDeclaration.Parameter
  /// What there is to choose, and what a person's words find.
  @concurrent func choices(_ words: String?) async -> IntentChoices
  /// - Throws: `IntentRefusal` for a value that it does not take, and what the author's query throws.
  @concurrent func restore(_ value: ArchivedValue?) async throws
}

extension IntentParameter: AnyIntentParameter {
  var archive: ArchivedValue? { stored.withLock { $0 }?._archived.value }

  var isAsked: Bool { source != nil || Value._kind.type == .entity }

  func declaration(named name: String, _ choices: IntentChoices?) -> IntentDeclaration.Parameter {
    IntentDeclaration.Parameter(
      name: name, title: title?.resolved() ?? name, type: Value._kind.type, isOptional: Value._kind.isOptional,
      standard: choices?.standard ?? standard?._archived.value, options: choices?.options ?? [], isAsked: isAsked)
  }

  @concurrent func choices(_ words: String?) async -> IntentChoices {
    var found: [Value] = []
    do {
      if let source {
        found = try await source.options()
        if let words { found += try await source.matches(words) }
      } else {
        found = try await Value._choices() ?? []
        if let words { found += try await Value._matches(words) }
      }
    } catch {
      HostedProcess.current?.log("what there is to choose of \(title?.resolved() ?? "a parameter"): \(error)")
    }
    var options: [IntentDeclaration.Option] = []
    for choice in found {
      guard let value = choice._archived.value, !options.contains(where: { $0.value == value }) else { continue }
      options.append(IntentDeclaration.Option(value: value, title: choice._title))
    }
    return IntentChoices(options: options, standard: await standing()?._archived.value)
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
    if let source { return await source.unchosen() }
    return await Value._unchosen()
  }
}

/// Why an intent cannot be made of what travelled.
package struct IntentRefusal: Error, CustomStringConvertible {
  let reason: String
  package var description: String { reason }
}
