// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

@testable import SwiftUI

@MainActor @Suite struct `Effects of symbols` {
  private func archive(_ view: some View) throws -> ViewArchive { try view.archived(in: EnvironmentValues()) }

  private func names(_ view: some View) throws -> [String] { try archive(view).modifiers.map(\.name.rawValue) }

  @Test func `an effect is archived with its options, and shows the symbol at rest`() throws {
    let bell = Image(systemName: "bell")
    let bounced = try archive(bell.symbolEffect(.bounce.down.byLayer, options: .nonRepeating))
    let effect = try #require(bounced.modifiers.first { $0.name == .silent(.symbolEffect) })
    #expect(effect.arguments[.name] == "bounce down byLayer")
    let rotated = try archive(bell.symbolEffect(.rotate, options: .speed(2).repeat(.continuous), value: 3))
    #expect(rotated.modifiers.map(\.name) == [.silent(.symbolEffect)])
    #expect(rotated.modifiers.first?.arguments[.value] == "3")
    #expect(try names(bell.symbolEffect(.wiggle.custom(angle: .degrees(3)), isActive: false)).first == "symbolEffect")
  }

  @Test(arguments: [(true, 0.0), (false, 1)])
  func `a symbol that disappears is not drawn`(isActive: Bool, opacity: Double) throws {
    let archive = try archive(Image(systemName: "bell").symbolEffect(.disappear.up, isActive: isActive))
    let drawn = archive.modifiers.first { $0.name == .effect(.opacity) }
    #expect(drawn?.arguments[.opacity] == .number(opacity))
  }

  @Test func `effects are transitions of views and of their contents`() throws {
    let view = Image(systemName: "bell").contentTransition(.symbolEffect(.replace.downUp))
      .transition(.symbolEffect(.appear)).contentTransition(.symbolEffect)
    let transitions = try archive(view).modifiers.compactMap { $0.arguments[.transition] }
    #expect(
      transitions == ["symbolEffect replace downUp", "symbolEffect appear", "symbolEffect automatic"])
  }
}
