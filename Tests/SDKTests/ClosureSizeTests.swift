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

  private func lines(_ fixture: SDKFixture, number: Int, sizes: [ClosureSizes]) async throws -> [String] {
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
    #expect(try await lines(fixture, number: number, sizes: [sizes(["2": 70])]) == ["155", "outer 70", "inner 70"])
    // Earlier sizes stay valid.
    #expect(try await lines(fixture, number: number, sizes: [sizes(["2.1": 30])]) == ["155", "outer 70", "inner 30"])
    #expect(try await lines(fixture, number: number, sizes: [sizes(["1": 9])]) == ["9", "outer 70", "inner 30"])
  }

  @Test(.rule("LAYOUT-13", "LAYOUT-19"))
  func `a custom shape has its outline in the layout's size, and an alignment guide is calculated from it`()
    async throws
  {
    let fixture = try await SDKFixture.serving { ShapeAndGuide().descriptions }
    let reply = try await fixture.ask("ShapeAndGuide")
    let view = try #require(reply.entries.first?.view)
    var guide: ArchivedArguments { view.modifiers.last { $0.name == .layout(.alignmentGuide) }?.arguments ?? [:] }
    #expect(guide == [.guide: "leading", .axis: "horizontal", .closure: "1"])
    #expect(view.arguments[.path] == .list([.list(["line", 155, 155])]))
    let call = CallClosures(
      number: try #require(reply.closures),
      entries: [CallClosures.Entry(index: 0, closures: [sizes(["1": 20, "2": 30])])])
    let next = try await fixture.host.connection.request(call, to: SDKFixture.widget)
    let again = try #require(next.entries.first?.view)
    #expect(again.modifiers.last { $0.name == .layout(.alignmentGuide) }?.arguments[.value] == 11)
    #expect(again.arguments[.path] == .list([.list(["line", 30, 40])]))
  }

  @Test(.rule("LAYOUT-25"))
  func `the default place of a guide of the author is calculated for each view of a container, in its size`()
    async throws
  {
    let fixture = try await SDKFixture.serving { OwnGuides().descriptions }
    let reply = try await fixture.ask("OwnGuides")
    let stack = try #require(reply.entries.first?.view)
    #expect(stack.arguments[.alignment] == "(Third, Low)")
    // The guide that the first view sets, and then a default of each axis for both views.
    let guides = stack.children.map { $0.modifiers.filter { $0.name == .layout(.alignmentGuide) }.map(\.arguments) }
    #expect(guides.map(\.count) == [4, 2])
    let usual: [ArchivedArguments] = [
      [.guide: "Third", .axis: "horizontal", .isDefault: true, .closure: "5"],
      [.guide: "Low", .axis: "vertical", .isDefault: true, .closure: "6"],
    ]
    #expect(guides[1] == usual, "\(guides[1])")
    #expect(!stack.indented(ScreenAppearance(now: .now)).contains("isDefault"))
    let call = CallClosures(
      number: try #require(reply.closures),
      entries: [
        CallClosures.Entry(index: 0, closures: [sizes(["1": 30, "2": 30, "3": 30, "4": 30, "5": 90, "6": 30])])
      ])
    let next = try await fixture.host.connection.request(call, to: SDKFixture.widget)
    let values = try #require(next.entries.first?.view).children.map { view in
      view.modifiers.filter { $0.name == .layout(.alignmentGuide) }.map { $0.arguments[.value] }
    }
    // The outer of two guides sees the inner one: 8 + 1. The height is 40.
    #expect(values == [[8, 9, 10, 39], [30, 39]])
  }

  @Test(.rule("LAYOUT-25"))
  func `guides of the author with different types differ, also with the name of a system guide`() {
    #expect(HorizontalAlignment.third != .leading && HorizontalAlignment.third == HorizontalAlignment(Third.self))
    var dimensions = ViewDimensions(width: 30, height: 40)
    #expect(dimensions[.third] == 10 && dimensions[explicit: .third] == nil)
    dimensions.guides[HorizontalAlignment.third.key] = 3
    #expect(dimensions[.third] == 3 && dimensions[explicit: .third] == 3)
    #expect(Alignment(horizontal: .third, vertical: .top).name == "(Third, top)")
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
    #expect(try await lines(fixture, number: first, sizes: []) == ["155", "outer 155", "inner 155"])
    _ = try await fixture.ask("Nested")
    await #expect(throws: BusError.self) { _ = try await lines(fixture, number: first, sizes: []) }
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

private enum Third: AlignmentID {
  static func defaultValue(in context: ViewDimensions) -> CGFloat { context.width / 3 }
}

private enum Low: AlignmentID {
  static func defaultValue(in context: ViewDimensions) -> CGFloat { context[.bottom] - 1 }
}

extension HorizontalAlignment {
  fileprivate static let third = HorizontalAlignment(Third.self)
}

extension VerticalAlignment {
  fileprivate static let low = VerticalAlignment(Low.self)
}

private struct OwnGuides: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "OwnGuides", provider: OneEntry()) { _ in
      ZStack(alignment: Alignment(horizontal: .third, vertical: .low)) {
        Color.red
          .alignmentGuide(.third) { _ in 8 }
          .alignmentGuide(.leading) { $0[.third] + ($0[explicit: HorizontalAlignment.trailing] ?? 1) }
        Color.blue
      }
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
