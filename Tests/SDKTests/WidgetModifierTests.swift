// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import AppIntents
@testable import SwiftUI
@testable import WidgetKit

/// What each modifier of a configuration declares to the host.
@Suite struct `Widget modifiers` {
  @Test(.rule("WIDGET-01"))
  @MainActor func `configurationDisplayName accepts a Text, a key, a String and a resource`() {
    #expect(declared { $0.configurationDisplayName(Text(verbatim: "text")) }.displayName == "text")
    #expect(declared { $0.configurationDisplayName("key") }.displayName == "key")
    #expect(declared { $0.configurationDisplayName(String("string")) }.displayName == "string")
    #expect(declared { $0.configurationDisplayName(LocalizedStringResource("resource")) }.displayName == "resource")
  }

  @Test(.rule("WIDGET-01")) @MainActor func `description accepts a Text, a key, a String and a resource`() {
    #expect(declared { $0.description(Text(verbatim: "text")) }.description == "text")
    #expect(declared { $0.description("key") }.description == "key")
    #expect(declared { $0.description(String("string")) }.description == "string")
    #expect(declared { $0.description(LocalizedStringResource("resource")) }.description == "resource")
  }

  @Test(.rule("WIDGET-01"))
  @MainActor func `a declaration has the families, margins, background and prompt that its modifiers set`() {
    let plain = declared { $0 }
    #expect(plain.families == nil)
    #expect(plain.isBackgroundRemovable && !plain.contentMarginsDisabled && !plain.promptsForUserConfiguration)
    #expect(declared { $0.supportedFamilies([.systemLarge]) }.families == [.systemLarge])
    #expect(declared { $0.contentMarginsDisabled() }.contentMarginsDisabled)
    #expect(declared { $0.containerBackgroundRemovable(false) }.isBackgroundRemovable == false)
    #expect(declared { $0.containerBackgroundRemovable(false).containerBackgroundRemovable() }.isBackgroundRemovable)
    #expect(declared { $0.promptsForUserConfiguration() }.promptsForUserConfiguration)
  }

  @Test(.rule("WIDGET-02")) @MainActor func `several disfavoredLocations modifiers are combined`() {
    let declaration = declared {
      $0.disfavoredLocations([.lockScreen, .standBy], for: [.systemSmall])
        .disfavoredLocations([.carPlay], for: [.systemMedium, .systemLarge])
    }
    #expect(
      declaration.disfavored == [
        .init(locations: [.lockScreen, .standBy], families: [.systemSmall]),
        .init(locations: [.carPlay], families: [.systemMedium, .systemLarge]),
      ])
  }

  @Test @MainActor func `modifiers for other platforms, pushes and activities are recorded in the declaration`() {
    #expect(declared { $0.associatedKind("Other") }.associatedKind == "Other")
    let mounted = declared { $0.supportedMountingStyles([.elevated, .recessed]) }
    #expect(mounted.mountingStyles == ["elevated", "recessed"])
    #expect(declared { $0.widgetTexture(.paper) }.texture == "paper")
    #expect(declared { $0.supplementalActivityFamilies([.small]) }.supplementalActivityFamilies == ["small"])
    #expect(declared { $0.pushHandler(Pushes.self) }.pushHandler == "Pushes")
  }

  @Test(.rule("WIDGET-03")) @MainActor func `a widget bundle accepts if #available, and a control beside widgets`() {
    let declarations = Mixed().body.descriptions.compactMap(\.declaration)
    #expect(declarations.map(\.kind) == ["Plain", "Light", "Gated"])
    #expect(declarations.map(\.isControl) == [false, true, false])
    #expect(declarations[1].displayName == "Light")
  }

  @MainActor private func declared(
    _ modify: (StaticConfiguration<Text>) -> some WidgetConfiguration
  ) -> WidgetDeclaration {
    let plain = StaticConfiguration(kind: "Plain", provider: OneEntry()) { _ in Text(verbatim: "") }
    var description = WidgetDescription()
    modify(plain).add(to: &description)
    return description.declaration ?? WidgetDeclaration(kind: "none")
  }
}

private struct Pushes: WidgetPushHandler {
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {}
}

private struct Named<Name>: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "\(Name.self)", provider: OneEntry()) { _ in Text(verbatim: "") }
  }
}

private enum Plain {}
private enum Gated {}

private struct SwitchLight: SetValueIntent {
  static let title: LocalizedStringResource = "Switch the light"
  @Parameter(title: "On") var value: Bool
  func perform() async throws -> some IntentResult { .result() }
}

private struct LightControl: ControlWidget {
  var body: some ControlWidgetConfiguration {
    StaticControlConfiguration(kind: "Light", provider: LightProvider()) { isOn in
      ControlWidgetToggle("Light", isOn: isOn, action: SwitchLight()) { Text($0 ? "On" : "Off") }
    }
    .displayName("Light")
  }
}

private struct LightProvider: ControlValueProvider {
  let previewValue = false
  func currentValue() async throws -> Bool { true }
}

private struct Mixed: WidgetBundle {
  var body: some Widget {
    Named<Plain>()
    LightControl()
    if #available(iOS 18.0, *) {
      Named<Gated>()
    }
  }
}
