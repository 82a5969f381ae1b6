// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation
// The modules that `import SwiftData` makes visible to an author's file.
@_exported public import Observation
@_exported public import URLSessionAPI

// The macros of SwiftData. Their expansions are our own; Apple's have other members.

/// Makes a class a model: its stored variables are stored in a `ModelContainer`. Source: `SwiftData.Model()`.
@attached(
  member, conformances: PersistentModel,
  names: named(_$values), named(_modelValues), named(schemaMetadata), named(init), named(_uniqueConstraints))
@attached(memberAttribute)
@attached(extension, conformances: PersistentModel)
public macro Model() = #externalMacro(module: "AuthorMacros", type: "ModelMacro")

/// Gives a property the accessors of a model. `Model()` adds it to each property.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _PersistedProperty() = #externalMacro(module: "AuthorMacros", type: "PersistedPropertyMacro")

/// Source: `SwiftData.Attribute(_:originalName:hashModifier:)`.
@attached(peer)
public macro Attribute(
  _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "AuthorMacros", type: "MarkerMacro")

/// Source: `SwiftData.Relationship(_:deleteRule:minimumModelCount:maximumModelCount:originalName:inverse:hashModifier:)`.
@attached(peer)
public macro Relationship(
  _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
  minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
  hashModifier: String? = nil
) = #externalMacro(module: "AuthorMacros", type: "MarkerMacro")

/// The property is not stored. Source: `SwiftData.Transient()`.
@attached(peer)
public macro Transient() = #externalMacro(module: "AuthorMacros", type: "MarkerMacro")

/// In a model: no two models have equal values of these properties. Source: `SwiftData.Unique(_:)`.
@freestanding(declaration)
public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...) =
  #externalMacro(module: "AuthorMacros", type: "MarkerMacro")

/// Has no effect: all models of a type are read. Source: `SwiftData.Index(_:)`.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
  #externalMacro(module: "AuthorMacros", type: "MarkerMacro")

/// Gives an actor its own context. Source: `SwiftData.ModelActor(disableGenerateInit:)`.
@attached(
  member, conformances: ModelActor, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor(disableGenerateInit: Bool = false) =
  #externalMacro(module: "AuthorMacros", type: "ModelActorMacro")
