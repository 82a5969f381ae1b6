// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

@testable import SwiftUI

@Suite @MainActor struct `Liquid Glass` {
  private let text = Text(verbatim: "a")

  @Test func `glass is a material in its shape, below its tint`() throws {
    let view = VStack {
      text.padding(4).glassEffect()
      text.glassEffect(.clear.interactive(), in: .rect(cornerRadius: 8))
      text.glassEffect(.regular.tint(.red), in: Circle())
      text.glassEffect(.regular.tint(.red).tint(nil), in: .circle)
    }
    #expect(
      try printed(view).dropFirst() == [
        "  Text \"a\" .padding(4) .background(regularMaterial, Capsule)",
        "  Text \"a\" .background(ultraThinMaterial, RoundedRectangle(cornerRadius: 8))",
        "  Text \"a\" .background(red 50 %, Circle) .background(regularMaterial, Circle)",
        "  Text \"a\" .background(regularMaterial, Circle)",
      ])
  }

  @Test func `the identity draws nothing, and a container has only its content`() throws {
    let view = VStack {
      GlassEffectContainer(spacing: 20) {
        text.glassEffect(.identity.tint(.red))
        text.bold()
      }
    }
    #expect(try printed(view) == ["VStack", "  Text \"a\"", "  Text \"a\" .bold"])
  }

  @Test func `glass is compared by its kind, tint and interactivity`() {
    #expect(Glass.regular != .clear && Glass.regular.tint(.red) != .regular)
    #expect(Glass.regular.interactive() != .regular && Glass.regular.interactive().interactive(false) == .regular)
  }
}
