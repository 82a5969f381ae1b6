// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Observation
import OpenCombine
import Testing

@testable import SwiftUI
@testable import UIKit

/// The views of an app that comes to the foreground: which bodies are evaluated, and which actions run.
@Suite(.timeLimit(.minutes(1))) @MainActor struct `Views of an app` {
  /// What the views of a test do, in order.
  @MainActor fileprivate final class Log {
    private(set) var lines: [String] = []
    private let (added, addition) = AsyncStream.makeStream(of: String.self)

    func add(_ line: String) {
      lines.append(line)
      addition.yield(line)
    }

    /// Waits for a line.
    func waitFor(_ line: String) async {
      for await next in added where next == line { return }
    }
  }

  private struct Shown<Content: View>: App {
    let content: () -> Content
    init(@ViewBuilder _ content: @escaping () -> Content) { self.content = content }
    init() { fatalError("made by a test") }
    var body: some Scene { WindowGroup { content() } }
  }

  private struct Counter: View {
    let log: Log
    @State private var count = 0

    var body: some View {
      let _ = log.add("body \(count)")
      Text(verbatim: "\(count)")
        .onAppear {
          log.add("appear")
          count += 1
        }
        .onChange(of: count) { old, new in log.add("change \(old) \(new)") }
    }
  }

  @Test(.rule("VIEW-19")) func `a view appears once, and a change of its state evaluates it again`() async {
    let log = Log()
    let views = LiveViews(Shown { Counter(log: log) })
    views.enters(.background)
    #expect(log.lines.isEmpty)
    views.enters(.inactive)
    #expect(log.lines == ["body 0", "appear"])
    await log.waitFor("change 0 1")
    #expect(log.lines == ["body 0", "appear", "body 1", "change 0 1"])
  }

  private struct Stored: View {
    let log: Log
    let store: UserDefaults
    @AppStorage private var day: Int

    init(log: Log, store: UserDefaults) {
      (self.log, self.store) = (log, store)
      _day = AppStorage(wrappedValue: 1, "day", store: store)
    }

    var body: some View {
      let _ = log.add("day \(day)")
      Text(verbatim: "\(day)").onAppear { store.set(2, forKey: "day") }
    }
  }

  @Test(.rule("VIEW-19")) func `a change of the user defaults evaluates the views that read them`() async throws {
    let (log, suite) = (Log(), "LiveViewTests.\(UUID().uuidString)")
    let store = try #require(UserDefaults(suiteName: suite))
    let views = LiveViews(Shown { Stored(log: log, store: store) })
    views.enters(.active)
    await log.waitFor("day 2")
    #expect(log.lines == ["day 1", "day 2"])
    store.set(3, forKey: "night")
    // No view reads it. The test needs this time: nothing may happen in it.
    try await Task.sleep(for: .milliseconds(50))
    #expect(log.lines == ["day 1", "day 2"])
    store.set(5, forKey: "day")
    await log.waitFor("day 5")
    store.removePersistentDomain(forName: suite)
    withExtendedLifetime(views) {}
  }

  private struct Switching: View {
    let log: Log
    @State private var round = 0

    var body: some View {
      VStack {
        Counter(log: log)
        if round == 0 {
          Text(verbatim: "a")
            .task {
              log.add("task")
              round = 1
              // Until it is cancelled.
              try? await Task.sleep(for: .seconds(60))
              log.add("cancelled \(Task.isCancelled)")
            }
            .onDisappear { log.add("disappear") }
        }
        Text(verbatim: "b").task(id: round) { [round] in log.add("task of \(round)") }
      }
    }
  }

  @Test(.rule("VIEW-19")) func `a task is cancelled when its view disappears, and restarted when its id changes`()
    async
  {
    let log = Log()
    let views = LiveViews(Shown { Switching(log: log) })
    views.enters(.active)
    await log.waitFor("cancelled true")
    if !log.lines.contains("task of 1") { await log.waitFor("task of 1") }
    #expect(log.lines.filter { $0.hasPrefix("task") } == ["task", "task of 0", "task of 1"])
    #expect(log.lines.filter { $0 == "disappear" }.count == 1)
    // The state of a view beside it stays.
    #expect(log.lines.filter { $0 == "appear" }.count == 1)
    #expect(!log.lines.contains("change 1 2"))
    withExtendedLifetime(views) {}
  }

  private struct PhasedApp: App {
    let log: Log
    @Environment(\.scenePhase) private var phase
    init(log: Log) { self.log = log }
    init() { fatalError("made by a test") }
    var body: some Scene {
      WindowGroup { PhasedView(log: log) }
        .onChange(of: phase) { log.add("scene \(phase)") }
    }
  }

  private struct PhasedView: View {
    let log: Log
    @Environment(\.scenePhase) private var phase
    var body: some View {
      Text(verbatim: "a").onChange(of: phase, initial: true) { old, new in log.add("view \(old) \(new)") }
    }
  }

  @Test(.rule("VIEW-19")) func `views and scenes follow the phase of the app`() {
    let log = Log()
    let views = LiveViews(PhasedApp(log: log))
    for state in [UIApplication.State.inactive, .active, .inactive, .background, .inactive] { views.enters(state) }
    #expect(
      log.lines == [
        "view inactive inactive", "scene active", "view inactive active", "scene inactive", "view active inactive",
        "scene background", "view inactive background", "scene inactive", "view background inactive",
      ])
  }

  private final class Model: ObservableObject {
    @Published var number = 0
  }

  @Observable fileprivate final class Figures {
    var total = 0
  }

  private struct Watching: View {
    let log: Log
    let figures: Figures
    @StateObject private var model = Model()

    var body: some View {
      let _ = log.add("body \(model.number) \(figures.total)")
      Text(verbatim: "a")
        .onAppear { model.number = 1 }
        .onReceive(model.$number) { log.add("number \($0)") }
    }
  }

  @Test(.rule("VIEW-19")) func `an object that a view observes evaluates it again`() async {
    let (log, figures) = (Log(), Figures())
    let views = LiveViews(Shown { Watching(log: log, figures: figures) })
    views.enters(.active)
    await log.waitFor("body 1 0")
    figures.total = 7
    await log.waitFor("body 1 7")
    #expect(log.lines.filter { $0.hasPrefix("number") } == ["number 0", "number 1"])
    withExtendedLifetime(views) {}
  }

  /// A property wrapper of the author that contains state.
  @propertyWrapper private struct Kept: DynamicProperty {
    @State private var name: String?
    var wrappedValue: String? {
      get { name }
      nonmutating set { name = newValue }
    }
  }

  private struct Row: View {
    let log: Log
    let name: String
    @Kept private var first: String?

    var body: some View {
      Text(verbatim: name)
        .onAppear {
          first = name
          log.add("appear \(name)")
        }
        .onDisappear { log.add("disappear \(first ?? "none")") }
    }
  }

  private struct Rows: View {
    let log: Log
    let names: [String]

    var body: some View {
      TabView {
        NavigationStack {
          List {
            ForEach(names, id: \.self) { Row(log: log, name: $0) }
          }
        }
        .onOpenURL { log.add("opens \($0)") }
        Row(log: log, name: "hidden")
      }
    }
  }

  private struct Changing: View {
    let log: Log
    @State private var names = ["a", "b"]

    var body: some View {
      Rows(log: log, names: names).task { names = ["c", "b"] }
    }
  }

  @Test(.rule("VIEW-19")) func `rows of a list in the first tab live, each with the state of its element`() async throws
  {
    let log = Log()
    let views = LiveViews(Shown { Changing(log: log) })
    let url = try #require(URL(string: "door://1"))
    #expect(!views.opens(url))
    views.enters(.active)
    await log.waitFor("disappear a")
    if !log.lines.contains("appear c") { await log.waitFor("appear c") }
    #expect(views.opens(url))
    #expect(log.lines.sorted() == ["appear a", "appear b", "appear c", "disappear a", "opens door://1"])
  }

  private struct Ending: View {
    let log: Log
    @State private var names = (0..<20).map { "\($0)" }

    var body: some View {
      Rows(log: log, names: names).task { names = [] }
    }
  }

  @Test(.rule("VIEW-19")) func `views disappear in the order in which they appeared`() async {
    let log = Log()
    let views = LiveViews(Shown { Ending(log: log) })
    views.enters(.active)
    await log.waitFor("disappear 19")
    #expect(log.lines.filter { $0.hasPrefix("disappear") } == (0..<20).map { "disappear \($0)" })
    withExtendedLifetime(views) {}
  }

  @Test(.rule("VIEW-19")) func `an image larger than a widget may have hides no view after it`() throws {
    let header: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
    let size: [UInt8] = [0, 0, 16, 0, 0, 0, 16, 0]
    let (log, image) = (Log(), try #require(UIImage(data: Data(header + size))))
    let views = LiveViews(
      Shown {
        Image(uiImage: image)
        Counter(log: log)
      })
    views.enters(.active)
    #expect(log.lines == ["body 0", "appear"])
  }

  private struct Endless: View {
    let log: Log
    let figures: Figures
    @State private var count = 0

    var body: some View {
      let _ = log.add("body \(count) \(figures.total)")
      Text(verbatim: "a").onChange(of: count, initial: true) { count += 1 }
    }
  }

  @Test(.rule("VIEW-19")) func `a state that each evaluation changes ends a row of 100 evaluations`() async throws {
    let (log, figures) = (Log(), Figures())
    let views = LiveViews(Shown { Endless(log: log, figures: figures) }, frame: .milliseconds(0))
    views.enters(.active)
    await log.waitFor("body 100 0")
    // The test needs this time: nothing may happen in it.
    try await Task.sleep(for: .milliseconds(50))
    #expect(log.lines.count == 101)
    // A change from outside begins another row.
    figures.total = 7
    await log.waitFor("body 201 7")
    // The test needs this time: nothing may happen in it.
    try await Task.sleep(for: .milliseconds(50))
    #expect(log.lines.count == 202)
    withExtendedLifetime(views) {}
  }

  private struct Receiving: View {
    let log: Log
    let figures: Figures
    let subject: PassthroughSubject<Int, Never>

    var body: some View {
      let total = figures.total
      let _ = log.add("body \(total)")
      Text(verbatim: "a").onReceive(subject) { log.add("received \($0) with \(total)") }
    }
  }

  @Test(.rule("VIEW-19")) func `onReceive has the action of the last evaluation`() async {
    let (log, figures, subject) = (Log(), Figures(), PassthroughSubject<Int, Never>())
    let views = LiveViews(Shown { Receiving(log: log, figures: figures, subject: subject) })
    views.enters(.active)
    subject.send(1)
    figures.total = 7
    await log.waitFor("body 7")
    subject.send(2)
    #expect(log.lines == ["body 0", "received 1 with 0", "body 7", "received 2 with 7"])
    withExtendedLifetime(views) {}
  }

  private struct RowStyle: ToggleStyle {
    let log: Log
    func makeBody(configuration: Configuration) -> some View { Row(log: log, name: "\(configuration.isOn)") }
  }

  @Test(.rule("VIEW-19")) func `one view of several that fit is evaluated, and one state of a toggle`() {
    let log = Log()
    let views = LiveViews(
      Shown {
        ViewThatFits {
          Row(log: log, name: "first")
          Row(log: log, name: "second")
        }
        Toggle("Lamp", isOn: .constant(false)).toggleStyle(RowStyle(log: log))
      })
    views.enters(.active)
    #expect(log.lines == ["appear first", "appear false"])
  }

  @Test(.rule("VIEW-19")) func `an observed object exists as long as its view`() {
    weak var kept: Model?
    let node = LiveNode(LiveClock(frame: .milliseconds(0)))
    do {
      let model = Model()
      kept = model
      node.observe("model", model)
    }
    // Another object would have its address, and not be observed.
    #expect(kept != nil)
    withExtendedLifetime(node) {}
  }

  @Test(.rule("VIEW-19")) func `the actions for URLs end with their evaluation`() throws {
    weak var former: OpenURLActions?
    do {
      var environment = EnvironmentValues()
      let actions = OpenURLActions()
      (former, environment.openURLActions) = (actions, actions)
      _ = try Text(verbatim: "a").onOpenURL { _ in }.archived(in: environment)
      #expect(actions.foundActions.count == 1)
    }
    #expect(former == nil)
  }

  @Test(.rule("VIEW-19")) func `state is set on any thread`() {
    // Unsafe: what is shown is that its storage has a lock.
    nonisolated(unsafe) let state = State(wrappedValue: ["0"])
    DispatchQueue.concurrentPerform(iterations: 10_000) { number in
      state.wrappedValue = ["\(number)"]
      _ = state.wrappedValue.count
    }
    #expect(state.wrappedValue.count == 1)
  }
}
