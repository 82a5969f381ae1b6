// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import SwiftUI

@MainActor @Suite(.timeLimit(.minutes(1))) struct `Canvas in an archive` {
  private func archived(
    _ sizes: [String: CGSize] = [:], _ draw: @escaping (inout GraphicsContext, CGSize) -> Void
  ) throws -> ViewArchive {
    var environment = EnvironmentValues()
    environment.proposedSize = CGSize(width: 100, height: 50)
    environment.closures = ArchivedClosures(sizes: sizes)
    return try Canvas(renderer: draw).archived(in: environment)
  }

  private let square = SwiftUI.Path(CGRect(x: 0, y: 0, width: 10, height: 10))

  @Test(.rule("VIEW-16", "LAYOUT-13")) func `a canvas draws for the proposed size, and again for that of the layout`()
    throws
  {
    func line(_ context: inout GraphicsContext, _ size: CGSize) {
      context.stroke(SwiftUI.Path { $0.addLine(to: CGPoint(x: size.width, y: size.height)) }, with: .color(.red))
    }
    let guess = try archived { line(&$0, $1) }
    #expect(guess.arguments == [.closure: "1", .size: .record([.width: 100, .height: 50])])
    #expect(guess.children.first?.arguments[.path] == .list([.list(["line", 100, 50])]))
    let again = try archived(["1": CGSize(width: 30, height: 20)]) { line(&$0, $1) }
    #expect(again.arguments[.size] == .record([.width: 30, .height: 20]))
    #expect(again.children.first?.arguments[.path] == .list([.list(["line", 30, 20])]))
  }

  @Test(.rule("VIEW-16")) func `changes of the context apply to what is drawn afterwards, the last one first`() throws {
    let canvas = try archived { context, _ in
      context.fill(square, with: .color(.red))
      var copy = context
      copy.translateBy(x: 5, y: 6)
      copy.rotate(by: .degrees(90))
      copy.opacity = 0.5
      copy.blendMode = .multiply
      copy.fill(square, with: .color(.green), style: FillStyle(eoFill: true))
      context.clip(to: square)
      context.addFilter(.blur(radius: 3))
      context.scaleBy(x: 2, y: 3)
      context.stroke(square, with: .foreground, lineWidth: 4)
    }
    #expect(
      canvas.children.map { $0.modifiers.map(\.name.rawValue) } == [
        ["fill"], ["fill", "opacity", "rotationEffect", "offset", "blendMode"],
        ["stroke", "scaleEffect", "blur", "clipShape"],
      ])
    #expect(canvas.children[1].modifiers[0].arguments == [.style: "green", .eoFill: true])
    #expect(canvas.children[1].modifiers[2].arguments[.anchor] == "topLeading")
  }

  @Test(.rule("VIEW-16")) func `a loop of turns needs one modifier`() throws {
    let canvas = try archived { context, _ in
      for _ in 0..<300 {
        context.rotate(by: .degrees(1))
        context.fill(square, with: .color(.red))
      }
    }
    #expect(canvas.children.last?.modifiers.map(\.name.rawValue) == ["fill", "rotationEffect"])
    #expect(canvas.children.last?.modifiers.last?.arguments[.degrees]?.number?.rounded() == 300)
  }

  @Test(.rule("VIEW-16")) func `texts and images have a place, and layers contain what is drawn in them`() throws {
    let canvas = try archived { context, _ in
      context.draw(Text(verbatim: "a"), at: CGPoint(x: 3, y: 4), anchor: .topTrailing)
      context.draw(context.resolve(Text(verbatim: "b").bold()), in: CGRect(x: 1, y: 2, width: 30, height: 40))
      context.opacity = 0.25
      context.drawLayer { layer in
        layer.fill(square, with: .color(.red))
        layer.draw(Image(systemName: "star"), in: CGRect(x: 0, y: 0, width: 8, height: 8))
      }
    }
    #expect(canvas.lines == ["a", "b"])
    #expect(canvas.children[0].arguments == [.x: 3, .y: 4, .anchorX: 1, .anchorY: 0])
    #expect(
      canvas.children[1].arguments == [.x: 1, .y: 2, .anchorX: 0, .anchorY: 0, .width: 30, .height: 40])
    #expect(canvas.children[2].name == .container(.zStack))
    #expect(canvas.children[2].children.map(\.name.rawValue) == ["Shape", "CanvasItem"])
    #expect(canvas.children[2].modifiers.map(\.name.rawValue) == ["compositingGroup", "opacity"])
  }

  @Test(.rule("VIEW-16")) func `the points of a gradient are those of the canvas`() throws {
    let gradient = Gradient(colors: [.red, .blue])
    let canvas = try archived { context, size in
      context.fill(
        square,
        with: .linearGradient(gradient, startPoint: .zero, endPoint: CGPoint(x: size.width, y: size.height / 2)))
      context.fill(
        square, with: .radialGradient(gradient, center: CGPoint(x: 50, y: 25), startRadius: 1, endRadius: 9))
      context.fill(square, with: .conicGradient(gradient, center: CGPoint(x: 0, y: 50)))
    }
    let styles = canvas.children.compactMap { $0.modifiers.first?.arguments[.style] }
    func part(_ index: Int, _ label: ArgumentLabel) -> ArchivedValue? {
      guard case .record(let parts) = styles[index] else { return nil }
      return parts[label]
    }
    #expect(part(0, .from) == "topLeading" && part(0, .to) == "trailing")
    #expect(part(1, .center) == "center" && part(1, .to) == 9)
    #expect(part(2, .center) == "bottomLeading")
  }
}
