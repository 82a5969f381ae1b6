// SPDX-License-Identifier: Apache-2.0

/// An attribute of a declaration, such as `@Attribute(.unique)`.
struct SourceAttribute: Equatable {
  /// The name without its module.
  var name: String
  /// The text between its parentheses; `nil` without them.
  var arguments: String?
}

/// A property with one or more variables.
struct SourceProperty: Equatable {
  var attributes: [SourceAttribute] = []
  var modifiers: [String] = []
  var isConstant = false
  /// The names of its variables. Several are separated by commas: `var a = 1, b = 2`.
  var names: [String] = []
  /// Whether the last variable has `= …`.
  var hasInitialValue = false
  /// Whether the type of the last variable is written with `?` or `!` or as `Optional<…>`.
  var isOptional = false
  /// Whether it has `{ get … }`, `{ set … }` or a body without `get`.
  var isComputed = false
  /// Whether it has `willSet` or `didSet`.
  var hasObservers = false

  func attribute(_ name: String) -> SourceAttribute? { attributes.first { $0.name == name } }

  /// Whether SwiftData stores it: a stored variable of the instance.
  var isPersisted: Bool {
    !isConstant && !isComputed && attribute("Transient") == nil
      && modifiers.allSatisfy { !["static", "class", "lazy"].contains($0) }
      && names.allSatisfy { !$0.hasPrefix("_$") }
  }
}

/// What is between the braces of a type, as far as the macros need it.
enum SourceMember: Equatable {
  case property(SourceProperty)
  /// `#Name<…>(arguments)`
  case macro(name: String, arguments: String)
  /// The condition of a compilation, such as `#if DEBUG`.
  case directive(String)
  /// Everything else: functions, initializers, types.
  case other
}

/// The declaration of a class or an actor, as its source text.
struct TypeSource: Equatable {
  /// `class`, `actor`, `struct` or `enum`.
  var keyword: String
  var name: String
  var attributes: [SourceAttribute]
  var modifiers: [String]
  var members: [SourceMember]

  /// - Returns: `nil` when the text is not the declaration of a class, an actor or a structure with a body.
  init?(_ text: String) {
    var reader = MemberReader(text)
    (attributes, modifiers) = reader.readHead()
    guard let keyword = reader.next(), ["class", "actor", "struct", "enum"].contains(keyword.text),
      let name = reader.next(), name.kind == .word
    else { return nil }
    (self.keyword, self.name) = (String(keyword.text), name.name)
    guard reader.skipToBody() else { return nil }
    members = reader.readMembers()
  }
}

extension SourceProperty {
  /// The property that the text declares; `nil` for another declaration.
  init?(_ text: String) {
    var reader = MemberReader(text)
    guard case .property(let property)? = reader.readMember() else { return nil }
    self = property
  }
}
