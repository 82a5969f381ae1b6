// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MacroExpansion

@Suite struct `Members of a type` {
  private func properties(_ body: String) throws -> [SourceProperty] {
    let type = try #require(TypeSource("@Model final class A: B<[C]> {\n\(body)\n}"))
    return type.members.compactMap { if case .property(let property) = $0 { property } else { nil } }
  }

  private func persisted(_ body: String) throws -> [String] {
    try properties(body).filter(\.isPersisted).flatMap(\.names)
  }

  @Test func `the head of a type has its name, attributes and modifiers`() throws {
    let type = try #require(
      TypeSource("/// A {\n@available(iOS 17, *) @SwiftData.Model() public final class `Card`: Base, P where X == Y {}")
    )
    #expect(type.name == "Card")
    #expect(
      type.attributes == [
        SourceAttribute(name: "available", arguments: "iOS 17, *"), SourceAttribute(name: "Model", arguments: ""),
      ])
    #expect(type.modifiers == ["public", "final"])
    #expect(type.members.isEmpty)
    #expect(TypeSource("func f() {}") == nil)
    #expect(TypeSource("class A") == nil)
  }

  @Test func `stored variables are persisted`() throws {
    let body = "var a: Int\n  public private(set) var b = \"{\"; var c: [String: [Int]]? // }"
    #expect(try persisted(body) == ["a", "b", "c"])
    #expect(try persisted("@Attribute(.unique)\n\n  var a: String\n@Relationship var b: [B]") == ["a", "b"])
    #expect(try persisted("var `class`: Int = 1") == ["class"])
    #expect(try persisted("unowned var a: B\n weak var b: B?") == ["a", "b"])
  }

  @Test func `constants, computed, static, lazy and transient variables are not persisted`() throws {
    let body = """
      let a = 1
      static var b = 2
      class var c: Int { 3 }
      lazy var d: Int = { 4 }()
      @Transient var e = 5
      var f: Int { 6 }
      var g: Int {
        get { 7 }
        set { print("}") }
      }
      var h: Int { get async throws { 8 } }
      private var _$values: V = V()
      """
    #expect(try persisted(body) == [])
    #expect(try properties(body).count == 9)
  }

  @Test func `observers do not make a variable computed`() throws {
    let found = try properties(
      "var a: Int = 1 { didSet { f() } }\nvar b: Int { willSet(new) { g() } }\nvar c = f { $0 } { didSet {} }")
    #expect(found.map(\.isPersisted) == [true, true, true])
    #expect(found.map(\.hasObservers) == [true, true, true])
    #expect(found.map(\.hasInitialValue) == [true, false, true])
  }

  @Test func `an initial value may have closures, several lines and operators`() throws {
    let body = """
      var a: Int = {
        var inner = 1
        return inner
      }()
      var b = [1, 2]
        .map { $0 + 1 }
        .filter { $0 > 1 }
      var c = x < y
      var d: Bool = a == b
      var e: Dictionary<String, Int> = Dictionary<String, Int>()
      var f = if x { 1 } else { 2 }
      var g =
        5
      var h: (Int, String) -> Void = { a, b in }
      var i: [String] = ["a", "b"], j = 2
      var k = 3
      """
    #expect(try persisted(body) == ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"])
  }

  @Test func `a type is optional by its last sign`() throws {
    let body =
      "var a: Int?\nvar b: [Int?]\nvar c: [B]! = []\nvar d: Optional<Int>\nvar e: Dictionary<String, Int?>\nvar f: B.C?"
    #expect(try properties(body).map(\.isOptional) == [true, false, true, true, false, true])
  }

  @Test func `functions, initializers, types and subscripts are skipped with their bodies`() throws {
    let body = """
      init(a: Int = 1, b: () -> Void = { var x = 1 }) { var y = 2; self.a = y }
      convenience init?(_ a: Int) { self.init(a: a) }
      func f<T>(_ t: T) -> [T] where T: P { var z: Int = 1; return [] }
      static func == (a: A, b: A) -> Bool { true }
      subscript(i: Int) -> Int { var q = 1; return q }
      struct Inner { var w: Int }
      enum Kind: String, Codable { case a, b; var text: String { rawValue } }
      typealias ID = UUID
      deinit { var v = 1 }
      var last: Int
      """
    #expect(try persisted(body) == ["last"])
  }

  @Test func `attributes have their arguments as text`() throws {
    let property = try #require(
      SourceProperty("@Relationship(deleteRule: .cascade, inverse: \\B.a) @Attribute<Int> @objc var a: [B]? = nil"))
    #expect(property.attribute("Relationship")?.arguments == "deleteRule: .cascade, inverse: \\B.a")
    #expect(property.attribute("Attribute") == SourceAttribute(name: "Attribute"))
    #expect(property.attribute("objc") != nil)
  }

  @Test func `macros and conditions are members`() throws {
    let type = try #require(
      TypeSource("class A {\n#Unique<A>([\\.a, \\.b], [\\.c])\n#if X\nvar a: Int\n#else\nvar b: Int\n#endif\n}"))
    let others = type.members.filter { if case .property = $0 { false } else { true } }
    #expect(
      others == [
        .macro(name: "Unique", arguments: "[\\.a, \\.b], [\\.c]"), .directive("#if X"), .directive("#else"),
        .directive("#endif"),
      ])
  }

  @Test(arguments: [
    "{", "class A {", "class A { var", "class A { var a: ", "class A { @", "class A {#", "class A { ) }",
  ])
  func `an unfinished declaration ends the reading`(_ source: String) { _ = TypeSource(source) }
}
