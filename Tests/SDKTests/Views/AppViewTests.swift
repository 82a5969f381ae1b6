// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

@testable import SwiftUI

/// Modifiers for the screens of an app, in the forms in which authors write them.
@MainActor @Suite struct `Modifiers of an app in an archived view` {
  @Test func `a drag has a coordinate space in both forms, and changes nothing`() throws {
    #expect(DragGesture().minimumDistance == 10)
    #expect(DragGesture(minimumDistance: 50, coordinateSpace: .global).coordinateSpace == .global)
    #expect(DragGesture(coordinateSpace: .named("list")).coordinateSpace == .named("list"))
    let givenSpace: CoordinateSpace = .local
    #expect(DragGesture(coordinateSpace: givenSpace).coordinateSpace.isLocal)
    let view = Text(verbatim: "a").coordinateSpace(.named("list")).gesture(
      DragGesture(minimumDistance: 50, coordinateSpace: .global)
        .onChanged { _ = $0.predictedEndLocation.x + $0.predictedEndTranslation.width + $0.velocity.height }
        .onEnded { value in if value.translation.width > 0 { Issue.record("no gesture is recognised") } })
    #expect(try view.archived(in: EnvironmentValues()) == Text(verbatim: "a").archived(in: EnvironmentValues()))
  }

  @Test func `a frame has its origin in each space`() throws {
    let view = GeometryReader { proxy in
      let frames = [proxy.frame(in: .global), proxy.frame(in: .named("list")), proxy.frame(in: CoordinateSpace.local)]
      Text(verbatim: "\(frames.allSatisfy { $0.origin == .zero })")
    }
    #expect(try view.archived(in: EnvironmentValues()).lines == ["true"])
  }

  @Test func `an alert and a sheet are not presented`() throws {
    struct Chosen: Identifiable { let id = 1 }
    let view = Text(verbatim: "a")
      .alert(isPresented: .constant(true)) { Alert(title: Text("b"), dismissButton: .default(Text("c"))) }
      .alert(item: .constant(Chosen?.none)) { _ in
        Alert(title: Text("b"), primaryButton: .cancel(), secondaryButton: .destructive(Text("d")))
      }
      .alert("b", isPresented: .constant(true)) {
        Button("c") {}
      } message: {
        Text("d")
      }
      .sheet(isPresented: .constant(true)) { Text("b") }.sheet(item: .constant(Chosen?.none)) { _ in Text("b") }
      .task(id: 1) { Issue.record("an archived view has no tasks") }
    #expect(try view.archived(in: EnvironmentValues()) == Text(verbatim: "a").archived(in: EnvironmentValues()))
  }

  @Test func `an animatable modifier has its last data, and a transaction runs at once`() throws {
    struct Counting: AnimatableModifier {
      nonisolated var animatableData: Double
      func body(content: Content) -> some View { content.overlay(Text(verbatim: "\(animatableData)")) }
    }
    let view = Text(verbatim: "a").modifier(Counting(animatableData: 2))
    #expect("\(try view.archived(in: EnvironmentValues()))".contains("2.0"))
    #expect(withTransaction(Transaction(animation: nil)) { 7 } == 7)
  }

  @Test func `the size classes are those of a phone, unless the author sets others`() {
    var environment = EnvironmentValues()
    #expect(environment.horizontalSizeClass == .compact && environment.verticalSizeClass == .regular)
    environment.verticalSizeClass = .compact
    #expect(environment.verticalSizeClass == .compact)
  }

  @Test func `what refreshes a list is never called`() throws {
    let list = List { Text(verbatim: "a") }.refreshable { Issue.record("nothing is refreshed") }
    #expect(try list.archived(in: EnvironmentValues()).name == .leaf(.unsupportedView))
    let text = Text(verbatim: "a").refreshable { Issue.record("nothing is refreshed") }
    #expect(try text.archived(in: EnvironmentValues()).lines == ["a"])
  }

  @Test func `further controls of an app are not supported in a widget`() throws {
    let views: [any View] = [
      Slider(value: .constant(Float(1)), in: 0...2, onEditingChanged: { _ in }), Slider(value: .constant(0.5)),
      Slider(value: .constant(5.0), in: 0...10, step: 1), ControlGroup { Text(verbatim: "a") }.controlSize(.small),
      DisclosureGroup(isExpanded: .constant(true)) {
        Text(verbatim: "a")
      } label: {
        Text(verbatim: "b")
      },
      DisclosureGroup("b") { Text(verbatim: "a") }, ShareLink(item: "a") { Text(verbatim: "b") },
    ]
    for view in views {
      #expect(try !view.archived(in: EnvironmentValues()).unsupportedViews.isEmpty)
    }
  }

  @Test func `a task has the isolation of the view that starts it`() throws {
    struct Counted: View {
      @State private var count = 0
      var body: some View { Text(verbatim: "a").task { count += 1 } }
    }
    #expect(try Counted().archived(in: EnvironmentValues()).lines == ["a"])
  }
}
