// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// What the app does when it comes to the foreground.
@MainActor private func cameToFront() {
  switch FixtureMistakes.name {
  case "loop wrong":
    for record in 1...6 {
      UserDefaults.standard.set(record, forKey: "record")
      WidgetCenter.shared.reloadTimelines(ofKind: FixtureMistakes.kind)
    }
  case "loop right":
    for record in 1...6 { UserDefaults.standard.set(record, forKey: "record") }
    WidgetCenter.shared.reloadTimelines(ofKind: FixtureMistakes.kind)
  case "same wrong": WidgetCenter.shared.reloadTimelines(ofKind: FixtureMistakes.kind)
  case "same right":
    // Compares the widget's content with the content that it showed last.
    guard UserDefaults.standard.string(forKey: "shown") != "news" else { break }
    UserDefaults.standard.set("news", forKey: "shown")
    WidgetCenter.shared.reloadTimelines(ofKind: FixtureMistakes.kind)
  case "name wrong": WidgetCenter.shared.reloadTimelines(ofKind: "MistakeWidget")
  case "name right": WidgetCenter.shared.reloadTimelines(ofKind: FixtureMistakes.kind)
  default: break
  }
  print("in front")
}

struct MistakeApp: App {
  @UIApplicationDelegateAdaptor(MistakeDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text(verbatim: "Mistakes") } }
}

final class MistakeDelegate: NSObject, UIApplicationDelegate {
  func applicationDidBecomeActive(_ application: UIApplication) { cameToFront() }
}
