// SPDX-License-Identifier: Apache-2.0

import ActivityKit
import Foundation
import SwiftUI
import Synchronization
import WidgetKit

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
