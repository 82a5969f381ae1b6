// SPDX-License-Identifier: Apache-2.0

// The expansions of SwiftData's macros. A property with `@Model` gets accessors that use the values of the model, and an
// empty stored property with an underscore, by which the compiler still requires that an initializer sets it.

/// The macros of SwiftData, by the role in which the compiler asks for an expansion.
package enum ModelExpansion {
  /// - Parameters:
  ///   - macro: the name of the macro's implementation, as in `#externalMacro`.
  ///   - role: the role, as the compiler names it.
  ///   - declaration: the source text of the declaration with the attribute.
  ///   - attribute: the source text of the attribute.
  ///   - type: the name of the extended type, with the types around it; only in the role `extension`.
  /// - Returns: `nil` for a macro or role that is not known.
  package static func expansion(
    of macro: String, role: String, declaration: String, attribute: String, type: String?
  ) -> Expansion? {
    switch (macro, role) {
    case ("ModelMacro", "member"): model(declaration)
    case ("ModelMacro", "memberAttribute"): memberAttribute(declaration)
    case ("ModelMacro", "extension"): conformance(type, to: "SwiftData.PersistentModel", declaration)
    case ("PersistedPropertyMacro", "accessor"): accessors(declaration)
    case ("PersistedPropertyMacro", "peer"): peer(declaration)
    case ("ModelActorMacro", "member"): modelActor(attribute)
    case ("ModelActorMacro", "extension"): conformance(type, to: "SwiftData.ModelActor", declaration)
    case ("MarkerMacro", _): Expansion("")
    default: nil
    }
  }

  /// A class that is not isolated has a conformance that is not, also where the main actor is the default.
  private static func conformance(_ type: String?, to name: String, _ declaration: String) -> Expansion {
    let isFree = TypeSource(declaration)?.modifiers.contains("nonisolated") == true
    return Expansion("\(isFree ? "nonisolated " : "")extension \((type ?? "").trimmed): \(name) {}")
  }

  // MARK: @Model

  static func memberAttribute(_ declaration: String) -> Expansion {
    // For several variables the role `member` has an error.
    guard let property = SourceProperty(declaration), property.isPersisted, property.names.count == 1 else {
      return Expansion("")
    }
    return Expansion("@SwiftData._PersistedProperty")
  }

  static func model(_ declaration: String) -> Expansion {
    guard let type = TypeSource(declaration), type.keyword == "class" else {
      return Expansion("", problem: "@Model requires the declaration of a class")
    }
    var (metadata, marks, constraints): ([String], [String], [String]) = ([], [], [])
    for member in type.members {
      switch member {
      case .property(let property) where property.isPersisted:
        guard property.names.count == 1, let name = property.names.first else {
          let names = property.names.joined(separator: ", ")
          return Expansion("", problem: "@Model requires one declaration for each of \(names)")
        }
        metadata.append(Self.metadata(property, name, of: type.name))
        marks.append("_\(name) = SwiftData._StoredElsewhere()")
      case .directive(let text):
        metadata.append(text)
        marks.append(text)
      case .macro("Unique", let arguments):
        constraints.append("constraints += [\(arguments)] as [[Swift.PartialKeyPath<\(type.name)>]]")
      case .property, .macro, .other: break
      }
    }
    let unique =
      constraints.isEmpty
      ? ""
      : """

      public static var _uniqueConstraints: [[Swift.AnyKeyPath]] {
        var constraints: [[Swift.PartialKeyPath<\(type.name)>]] = []
      \(lines(constraints))
        return constraints
      }
      """
    return Expansion(
      """
      @SwiftData.Transient private var _$values: SwiftData._ModelValues = SwiftData._ModelValues()
      public var _modelValues: SwiftData._ModelValues {
        get { _$values }
        set { _$values = newValue }
      }
      public static var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
        var properties: [SwiftData.Schema.PropertyMetadata] = []
      \(lines(metadata))
        return properties
      }\(unique)
      public required init(_modelValues: SwiftData._ModelValues) {
      \(lines(marks))
        _modelValues.takeDefaults(of: _$values)
        _$values = _modelValues
      }
      """)
  }

  private static func lines(_ lines: [String]) -> String {
    lines.map { $0.hasPrefix("#") ? $0 : "  " + $0 }.joined(separator: "\n")
  }

  private static func metadata(_ property: SourceProperty, _ name: String, of type: String) -> String {
    var metadata = ""
    if let attribute = property.attribute("Attribute") {
      metadata = ", metadata: SwiftData.Schema.Attribute(\(attribute.arguments ?? ""))"
    } else if let relationship = property.attribute("Relationship") {
      metadata = ", metadata: SwiftData.Schema.Relationship(\(relationship.arguments ?? ""))"
    }
    return "properties.append(SwiftData.Schema.PropertyMetadata(name: \"\(name)\", keypath: \\\(type).`\(name)`, "
      + "hasDefault: \(property.hasInitialValue || property.isOptional)\(metadata)))"
  }

  // MARK: Properties

  static func accessors(_ declaration: String) -> Expansion {
    guard let property = SourceProperty(declaration), let name = property.names.first else { return Expansion("") }
    let text = """
      @storageRestrictions(accesses: _$values, initializes: _\(name))
      init(initialValue) {
        _$values.start("\(name)", initialValue)
        _\(name) = SwiftData._StoredElsewhere()
      }
      get { _$values.read(self, \\.`\(name)`, "\(name)") }
      set { _$values.write(self, \\.`\(name)`, "\(name)", newValue) }
      """
    // The braces of the observers stay.
    return Expansion(property.hasObservers ? text : "{\n\(text)\n}")
  }

  static func peer(_ declaration: String) -> Expansion {
    guard let property = SourceProperty(declaration), let name = property.names.first else { return Expansion("") }
    return Expansion("@SwiftData.Transient private var _\(name): SwiftData._StoredElsewhere")
  }

  // MARK: @ModelActor

  static func modelActor(_ attribute: String) -> Expansion {
    let storedCode = """
      public nonisolated let modelExecutor: any SwiftData.ModelExecutor
      public nonisolated let modelContainer: SwiftData.ModelContainer
      """
    let tokens = Tokenizer.tokens(of: attribute)
    if tokens.contains(where: { $0.isWord("disableGenerateInit") }), tokens.contains(where: { $0.isWord("true") }) {
      return Expansion(storedCode)
    }
    return Expansion(
      storedCode + """

        public init(modelContainer: SwiftData.ModelContainer) {
          let modelContext = SwiftData.ModelContext(modelContainer)
          self.modelExecutor = SwiftData.DefaultSerialModelExecutor(modelContext: modelContext)
          self.modelContainer = modelContainer
        }
        """)
  }
}
