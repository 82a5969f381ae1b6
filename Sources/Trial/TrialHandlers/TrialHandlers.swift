import Foundation
import SwiftUI
import WidgetKit

/// What `TRIAL_FORM` says this process is: an extension with one form of handler for its events, or an app.
enum Form: String {
  case app, opened, several, none, never, hanging, chain, halted, bulk
  case task
  case taskOfOne = "task-of-one"
  case taskMatching = "task-matching"

  static let current: Form = {
    let name = ProcessInfo.processInfo.environment["TRIAL_FORM"] ?? ""
    guard let form = Form(rawValue: name) else { fatalError("TRIAL_FORM says which form is tried, and not '\(name)'") }
    return form
  }()
}

/// An extension or an app for tests, in each form in which an author can say what to do with background events.
@main enum TrialHandlers {
  @MainActor static func main() {
    switch Form.current {
    case .app: TrialApp.main()
    case .opened: OpenedApp.main()
    case .task: TaskWidget.main()
    case .taskOfOne: TaskOfOneWidget.main()
    case .taskMatching: TaskMatchingWidget.main()
    case .several: SeveralWidgets.main()
    case .none: OtherWidget.main()
    case .never: NeverWidget.main()
    case .hanging: HangingWidget.main()
    case .chain, .halted: CompletionWidget.main()
    case .bulk: BulkWidget.main()
    }
  }
}

extension Widget {
  /// The configuration of a widget of a kind; all have the same provider.
  func configuration(_ kind: String) -> StaticConfiguration<Text> {
    StaticConfiguration(kind: kind, provider: TrialProvider()) { entry in Text(verbatim: entry.text) }
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

/// Calls its completion when all events have been told.
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

/// Chooses by no identifier at all.
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
    OtherWidget()
  }
}

/// An app with a delegate, a scene with an action and a session of its own.
struct TrialApp: App {
  @UIApplicationDelegateAdaptor(TrialDelegate.self) private var delegate

  var body: some Scene {
    WindowGroup { Text("Trial") }
      .backgroundTask(.urlSession(Batch.identifier)) { await Batch.shared.handle("scene", Batch.identifier) }
      .backgroundTask(.urlSession("com.example.Trial.other")) { await Batch.shared.handle("other", "?") }
  }
}

final class TrialDelegate: NSObject, UIApplicationDelegate {
  func applicationDidBecomeActive(_ application: UIApplication) { Task { await Batch.shared.start() } }

  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    completionHandler: @escaping () -> Void
  ) {
    Batch.shared.handle("delegate", identifier, completionHandler)
  }
}
