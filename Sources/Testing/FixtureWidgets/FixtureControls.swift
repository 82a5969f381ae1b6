// SPDX-License-Identifier: Apache-2.0

import AppIntents
import SwiftUI
import WidgetKit

// Controls for Control Center, beside one widget.

private let lampKey = "lamp"

/// Turns the lamp on or off.
struct SetLamp: SetValueIntent {
  static let title: LocalizedStringResource = "Lamp"
  @Parameter(title: "On") var value: Bool

  func perform() async throws -> some IntentResult {
    UserDefaults.standard.set(value, forKey: lampKey)
    print("the lamp is \(value ? "lit" : "dark")")
    return .result()
  }
}

struct LampProvider: ControlValueProvider {
  let previewValue = false
  func currentValue() async throws -> Bool { UserDefaults.standard.bool(forKey: lampKey) }
}

/// A toggle with a value.
struct LampControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Lamp", provider: LampProvider()) { isLit in
      ControlWidgetToggle("Lamp", isOn: isLit, action: SetLamp()) { isOn in Text(isOn ? "lit" : "dark") }
        .tint(.yellow)
    }
    .displayName("The lamp")
    .description("Turns the lamp on and off")
  }
}

/// The size of a cup.
struct CupConfiguration: ControlConfigurationIntent {
  static let title: LocalizedStringResource = "Cup"
  @Parameter(title: "Size", default: "small") var size: String
}

struct CupProvider: AppIntentControlValueProvider {
  func previewValue(configuration: CupConfiguration) -> String { "a \(configuration.size) cup" }
  func currentValue(configuration: CupConfiguration) async throws -> String {
    "\(UserDefaults.standard.integer(forKey: "cups")) \(configuration.size) cups"
  }
}

/// A button with a value and a configuration.
struct CupControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    AppIntentControlConfiguration(kind: "Cup", provider: CupProvider()) { text in
      ControlWidgetButton(action: Drink(cups: 2)) { Text(text) }
    }
    .displayName("A cup")
  }
}

/// Lights the lamp from outside its control, and prints what is placed.
struct TellControls: AppIntent {
  static let title: LocalizedStringResource = "Tell"

  func perform() async throws -> some IntentResult {
    UserDefaults.standard.set(true, forKey: lampKey)
    ControlCenter.shared.reloadControls(ofKind: "Lamp")
    let controls = try await ControlCenter.shared.currentControls()
    let cup = controls.first { $0.kind == "Cup" }?.configurationIntent(of: CupConfiguration.self)
    let widgets = try await WidgetCenter.shared.currentConfigurations()
    print("controls \(controls.map(\.kind)) of \(cup?.size ?? "no") size, widgets \(widgets.map(\.kind))")
    return .result()
  }
}

struct TellControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Tell") { ControlWidgetButton(action: TellControls()) { Text("Tell") } }
  }
}

/// Needs an unlocked device.
struct OpenSafe: AppIntent {
  static let title: LocalizedStringResource = "Open"
  static let authenticationPolicy = IntentAuthenticationPolicy.requiresAuthentication
  func perform() async throws -> some IntentResult { .result() }
}

struct SafeControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Safe") { ControlWidgetButton(action: OpenSafe()) { Text("Open") } }
  }
}

struct BlockedControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Blocked") {
      ControlWidgetButton(action: Drink(cups: 1)) { Text("Drink") }.disabled(true)
    }
  }
}

struct ControlsBundle: WidgetBundle {
  var body: some Widget {
    TouchWidget()
    LampControl()
    CupControl()
    TellControl()
    SafeControl()
    BlockedControl()
  }
}
