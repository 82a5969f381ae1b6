// SPDX-License-Identifier: Apache-2.0

import AppIntents
import SwiftUI
import WidgetKit

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
