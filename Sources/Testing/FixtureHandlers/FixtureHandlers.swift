// SPDX-License-Identifier: Apache-2.0

import ActivityKit
import AppIntents
import Foundation
import SwiftUI
import Synchronization
import WidgetKit

/// The role of this process according to `TRIAL_FORM`: an extension with one form of event handler, or an app.
enum Form: String {
  case app, opened, several, none, never, hanging, chain, halted, bulk, keeping, launching
  case task
  case taskOfOne = "task-of-one"
  case taskMatching = "task-matching"
  case tasks

  static let current: Form = {
    let name = ProcessInfo.processInfo.environment["TRIAL_FORM"] ?? ""
    guard let form = Form(rawValue: name) else { fatalError("TRIAL_FORM: there is no form '\(name)'") }
    return form
  }()
}

/// An extension or an app for tests, with each form of handler for background events. `TRIAL_FIXTURE` selects another
/// fixture.
@main enum FixtureHandlers {
  @MainActor static func main() {
    switch ProcessInfo.processInfo.environment["TRIAL_FIXTURE"] {
    case "traps": FixtureTraps.main()
    case "mistakes": FixtureMistakes.main()
    case "script": FixtureScript.main()
    case "lifecycle": FixtureLifecycle.main()
    case nil: begin()
    case let name?: fatalError("TRIAL_FIXTURE: there is no fixture '\(name)'")
    }
  }

  @MainActor private static func begin() {
    switch Form.current {
    case .app: FixtureApp.main()
    case .opened: OpenedApp.main()
    case .task: TaskWidget.main()
    case .taskOfOne: TaskOfOneWidget.main()
    case .taskMatching: TaskMatchingWidget.main()
    case .tasks: TaskWidgets.main()
    case .several: SeveralWidgets.main()
    case .none: OtherWidget.main()
    case .never: NeverWidget.main()
    case .hanging: HangingWidget.main()
    case .chain, .halted: CompletionWidget.main()
    case .bulk: BulkWidget.main()
    case .keeping: KeepingWidget.main()
    case .launching:
      let isExtension = ProcessInfo.processInfo.environment["TRIAL_GROUP"] != nil
      if isExtension { LaunchingWidget.main() } else { LaunchingApp.main() }
    }
  }
}

extension Widget {
  /// The configuration of a widget with this kind; all have the same provider.
  func configuration(_ kind: String) -> StaticConfiguration<Text> {
    StaticConfiguration(kind: kind, provider: FixtureProvider()) { entry in Text(verbatim: entry.text) }
  }
}

struct TaskWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Trial").backgroundTask(.urlSession) { identifier in await Batch.shared.handle("all", identifier) }
  }
}

struct TaskOfOneWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Trial")
      .backgroundTask(.urlSession("com.example.Trial.other")) { await Batch.shared.handle("other", "?") }
      .backgroundTask(.urlSession(Batch.identifier)) { await Batch.shared.handle("one", Batch.identifier) }
  }
}

struct TaskMatchingWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Trial").backgroundTask(.urlSession(matching: { $0.hasPrefix("com.example.Trial") })) { identifier in
      await Batch.shared.handle("matching", identifier)
    }
  }
}

/// Three of its actions match the session, of two widgets and of one widget twice.
struct TaskWidgets: WidgetBundle {
  var body: some Widget {
    TaskOfOneWidget()
    TwoTasksWidget()
  }
}

struct TwoTasksWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Two")
      .backgroundTask(.urlSession) { identifier in await Batch.shared.handle("all", identifier) }
      .backgroundTask(.urlSession(matching: { $0.hasSuffix(".session") })) { identifier in
        await Batch.shared.handle("matching", identifier)
      }
  }
}

/// Its action does not return before it is cancelled.
struct HangingWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Trial").backgroundTask(.urlSession) { identifier in
      Batch.shared.makeSession()
      await withTaskCancellationHandler {
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        withExtendedLifetime(continuation) { print("the action returns") }
      } onCancel: {
        print("the action is cancelled")
      }
    }
  }
}

/// Calls its completion when all events are delivered.
struct CompletionWidget: Widget {
  var kind = "Trial"
  init() {}
  init(kind: String) { self.kind = kind }

  var body: some WidgetConfiguration {
    configuration(kind).onBackgroundURLSessionEvents(matching: Batch.identifier) { identifier, completion in
      Batch.shared.handle("string \(kind)", identifier: identifier, completion: completion)
    }
  }
}

/// Its handler matches no particular identifier.
struct BareWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Bare").onBackgroundURLSessionEvents { identifier, completion in
      Batch.shared.handle("bare", identifier: identifier, completion: completion)
    }
  }
}

struct NilWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Nil").onBackgroundURLSessionEvents(matching: nil) { identifier, completion in
      Batch.shared.handle("nil", identifier: identifier, completion: completion)
    }
  }
}

/// Its handlers have closures: one matches the session by a part of its identifier, the other no session.
struct ClosureWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Closure")
      .onBackgroundURLSessionEvents(matching: { $0.hasPrefix("com.example.Trial") }) { identifier, completion in
        Batch.shared.handle("closure", identifier: identifier, completion: completion)
      }
      .onBackgroundURLSessionEvents(matching: { $0.hasSuffix(".other") }) { identifier, completion in
        Batch.shared.handle("other closure", identifier: identifier, completion: completion)
      }
  }
}

/// Counts the views that this process instance has built. Its handler prints the count.
struct KeepingWidget: Widget {
  @MainActor private final class Kept { var views = 0 }
  private let keptState = Kept()

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Trial", provider: FixtureProvider()) { entry in
      keptState.views += 1
      return Text(verbatim: entry.text)
    }
    .onBackgroundURLSessionEvents(matching: Batch.identifier) { identifier, completion in
      Batch.shared.handle("after \(keptState.views) views:", identifier: identifier, completion: completion)
    }
  }
}

/// Has no handler for the session.
struct OtherWidget: Widget {
  var body: some WidgetConfiguration {
    configuration(Form.current == .none ? "Trial" : "Other")
      .onBackgroundURLSessionEvents(matching: "com.example.Trial.other") { identifier, completion in
        Batch.shared.handle("other", identifier: identifier, completion: completion)
      }
  }
}

/// Does not call its completion.
struct NeverWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Trial").onBackgroundURLSessionEvents(matching: Batch.identifier) { _, _ in
      Batch.shared.makeSession()
    }
  }
}

struct SeveralWidgets: WidgetBundle {
  var body: some Widget {
    CompletionWidget()
    BareWidget()
    NilWidget()
    ClosureWidget()
    OtherWidget()
  }
}

/// An app with a delegate, and a scene with an action and a separate session.
struct FixtureApp: App {
  @UIApplicationDelegateAdaptor(FixtureDelegate.self) private var delegate

  var body: some Scene {
    WindowGroup { Text("Trial") }
      .backgroundTask(.urlSession(Batch.identifier)) { await Batch.shared.handle("scene", Batch.identifier) }
      .backgroundTask(.urlSession("com.example.Trial.other")) { await Batch.shared.handle("other", "?") }
  }
}

final class FixtureDelegate: NSObject, UIApplicationDelegate {
  func applicationDidBecomeActive(_ application: UIApplication) { Task { await Batch.shared.start() } }

  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    completionHandler: @escaping () -> Void
  ) {
    Batch.shared.handle("delegate", identifier: identifier, completion: completionHandler)
  }
}

struct FixtureEntry: TimelineEntry {
  let date: Date
  let text: String
}

/// Shows the number of bytes received. The first timeline starts the downloads; a later one creates the session only if
/// the test created a file `open`.
struct FixtureProvider: TimelineProvider {
  func placeholder(in context: Context) -> FixtureEntry { FixtureEntry(date: Date(), text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (FixtureEntry) -> Void) {
    guard Form.current == .halted, isThere("answered") else {
      return completion(FixtureEntry(date: Date(), text: "snapshot"))
    }
    Task { await neverAnswer() }
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<FixtureEntry>) -> Void) {
    Task {
      if let bytes = Batch.result.flatMap({ try? Data(contentsOf: $0).count }) {
        return completion(timeline("\(bytes) bytes"))
      }
      if isThere("open") { Batch.shared.makeSession() }
      if Form.current == .halted, isFirst("answered") { return completion(timeline("a good entry")) }
      if isFirst("began") { await Batch.shared.start() }
      guard Form.current != .halted else { return await neverAnswer() }
      completion(timeline("nothing yet"))
    }
  }

  private func timeline(_ text: String) -> Timeline<FixtureEntry> {
    Timeline(entries: [FixtureEntry(date: Date(), text: text)], policy: .never)
  }

  /// Awaits a request that takes longer than the system allows.
  private func neverAnswer() async {
    if let url = ProcessInfo.processInfo.environment["TRIAL_INLINE_URL"].flatMap({ URL(string: $0) }) {
      _ = try? await URLSession.shared.data(from: url)
    }
    let (never, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    continuation.finish()
  }

  private func isThere(_ name: String) -> Bool {
    Batch.folder.map { FileManager.default.fileExists(atPath: $0.appendingPathComponent(name).path) } ?? false
  }

  /// Whether this is the first call in any run of the process.
  private func isFirst(_ name: String) -> Bool {
    guard let folder = Batch.folder, !isThere(name) else { return false }
    return FileManager.default.createFile(atPath: folder.appendingPathComponent(name).path, contents: nil)
  }
}

extension WidgetCenter {
  /// Reloads the timelines, in an extension only.
  static func reloadWhereThereAreWidgets() {
    guard Form.current != .app else { return }
    shared.reloadTimelines(ofKind: "Trial")
  }
}

/// What an author's code may do before its process is announced. Each call blocks the main thread until it is answered.
@MainActor enum LaunchCalls {
  private static var places: Set<String> = []

  static func make(in place: String) {
    guard places.insert(place).inserted else { return }
    let environment = ProcessInfo.processInfo.environment
    guard let text = environment["TRIAL_URLS"], let url = URL(string: text) else { fatalError("TRIAL_URLS is missing") }
    let session = Batch.shared.makeSession()
    session.downloadTask(with: url).resume()
    print("\(place): \(wait { done in session.getAllTasks { done("\($0.count) of its tasks") } })")
    let list = wait { done in
      WidgetCenter.shared.getCurrentConfigurations { result in
        done((try? result.get()).map { "\($0.count) widgets" } ?? "no list of widgets")
      }
    }
    print("\(place): \(list)")
    let answer = wait { done in
      URLSession.shared.dataTask(with: url) { data, _, error in
        done(data.map { "\($0.count) bytes" } ?? "\(error.debugDescription)")
      }.resume()
    }
    print("\(place): \(answer)")
  }

  /// What only an app has.
  static func makeInApp() {
    print("registered: \(UIApplication.shared.isRegisteredForRemoteNotifications)")
    print("activities are enabled: \(ActivityAuthorizationInfo().areActivitiesEnabled)")
  }

  /// Blocks the calling thread until the closure has called back.
  private static func wait(_ begin: (_ done: @escaping @Sendable (String) -> Void) -> Void) -> String {
    let (answer, isThere) = (Answer(), DispatchSemaphore(value: 0))
    begin { text in
      answer.set(text)
      isThere.signal()
    }
    isThere.wait()
    return answer.text
  }
}

private final class Answer: Sendable {
  private let value = Mutex("")
  var text: String { value.withLock { $0 } }
  func set(_ text: String) { value.withLock { $0 = text } }
}

struct LaunchingWidget: Widget {
  init() { LaunchCalls.make(in: "Widget.init") }

  var body: some WidgetConfiguration {
    configuration("Trial").backgroundTask(.urlSession) { identifier in
      await Batch.shared.handle("all", identifier)
    }
  }
}

struct LaunchingApp: App {
  @UIApplicationDelegateAdaptor(LaunchingDelegate.self) private var delegate

  init() { LaunchCalls.make(in: "App.init") }

  var body: some Scene { WindowGroup { Text(verbatim: "Trial") } }
}

final class LaunchingDelegate: NSObject, UIApplicationDelegate {
  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    LaunchCalls.make(in: "didFinishLaunching")
    LaunchCalls.makeInApp()
    return true
  }
}

/// An app that prints the URL or user activity with which a widget opened it.
struct OpenedApp: App {
  @UIApplicationDelegateAdaptor(OpenedDelegate.self) private var delegate

  var body: some Scene {
    WindowGroup { OpenedView() }
  }
}

struct OpenedView: View {
  var body: some View {
    VStack { Text("Opened").onOpenURL { print("a view opens \($0)") } }
  }
}

/// A copy of the widget's intent.
struct Ask: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Ask"

  @Parameter(title: "Word", default: "nothing") var word: String
}

final class OpenedDelegate: NSObject, UIApplicationDelegate {
  func application(
    _ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]
  ) -> Bool {
    print("the delegate opens \(url)")
    return true
  }

  func application(
    _ application: UIApplication, continue userActivity: NSUserActivity,
    restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
  ) -> Bool {
    let info = userActivity.userInfo ?? [:]
    let kind = info[WidgetCenter.UserInfoKey.kind] ?? "no kind"
    let family = info[WidgetCenter.UserInfoKey.family] ?? "no family"
    let word = userActivity.widgetConfigurationIntent(of: Ask.self)?.word ?? "no intent"
    print("continues \(kind) \(family) \(word)")
    return true
  }
}
