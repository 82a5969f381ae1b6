// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import SwiftUI
@testable import WidgetKit

/// The closures of a view that need a size are called again with the sizes of the host's layout.
@Suite(.timeLimit(.minutes(1))) struct `Closures with sizes` {
  private func sizes(_ sizes: [String: Double], _ form: ArchivedEntry.FormName = .shown) -> ClosureSizes {
    ClosureSizes(
      form: form, scheme: .light, sizes: sizes.mapValues { ClosureSizes.Size(width: $0, height: 40) })
  }

  private func lines(_ fixture: SDKFixture, _ number: Int, _ sizes: [ClosureSizes]) async throws -> [String] {
    let call = CallClosures(number: number, entries: [CallClosures.Entry(index: 0, closures: sizes)])
    let reply = try await fixture.host.connection.request(call, to: SDKFixture.widget)
    #expect(reply.closures == number)
    return try #require(reply.entries.first).view.lines
  }

  @Test(.rule("VIEW-05", "LAYOUT-13"))
  func `closures have the widget's size first, then the layout's, and inner closures that of the outer one`()
    async throws
  {
    let fixture = try await SDKFixture.serving { NestedReaders().descriptions }
    let reply = try await fixture.ask("Nested")
    let number = try #require(reply.closures)
    #expect(reply.entries.first?.view.lines == ["155", "outer 155", "inner 155"])
    #expect(try await lines(fixture, number, [sizes(["2": 70])]) == ["155", "outer 70", "inner 70"])
    // Earlier sizes stay valid.
    #expect(try await lines(fixture, number, [sizes(["2.1": 30])]) == ["155", "outer 70", "inner 30"])
    #expect(try await lines(fixture, number, [sizes(["1": 9])]) == ["9", "outer 70", "inner 30"])
  }

  @Test(.rule("LAYOUT-13", "LAYOUT-19"))
  func `a custom shape has its outline in the layout's size, and an alignment guide is calculated from it`()
    async throws
  {
    let fixture = try await SDKFixture.serving { ShapeAndGuide().descriptions }
    let reply = try await fixture.ask("ShapeAndGuide")
    let view = try #require(reply.entries.first?.view)
    var guide: [String: ArchivedValue] { view.modifiers.last { $0.name == "alignmentGuide" }?.arguments ?? [:] }
    #expect(guide == ["guide": "leading", "axis": "horizontal", "closure": "1"])
    #expect(view.arguments["path"] == .list([.list(["line", 155, 155])]))
    let call = CallClosures(
      number: try #require(reply.closures),
      entries: [CallClosures.Entry(index: 0, closures: [sizes(["1": 20, "2": 30])])])
    let next = try await fixture.host.connection.request(call, to: SDKFixture.widget)
    let again = try #require(next.entries.first?.view)
    #expect(again.modifiers.last { $0.name == "alignmentGuide" }?.arguments["value"] == 11)
    #expect(again.arguments["path"] == .list([.list(["line", 30, 40])]))
  }

  @Test(.rule("LAYOUT-13")) func `a form without its own sizes has those of the usual form`() async throws {
    let fixture = try await SDKFixture.serving { Schemed().descriptions }
    let reply = try await fixture.ask("Schemed")
    let call = CallClosures(
      number: try #require(reply.closures), entries: [CallClosures.Entry(index: 0, closures: [sizes(["1": 20])])])
    let next = try await fixture.host.connection.request(call, to: SDKFixture.widget)
    #expect(next.entries.first?.view.lines == ["light 20"])
    #expect(next.entries.first?.darkView?.lines == ["dark 20"])
    // A size of the dark form does not replace those of the usual form for other closures.
    var known = FormSizes()
    known.add([sizes(["1": 20, "2": 30])])
    known.add([ClosureSizes(form: .shown, scheme: .dark, sizes: ["2": ClosureSizes.Size(width: 9, height: 40)])])
    #expect(known[.shown, .dark].mapValues(\.width) == ["1": 20, "2": 9])
  }

  @Test(.rule("LAYOUT-13"))
  func `a view without closures is not kept, and the ninth timeline releases the first`() async throws {
    let fixture = try await SDKFixture.serving { NestedReaders().descriptions + Plain().descriptions }
    #expect(try await fixture.ask("Plain").closures == nil)
    let first = try #require(try await fixture.ask("Nested").closures)
    for _ in 1...7 { _ = try await fixture.ask("Nested") }
    #expect(try await lines(fixture, first, []) == ["155", "outer 155", "inner 155"])
    _ = try await fixture.ask("Nested")
    await #expect(throws: BusError.self) { _ = try await lines(fixture, first, []) }
  }
}

private struct NestedReaders: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Nested", provider: OneEntry()) { _ in
      HStack {
        GeometryReader { proxy in Text(verbatim: "\(Int(proxy.size.width))") }
        GeometryReader { outer in
          Text(verbatim: "outer \(Int(outer.size.width))")
          GeometryReader { inner in Text(verbatim: "inner \(Int(inner.size.width))") }
        }
      }
    }
  }
}

private struct Diagonal: Shape {
  func path(in rect: CGRect) -> SwiftUI.Path {
    var path = SwiftUI.Path()
    path.addLine(to: CGPoint(x: rect.maxX, y: rect.maxY))
    return path
  }
}

private struct ShapeAndGuide: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "ShapeAndGuide", provider: OneEntry()) { _ in
      Diagonal().alignmentGuide(.leading) { $0[HorizontalAlignment.center] + 1 }
    }
  }
}

private struct Schemed: Widget {
  private struct Content: View {
    @Environment(\.colorScheme) private var scheme
    var body: some View {
      GeometryReader { proxy in Text(verbatim: "\(scheme) \(Int(proxy.size.width))") }
    }
  }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Schemed", provider: OneEntry()) { _ in Content() }
  }
}

private struct Plain: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Plain", provider: OneEntry()) { _ in Text(verbatim: "plain") }
  }
}
