// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
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

/// An extension or an app for tests, with each form of handler for background events.
@main enum FixtureHandlers {
  @MainActor static func main() {
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
      Batch.shared.handle("string \(kind)", identifier, completion)
    }
  }
}

/// Its handler matches no particular identifier.
struct BareWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Bare").onBackgroundURLSessionEvents { identifier, completion in
      Batch.shared.handle("bare", identifier, completion)
    }
  }
}

struct NilWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Nil").onBackgroundURLSessionEvents(matching: nil) { identifier, completion in
      Batch.shared.handle("nil", identifier, completion)
    }
  }
}

/// Its handlers have closures: one matches the session by a part of its identifier, the other no session.
struct ClosureWidget: Widget {
  var body: some WidgetConfiguration {
    configuration("Closure")
      .onBackgroundURLSessionEvents(matching: { $0.hasPrefix("com.example.Trial") }) { identifier, completion in
        Batch.shared.handle("closure", identifier, completion)
      }
      .onBackgroundURLSessionEvents(matching: { $0.hasSuffix(".other") }) { identifier, completion in
        Batch.shared.handle("other closure", identifier, completion)
      }
  }
}

/// Counts the views that this process instance has built. Its handler prints the count.
struct KeepingWidget: Widget {
  @MainActor private final class Kept { var views = 0 }
  private let kept = Kept()

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Trial", provider: FixtureProvider()) { entry in
      kept.views += 1
      return Text(verbatim: entry.text)
    }
    .onBackgroundURLSessionEvents(matching: Batch.identifier) { identifier, completion in
      Batch.shared.handle("after \(kept.views) views:", identifier, completion)
    }
  }
}

/// Has no handler for the session.
struct OtherWidget: Widget {
  var body: some WidgetConfiguration {
    configuration(Form.current == .none ? "Trial" : "Other")
      .onBackgroundURLSessionEvents(matching: "com.example.Trial.other") { identifier, completion in
        Batch.shared.handle("other", identifier, completion)
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
    Batch.shared.handle("delegate", identifier, completionHandler)
  }
}
