// SPDX-License-Identifier: Apache-2.0

import AppIntents
import SwiftUI
import WidgetKit

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
