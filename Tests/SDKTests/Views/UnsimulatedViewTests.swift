// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import FidelityRules
import Foundation
import Messages
import Testing

@testable import SwiftUI

/// What views of an author use and an archive does not have.
@Suite(.timeLimit(.minutes(1))) struct `Unsimulated views` {
  private struct Width: PreferenceKey {
    static var defaultValue: Double { 0 }
    static func reduce(value: inout Double, nextValue: () -> Double) { value = nextValue() }
  }

  /// The declarations that are reported when a view is made twice.
  private func reported(_ make: @MainActor () -> any View) async throws -> [String] {
    let fixture = try SDKFixture()
    try await fixture.begin()
    await MainActor.run { for _ in 1...2 { fixture.process.asCurrent { _ = make() } } }
    return await fixture.sent(FaultNoticed.self).map(\.subject).sorted()
  }

  @Test(.rule("DIAGNOSIS-11", "VIEW-11")) func `attributes of a text are reported, and characters are not`()
    async throws
  {
    #expect(try await reported { Text(AttributedString("plain")) }.isEmpty)
    var attributes = AttributeContainer()
    attributes.link = URL(string: "https://a.example")
    let words = AttributedString("linked", attributes: attributes)
    #expect(try await reported { Text(words) } == ["AttributedString"])
  }

  @Test(.rule("DIAGNOSIS-11", "VIEW-11")) func `preferences and coordinate spaces are reported`() async throws {
    #expect(
      try await reported { Text("a").preference(key: Width.self, value: 1).onPreferenceChange(Width.self) { _ in } }
        == ["onPreferenceChange", "preference"])
    #expect(try await reported { Text("a").coordinateSpace(name: "space") } == ["coordinateSpace"])
    #expect(try await reported { Text("a").coordinateSpace(.named("space")) } == ["coordinateSpace"])
  }
}
