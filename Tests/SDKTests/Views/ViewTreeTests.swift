// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import SwiftUI

@Suite @MainActor struct `View trees` {
  private struct Row: View {
    let title: String
    var body: some View {
      HStack(spacing: 4) {
        Text(verbatim: title)
        Spacer()
      }
    }
  }

  @Test(.rule("VIEW-01")) func `a view tree is archived with SwiftUI's names, arguments and modifiers`() throws {
    let view = VStack(alignment: .leading, spacing: 8) {
      Row(title: "a").padding(.horizontal, 4).background(Color.red)
      if Bool(true) { Divider() } else { Text("no") }
      Group {
        Text("b").bold()
        Text("c")
      }
      .opacity(0.5)
      ForEach(0..<2) { Text("\($0)") }
      if Bool(false) { Text("no") }
    }
    .frame(maxWidth: .infinity, alignment: .leading)
    #expect(
      try printed(view) == [
        "VStack(alignment: leading, spacing: 8) .frame(alignment: leading, maxWidth: inf)",
        "  HStack(spacing: 4) .padding(horizontal, 4) .background(red)",
        "    Text \"a\"",
        "    Spacer",
        "  Divider",
        "  Group .opacity(0.5)",
        "    Text \"b\" .bold",
        "    Text \"c\"",
        "  Text \"0\"",
        "  Text \"1\"",
        "  EmptyView",
      ])
  }

  private struct Colored: View {
    @Environment(\.colorScheme) private var scheme
    @Environment(\.proposedSize) private var size
    var body: some View { Text(verbatim: "\(scheme) \(Int(size.width))x\(Int(size.height))") }
  }

  private struct Dark: ViewModifier {
    @Environment(\.colorScheme) private var around
    func body(content: Content) -> some View {
      VStack {
        Text(verbatim: "around \(around)")
        content
      }
      .environment(\.colorScheme, .dark)
    }
  }

  @Test(.rule("VIEW-05")) func `padding makes the size that a view reads smaller by its insets`() throws {
    var environment = EnvironmentValues()
    environment.proposedSize = CGSize(width: 158, height: 158)
    let reader = GeometryReader { proxy in Text(verbatim: "\(proxy.size.width) x \(proxy.size.height)") }
    let margins = EdgeInsets(top: 16, leading: 11, bottom: 16, trailing: 11)
    #expect(try reader.padding(margins).archived(in: environment).lines == ["136.0 x 126.0"])
  }

  @Test(.rule("VIEW-04", "VIEW-05")) func `each body reads the environment that the views around it set`() throws {
    var environment = EnvironmentValues()
    environment.proposedSize = CGSize(width: 100, height: 50)
    let view = HStack {
      Colored()
      Colored().padding(10).modifier(Dark())
      Colored().frame(width: 20).overlay { Colored() }
      GeometryReader { proxy in Text(verbatim: "\(proxy.size.width)") }
    }
    #expect(
      try view.archived(in: environment).lines == [
        "light 100x50", "around light", "dark 80x30", "light 20x50", "light 100x50", "100.0",
      ])
  }

  private struct Deep: View {
    let depth: Int
    var body: some View { VStack { if depth > 0 { AnyView(Deep(depth: depth - 1)) } } }
  }

  private struct Endless: View {
    var body: some View { AnyView(Endless()) }
  }

  @Test(.rule("VIEW-02"))
  func `a view tree that is too deep or endless is refused with the name of the depth limit`() throws {
    #expect(try Deep(depth: 20).archived(in: EnvironmentValues()).name == .container(.vStack))
    for view in [AnyView(Deep(depth: 10_000)), AnyView(Endless())] {
      let refusal = #expect(throws: ArchiveRefusal.self) { try view.archived(in: EnvironmentValues()) }
      #expect(refusal?.limit == .depth)
      #expect(refusal?.description.contains("the limit `depth` of 256") == true)
    }
  }

  @Test(.rule("VIEW-02")) func `a chain of 400 modifiers does not reach the depth limit`() throws {
    var view = AnyView(Text("a"))
    for _ in 0..<200 { view = AnyView(view.padding(1).opacity(1)) }
    #expect(try view.archived(in: EnvironmentValues()).modifiers.count == 400)
  }

  @Test(.rule("VIEW-08"))
  func `a view that a widget cannot show is archived as unsupported and printed with a symbol`() throws {
    let view = VStack {
      ScrollView { Text("inside") }
      TextField("name", text: .constant("a"))
      ScrollView(.horizontal) { Text("inside") }
    }
    let archive = try view.archived(in: EnvironmentValues())
    #expect(archive.unsupportedViews == ["ScrollView", "TextField"])
    #expect(try printed(view)[1] == "  🚫 ScrollView: widgets cannot show it")
  }

  @Test(.rule("VIEW-07"))
  func `archiving a view never calls its action, gesture, task or change closures`() throws {
    let view = Button("a") { Issue.record("an action was called") }
      .onTapGesture { Issue.record("a view was touched") }
      .task { Issue.record("a task began") }
      .onChange(of: 1) { _, _ in Issue.record("a value changed") }
    var environment = EnvironmentValues()
    environment.appearing = AppearingViews()
    #expect(try view.archived(in: environment).name == .control(.button))
    #expect(try printed(view) == ["Button", "  Text \"a\""])
  }
}
