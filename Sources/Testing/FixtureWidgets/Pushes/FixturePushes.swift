// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Foundation
import SwiftUI
import UserNotifications
import WidgetKit

/// Extensions and an app that print the device tokens and pushes that they receive. `TRIAL_APP` selects the containing
/// app; `TRIAL_MISTAKE`, as in `FixtureMistakes`, an extension with one widget and handler; `TRIAL_CONTROLS` one with a
/// control.
enum FixturePushes {
  static let environment = ProcessInfo.processInfo.environment

  @MainActor static func main() {
    if environment["TRIAL_APP"] != nil { return PushedApp.main() }
    if environment["TRIAL_MISTAKE"] != nil { return PushedWidget<First>.main() }
    if environment["TRIAL_CONTROLS"] != nil { return PushedControls.main() }
    PushedWidgets.main()
  }
}

/// Three widgets that accept pushes, two of them with the same handler type; and one that does not.
struct PushedWidgets: WidgetBundle {
  var body: some Widget {
    PushedWidget<First>()
    PushedWidget<Second>()
    OtherWidget()
    UnpushedWidget()
  }
}

protocol Named { static var name: String { get } }
enum First: Named { static let name = "First" }
enum Second: Named { static let name = "Second" }

struct PushedWidget<Name: Named>: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: Name.name, provider: HourlyProvider(kind: Name.name)) { Text(verbatim: $0.text) }
      .pushHandler(SharedHandler.self)
  }
}

struct OtherWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Other", provider: HourlyProvider(kind: "Other")) { Text(verbatim: $0.text) }
      .pushHandler(OtherHandler.self)
  }
}

struct UnpushedWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Plain", provider: HourlyProvider(kind: "Plain")) { Text(verbatim: $0.text) }
  }
}

struct SharedHandler: WidgetPushHandler {
  init() { print("made SharedHandler") }
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
    printCall("SharedHandler", info: pushInfo, widgets: widgets)
    if FixturePushes.environment["TRIAL_DIES_IN_HANDLER"] != nil { fatalError("the handler crashes") }
  }
}

struct OtherHandler: WidgetPushHandler {
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
    printCall("OtherHandler", info: pushInfo, widgets: widgets)
  }
}

private func printCall(_ name: String, info: WidgetPushInfo, widgets: [WidgetInfo]) {
  let kinds = widgets.map(\.kind).joined(separator: ",")
  print("\(name) on \(Thread.isMainThread ? "main" : "another thread"): \(info.token.hex) [\(kinds)]")
}

extension Data {
  var hex: String { map { String(format: "%02x", $0) }.joined() }
}

struct HourlyEntry: TimelineEntry {
  let date: Date
  let text: String
}

/// One entry now, and the next reload in an hour. Prints the current push info at each request.
struct HourlyProvider: TimelineProvider {
  let kind: String

  func placeholder(in context: Context) -> HourlyEntry { HourlyEntry(date: .now, text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (HourlyEntry) -> Void) {
    completion(HourlyEntry(date: .now, text: "snapshot"))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<HourlyEntry>) -> Void) {
    let kind = kind
    Task {
      let info = await WidgetCenter.shared.currentPushInfo
      print("\(kind) has the push info \(info?.token.hex ?? "none")")
      let now = Date()
      completion(Timeline(entries: [HourlyEntry(date: now, text: kind)], policy: .after(now + 3600)))
    }
  }
}

struct PushedApp: App {
  @UIApplicationDelegateAdaptor(PushedDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text(verbatim: "Pushes") } }
}

/// Registers at launch, and prints the tokens and pushes that it receives. The payload determines its result:
/// `asks` makes it ask for permission to show notifications, and set the delegate of the notification centre.
final class PushedDelegate: NSObject, UIApplicationDelegate {
  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    application.registerForRemoteNotifications()
    return true
  }

  private let presenter = PushPresenter()

  func applicationDidBecomeActive(_ application: UIApplication) {
    print("in front, registered: \(application.isRegisteredForRemoteNotifications)")
  }

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) { print("app token \(deviceToken.hex)") }

  func application(
    _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
  ) { print("no app token: \((error as NSError).domain) \((error as NSError).code)") }

  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    let what = userInfo["story"] as? String ?? "nothing"
    print("received \(what), \(application.applicationState == .active ? "in front" : "in the background")")
    switch what {
    case "dies": fatalError("the app crashes on a push")
    case "never": return
    case "asks":
      UNUserNotificationCenter.current().delegate = presenter
      UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .badge]) { isGranted, _ in
        print("may show notifications: \(isGranted)")
      }
      completionHandler(.newData)
    default: completionHandler(what == "fails" ? .failed : .newData)
    }
  }
}

/// Prints the alerts that arrive while the app is in front.
final class PushPresenter: NSObject, UNUserNotificationCenterDelegate {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    print("will present \(notification.request.content.body)")
    completionHandler([.banner, .list])
  }
}

/// A control that accepts pushes.
struct PushedControls: WidgetBundle {
  var body: some Widget { PushedControl() }
}

struct PushedControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Door", provider: DoorProvider()) { count in
      ControlWidgetButton(action: Ring()) { Text(verbatim: "asked \(count) times") }
    }
    .pushHandler(DoorHandler.self)
  }
}

struct Ring: AppIntent {
  static let title: LocalizedStringResource = "Ring"
  func perform() async throws -> some IntentResult { .result() }
}

/// The value is the number of times it was asked for. Prints the tokens of the placed controls each time.
struct DoorProvider: ControlValueProvider {
  let previewValue = 0

  func currentValue() async throws -> Int {
    print("placed controls: \(try await ControlCenter.shared.currentControls().texts)")
    let count = UserDefaults.standard.integer(forKey: "count") + 1
    UserDefaults.standard.set(count, forKey: "count")
    return count
  }
}

struct DoorHandler: ControlPushHandler {
  func pushTokensDidChange(controls: [ControlInfo]) {
    print("DoorHandler on \(Thread.isMainThread ? "main" : "another thread"): \(controls.texts)")
  }
}

extension [ControlInfo] {
  /// Their kinds and tokens.
  fileprivate var texts: String {
    map { "\($0.kind) \($0.pushInfo?.token.hex ?? "without a token")" }.joined(separator: ", ")
  }
}
