// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MacroExpansion

@Suite struct `Expansions of SwiftData's macros` {
  private func expand(
    _ macro: String, role: String, declaration: String, attribute: String = "", type: String? = nil
  ) -> Expansion? {
    ModelExpansion.expansion(of: macro, role: role, declaration: declaration, attribute: attribute, type: type)
  }

  @Test func `a model has the metadata of each stored property`() throws {
    let source = try #require(
      expand(
        "ModelMacro", role: "member",
        declaration: "@Model class A {\n@Attribute(.unique) var a: String\nvar b: Int?\n"
          + "@Relationship(deleteRule: .cascade) var c: [B] = []\n}")
    ).source
    #expect(
      source.contains(
        "(name: \"a\", keypath: \\A.`a`, hasDefault: false, metadata: SwiftData.Schema.Attribute(.unique))"))
    #expect(source.contains("(name: \"b\", keypath: \\A.`b`, hasDefault: true))"))
    #expect(
      source.contains(
        "(name: \"c\", keypath: \\A.`c`, hasDefault: true, metadata: "
          + "SwiftData.Schema.Relationship(deleteRule: .cascade))"))
    #expect(!source.contains("_uniqueConstraints"))
    for name in ["a", "b", "c"] { #expect(source.contains("_\(name) = SwiftData._StoredElsewhere()")) }
  }

  @Test func `a model keeps the conditions of its properties, and its unique sets`() throws {
    let source = try #require(
      expand(
        "ModelMacro", role: "member", declaration: "class A {\n#Unique<A>([\\.a])\n#if DEBUG\nvar a: Int\n#endif\n}")
    ).source
    #expect(source.components(separatedBy: "\n#if DEBUG\n").count == 3)
    #expect(source.contains("constraints += [[\\.a]] as [[Swift.PartialKeyPath<A>]]"))
  }

  @Test func `several variables in a declaration are an error with their names`() {
    let expansion = expand("ModelMacro", role: "member", declaration: "class A { var a = 1, b: Int }")
    #expect(expansion?.problem == "@Model requires one declaration for each of a, b")
    #expect(expand("ModelMacro", role: "memberAttribute", declaration: "var a = 1, b: Int")?.source == "")
    for other in ["func f() {}", "struct A { var a: Int }"] {
      #expect(
        expand("ModelMacro", role: "member", declaration: other)?.problem
          == "@Model requires the declaration of a class")
    }
  }

  @Test func `only stored variables get accessors`() {
    func attribute(_ member: String) -> String? {
      expand("ModelMacro", role: "memberAttribute", declaration: member)?.source
    }
    #expect(attribute("var a: Int") == "@SwiftData._PersistedProperty")
    #expect(attribute("@Transient var a = 1") == "")
    #expect(attribute("func f() { var a = 1 }") == "")
    #expect(attribute("let a = 1") == "")
    // Stored, as its initializer sets it. Swift 6 has an error for it, as with Apple's macro.
    #expect(attribute("let a: UUID") == "@SwiftData._PersistedProperty")
  }

  @Test func `accessors are in braces, except beside observers`() throws {
    let plain = try #require(expand("PersistedPropertyMacro", role: "accessor", declaration: "var `class`: Int = 1"))
      .source
    #expect(plain.hasPrefix("{") && plain.hasSuffix("}"))
    #expect(plain.contains("initializes: _class") && plain.contains("read(self, \\.`class`, \"class\")"))
    let observed = try #require(
      expand("PersistedPropertyMacro", role: "accessor", declaration: "var a = 1 { didSet {} }")
    ).source
    #expect(observed.hasPrefix("@storageRestrictions"))
    #expect(
      expand("PersistedPropertyMacro", role: "peer", declaration: "public var a: Int")?.source
        == "@SwiftData.Transient private var _a: SwiftData._StoredElsewhere")
  }

  @Test func `an extension names the type with the types around it`() {
    #expect(
      expand("ModelMacro", role: "extension", declaration: "class A {}", type: " V1.A ")?.source
        == "extension V1.A: SwiftData.PersistentModel {}")
    #expect(
      expand("ModelMacro", role: "extension", declaration: "@Model nonisolated final class A {}", type: "A")?.source
        == "nonisolated extension A: SwiftData.PersistentModel {}")
    #expect(
      expand("ModelActorMacro", role: "extension", declaration: "actor A {}", type: "A")?.source
        == "extension A: SwiftData.ModelActor {}")
  }

  @Test func `a model actor has an initializer unless it is disabled`() {
    let with = expand("ModelActorMacro", role: "member", declaration: "actor A {}", attribute: "@ModelActor")
    #expect(with?.source.contains("init(modelContainer:") == true)
    let without = expand(
      "ModelActorMacro", role: "member", declaration: "actor A {}", attribute: "@ModelActor(disableGenerateInit: true)")
    #expect(without?.source.contains("init(") == false)
    #expect(without?.source.contains("modelExecutor") == true)
  }

  @Test func `a macro or role that is not known has no expansion`() {
    #expect(expand("ModelMacro", role: "accessor", declaration: "") == nil)
    #expect(expand("Other", role: "member", declaration: "") == nil)
    #expect(expand("MarkerMacro", role: "peer", declaration: "")?.source == "")
  }

  @Test func `an error of the author's code becomes a diagnostic at the attribute`() throws {
    let plugin = CompilerPlugin(name: "P", known: "P") { _, _ in Expansion("", problem: "no") }
    let reply = try plugin.reply(
      to: Data(#"{"m":{"attributeSyntax":{"source":"@A","location":{"fileName":"f.swift","offset":7}}}}"#.utf8))
    let result = try #require(reply["expandMacroResult"] as? [String: Any])
    let diagnostic = try #require((result["diagnostics"] as? [[String: Any]])?.first)
    #expect(diagnostic["message"] as? String == "no")
    let position = try #require(diagnostic["position"] as? [String: Any])
    #expect(position["fileName"] as? String == "f.swift" && position["offset"] as? Int == 7)
  }
}
