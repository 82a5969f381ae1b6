// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import AuthorRuntime
@testable import SwiftUI
@testable import URLSessionAPI
@testable import WidgetKit

/// The case c10: a chart that becomes visible when it appears.
private struct Pop: View {
  @State private var show = false
  var body: some View {
    Circle().scaleEffect(show ? 1 : 0).animation(.spring().delay(0.04), value: show).onAppear { show = true }
  }
}

private struct Counter: View {
  let onAppear: () -> Void
  @State private var count = 0
  var body: some View {
    VStack {
      Text("\(count)").onAppear {
        count += 1
        onAppear()
      }
      GeometryReader { _ in Pop() }
      Pop().modifier(Shown())
    }
  }
}

/// A modifier with a state of its content.
private struct Shown: ViewModifier {
  @State private var isShown = false
  func body(content: Content) -> some View { content.opacity(isShown ? 0.5 : 0).onAppear { isShown = true } }
}

/// Each level has an action, so that each evaluates those within it again.
private struct Nested: View {
  let depth: Int
  let onAppear: () -> Void
  var body: some View {
    VStack { if depth > 0 { AnyView(Nested(depth: depth - 1, onAppear: onAppear)) } }.onAppear(perform: onAppear)
  }
}

private struct Loads: View {
  let session: URLSession
  let url: URL
  var body: some View {
    Text("loading").onAppear { session.dataTask(with: url).resume() }.task {}
  }
}

/// Draws another image when it appears.
private struct Swaps: View {
  let before: UIImage
  let after: UIImage
  @State private var hasAppeared = false
  var body: some View { Image(uiImage: hasAppeared ? after : before).onAppear { hasAppeared = true } }
}

@MainActor @Suite(.timeLimit(.minutes(1))) struct `Views that appear` {
  private var environment: EnvironmentValues {
    var environment = EnvironmentValues()
    environment.appearing = AppearingViews()
    environment.closures = ArchivedClosures()
    return environment
  }

  private func values(_ name: ModifierName, _ label: ArgumentLabel, in view: ViewArchive) -> [ArchivedValue?] {
    view.modifiers.filter { $0.name == name }.map { $0.arguments[label] }
      + view.children.flatMap { values(name, label, in: $0) }
  }

  @Test(.rule("VIEW-18")) func `the state that onAppear changes is drawn`() throws {
    let drawn = try Pop().archived(in: environment)
    let usual = try Pop().archived(in: EnvironmentValues())
    #expect(values(.effect(.scaleEffect), .scale, in: usual) == [0])
    #expect(values(.effect(.scaleEffect), .scale, in: drawn) == [1])
    #expect(values(.silent(.animation), .value, in: drawn) == ["true"])
    #expect(values(.silent(.animation), .value, in: usual) == ["false"])
  }

  @Test(.rule("VIEW-18"))
  func `an action is called once, and views and modifiers within keep what theirs have changed`() throws {
    var calls = 0
    let drawn = try Counter { calls += 1 }.archived(in: environment)
    #expect(calls == 1)
    #expect(drawn.lines.contains("1"))
    #expect(values(.silent(.animation), .value, in: drawn) == ["true", "true"])
    #expect(values(.effect(.opacity), .opacity, in: drawn) == [0.5])
    // The closure has the number of the first evaluation.
    let readers = drawn.children.filter { $0.name == .container(.geometryReader) }
    #expect(readers.map { $0.arguments[.closure] } == ["1"])
  }

  @Test(.rule("VIEW-18")) func `an image that is replaced by an action is not among those of the timeline`() throws {
    func image(_ text: String) throws -> (UIImage, Data) {
      let data = try #require(Data(base64Encoded: text))
      return (try #require(UIImage(data: data)), data)
    }
    let wide = "iVBORw0KGgoAAAANSUhEUgAAABQAAAAKAQAAAACcLkNLAAAADElEQVR42mNgIA4AAAAoAAELqaEoAAAAAElFTkSuQmCC"
    let small = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAAC0lEQVR42mNgQAUAABAAAaoZ+IIAAAAASUVORK5CYII="
    let (before, after) = (try image(wide), try image(small))
    var environment = environment
    let images = ArchivedImages()
    environment.images = images
    let drawn = try Swaps(before: before.0, after: after.0).archived(in: environment)
    #expect(drawn.arguments[.pixelWidth] == 8)
    #expect(Array(images.bytes.values) == [after.1] && images.total == after.1.count)
  }

  @Test(.rule("VIEW-18")) func `nested actions evaluate bodies a limited number of times`() throws {
    var calls = 0
    _ = try Nested(depth: 12) { calls += 1 }.archived(in: environment)
    // Thirteen bodies, and those within each of the outermost 6, which are evaluated again.
    #expect(calls == 13 + 12 + 11 + 10 + 9 + 8 + 7)
  }

  @Test(.rule("VIEW-18")) func `each cell of a large grid is evaluated again`() throws {
    let drawn = try VStack { ForEach(0..<140) { _ in Pop() } }.archived(in: environment)
    #expect(values(.effect(.scaleEffect), .scale, in: drawn) == Array(repeating: 1, count: 140))
  }

  @Test(.rule("VIEW-18")) func `the label of a toggle appears once`() throws {
    var calls = 0
    let drawn = try Toggle(isOn: .constant(true)) { Counter { calls += 1 } }.archived(in: environment)
    #expect(calls == 1)
    #expect(drawn.children.map { $0.lines.contains("1") } == [true, true])
  }

  @Test(.rule("VIEW-18")) func `a view that loads when it appears is reported`() async throws {
    let fixture = try SDKFixture()
    let performer = fixture.perform()
    let session = fixture.inline()
    let url = try #require(URL(string: "http://a.example/figures"))
    try await fixture.begin()
    for _ in 1...2 {
      _ = try fixture.process.asCurrent { try Loads(session: session, url: url).archived(in: environment) }
    }
    fixture.process.asCurrent { session.dataTask(with: url).resume() }
    await fixture.waitFor(FaultNoticed.self) { $0.subject == "task" }
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .loaderInView }
    #expect(reported.map(\.subject).sorted() == ["onAppear", "task"])
    withExtendedLifetime(performer) {}
  }
}
