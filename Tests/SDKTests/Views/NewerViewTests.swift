// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

@testable import AppIntents
@testable import SwiftUI

private struct Press: AppIntent {
  static let title: LocalizedStringResource = "Press"
  func perform() async throws -> some IntentResult { .result() }
}

/// Views of newer systems, which are drawn as the nearest older ones.
@MainActor @Suite struct `Views of newer systems` {
  private func archive(_ view: some View) throws -> ViewArchive { try view.archived(in: EnvironmentValues()) }

  @Test func `buttons of glass are archived like bordered ones`() throws {
    let button = Button("Press", intent: Press())
    #expect(try archive(button.buttonStyle(.glass)) == archive(button.buttonStyle(.bordered)))
    #expect(try archive(button.buttonStyle(.glassProminent)) == archive(button.buttonStyle(.borderedProminent)))
  }

  @Test func `a concentric rectangle is the shape of the container`() throws {
    #expect(try archive(ConcentricRectangle().fill(.red)) == archive(ContainerRelativeShape().fill(.red)))
    let clipped = Text("x").clipShape(.rect(corners: .concentric))
    #expect(try archive(clipped) == archive(Text("x").clipShape(.containerRelative)))
    #expect(try archive(ConcentricRectangle().inset(by: 2)) == archive(ContainerRelativeShape().inset(by: 2)))
  }

  @Test func `a mesh gradient is a linear one of its middle column`() throws {
    let mesh = MeshGradient(
      width: 2, height: 2, points: [[0, 0], [1, 0], [0, 1], [1, 1]], colors: [.red, .blue, .green, .yellow])
    let stops = [Gradient.Stop(color: .blue, location: 0), Gradient.Stop(color: .yellow, location: 1)]
    #expect(try archive(mesh) == archive(LinearGradient(stops: stops, startPoint: .top, endPoint: .bottom)))
    _ = MeshGradient(width: 3, height: 3, points: [], colors: [])
  }

  @Test func `visual effects are the modifiers of the same names, with the space that is offered`() throws {
    var environment = EnvironmentValues()
    environment.proposedSize = CGSize(width: 100, height: 50)
    let view = Text("x").visualEffect { content, proxy in
      content.offset(x: proxy.size.width / 4).opacity(0.5).rotationEffect(.degrees(9)).grayscale(1)
    }
    let same = Text("x").offset(x: 25).opacity(0.5).rotationEffect(.degrees(9)).grayscale(1)
    #expect(try view.archived(in: environment) == same.archived(in: environment))
  }

  @Test func `a frame relative to the container has parts of the space that is offered`() throws {
    func frame(_ view: some View) throws -> ViewArchive.Modifier {
      var environment = EnvironmentValues()
      environment.proposedSize = CGSize(width: 100, height: 50)
      return try #require(try view.archived(in: environment).modifiers.first { $0.name == .layout(.frame) })
    }
    let whole = try frame(Text("x").containerRelativeFrame([.horizontal, .vertical]))
    #expect(whole.arguments[.width] == 100 && whole.arguments[.height] == 50)
    let part = try frame(Text("x").containerRelativeFrame(.horizontal, count: 4, span: 2, spacing: 4))
    #expect(part.arguments[.width] == 48 && part.arguments[.height] == nil)
    let half = try frame(Text("x").containerRelativeFrame(.vertical) { length, _ in length / 2 })
    #expect(half.arguments[.height] == 25)
  }
}
