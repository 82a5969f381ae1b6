// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import AppIntents
@testable import Charts
@testable import SwiftUI
@testable import WidgetKit

/// Which overload a literal chooses: a literal is the key of a translation, a `String` is a text.
@Suite(.timeLimit(.minutes(1))) @MainActor struct `A literal in a view` {
  /// One declaration with a literal, with an interpolated literal and with a `String`.
  private struct Trial {
    typealias Make = @MainActor () -> any View
    let name: String
    let literal: Make
    let interpolated: Make
    let variable: Make

    init(
      _ name: String, _ literal: @autoclosure @escaping Make, _ interpolated: @autoclosure @escaping Make,
      _ variable: @autoclosure @escaping Make
    ) {
      (self.name, self.literal, self.interpolated, self.variable) = (name, literal, interpolated, variable)
    }
  }

  private static let translations = ["key": "Hello", "key %lld": "Hello %lld"]

  /// The archive of a view as JSON, where the author's texts are translated.
  private func archived(_ view: @autoclosure () -> any View) throws -> String {
    var environment = EnvironmentValues()
    environment.localize = { Self.translations[$0.key] }
    let body = environment.during(view)
    return String(decoding: try JSONEncoder().encode(try body.archived(in: environment)), as: UTF8.self)
  }

  private func expectKeys(_ trials: [Trial]) throws {
    for trial in trials {
      #expect(try archived(trial.literal()).contains(#""Hello""#), "\(trial.name) with a literal")
      #expect(try archived(trial.interpolated()).contains(#""Hello 3""#), "\(trial.name) with an interpolation")
      let variable = try archived(trial.variable())
      #expect(variable.contains(#""key""#) && !variable.contains("Hello"), "\(trial.name) with a String")
    }
  }

  private let text = String("key")
  private let resource = LocalizedStringResource("key")

  @Test(.rule("WIDGET-22")) func `a literal is a key in texts and labels, and a String is a text`() throws {
    let url = try #require(URL(string: "https://a.example"))
    try expectKeys([
      Trial("Text", Text("key"), Text("key \(3)"), Text(text)),
      Trial("Text.bold", Text("key").bold(), Text("key \(3)").bold(), Text(text).bold()),
      Trial("Text +", Text("key") + Text("a"), Text("key \(3)") + Text("a"), Text(text) + Text("a")),
      Trial(
        "Label", Label("key", systemImage: "a"), Label("key \(3)", systemImage: "a"), Label(text, systemImage: "a")),
      Trial("Label image", Label("key", image: "a"), Label("key \(3)", image: "a"), Label(text, image: "a")),
      Trial("LabeledContent", LabeledContent("key") {}, LabeledContent("key \(3)") {}, LabeledContent(text) {}),
      Trial(
        "LabeledContent value", LabeledContent("key", value: "a"), LabeledContent("key \(3)", value: "a"),
        LabeledContent(text, value: "a")),
      Trial("Link", Link("key", destination: url), Link("key \(3)", destination: url), Link(text, destination: url)),
      Trial("Section", Section("key") {}, Section("key \(3)") {}, Section(text) {}),
      Trial("GroupBox", GroupBox("key") {}, GroupBox("key \(3)") {}, GroupBox(text) {}),
      Trial(
        "ContentUnavailableView", ContentUnavailableView("key", systemImage: "a"),
        ContentUnavailableView("key \(3)", systemImage: "a"), ContentUnavailableView(text, systemImage: "a")),
      Trial(
        "ContentUnavailableView image", ContentUnavailableView("key", image: "a"),
        ContentUnavailableView("key \(3)", image: "a"), ContentUnavailableView(text, image: "a")),
      Trial(
        "AccessoryWidgetGroup", AccessoryWidgetGroup("key") {}, AccessoryWidgetGroup("key \(3)") {},
        AccessoryWidgetGroup(text) {}),
      Trial(
        "AccessoryWidgetGroup symbol", AccessoryWidgetGroup("key", systemImage: "a") {},
        AccessoryWidgetGroup("key \(3)", systemImage: "a") {}, AccessoryWidgetGroup(text, systemImage: "a") {}),
      Trial(
        "widgetLabel", Text(verbatim: "").widgetLabel("key"), Text(verbatim: "").widgetLabel("key \(3)"),
        Text(verbatim: "").widgetLabel(text)),
    ])
  }

  @Test(.rule("WIDGET-22")) func `a literal is a key in controls, and a String is a text`() throws {
    try expectKeys([
      Trial("Button", Button("key") {}, Button("key \(3)") {}, Button(text) {}),
      Trial("Button role", Button("key", role: nil) {}, Button("key \(3)", role: nil) {}, Button(text, role: nil) {}),
      Trial(
        "Button symbol", Button("key", systemImage: "a") {}, Button("key \(3)", systemImage: "a") {},
        Button(text, systemImage: "a") {}),
      Trial(
        "Button intent", Button("key", intent: Tap()), Button("key \(3)", intent: Tap()), Button(text, intent: Tap())),
      Trial(
        "Button role intent", Button("key", role: nil, intent: Tap()), Button("key \(3)", role: nil, intent: Tap()),
        Button(text, role: nil, intent: Tap())),
      Trial(
        "Button symbol intent", Button("key", systemImage: "a", intent: Tap()),
        Button("key \(3)", systemImage: "a", intent: Tap()), Button(text, systemImage: "a", intent: Tap())),
      Trial(
        "Toggle", Toggle("key", isOn: .constant(true)), Toggle("key \(3)", isOn: .constant(true)),
        Toggle(text, isOn: .constant(true))),
      Trial(
        "Toggle intent", Toggle("key", isOn: true, intent: Turn()), Toggle("key \(3)", isOn: true, intent: Turn()),
        Toggle(text, isOn: true, intent: Turn())),
      Trial("ProgressView", ProgressView("key"), ProgressView("key \(3)"), ProgressView(text)),
      Trial(
        "ProgressView value", ProgressView("key", value: 0.5), ProgressView("key \(3)", value: 0.5),
        ProgressView(text, value: 0.5)),
      Trial(
        "Gauge", Gauge(value: 1) { Text("key") }, Gauge(value: 1) { Text("key \(3)") }, Gauge(value: 1) { Text(text) }),
      Trial(
        "ControlWidgetButton", control { ControlWidgetButton("key", action: Tap()) { _ in } },
        control { ControlWidgetButton("key \(3)", action: Tap()) { _ in } },
        control { ControlWidgetButton(text, action: Tap()) { _ in } }),
      Trial(
        "ControlWidgetToggle", control { ControlWidgetToggle("key", isOn: true, action: Turn()) { _ in } },
        control { ControlWidgetToggle("key \(3)", isOn: true, action: Turn()) { _ in } },
        control { ControlWidgetToggle(text, isOn: true, action: Turn()) { _ in } }),
    ])
  }

  @Test(.rule("WIDGET-22")) func `a literal is a key in accessibility and charts, and a String is a text`() throws {
    let view = Text(verbatim: "")
    let mark = BarMark(x: .value(Text(verbatim: "a"), 1), y: .value(Text(verbatim: "a"), 1))
    func axis(_ label: @escaping @autoclosure () -> AxisValueLabel<Text>) -> some View {
      Chart { mark }.chartXAxis { AxisMarks { _ in label() } }
    }
    let day = Date(timeIntervalSince1970: 0)
    try expectKeys([
      Trial(
        "label", view.accessibilityLabel("key"), view.accessibilityLabel("key \(3)"), view.accessibilityLabel(text)),
      Trial(
        "value", view.accessibilityValue("key"), view.accessibilityValue("key \(3)"), view.accessibilityValue(text)),
      Trial("hint", view.accessibilityHint("key"), view.accessibilityHint("key \(3)"), view.accessibilityHint(text)),
      Trial(
        "mark's label", Chart { mark.accessibilityLabel("key") }, Chart { mark.accessibilityLabel("key \(3)") },
        Chart { mark.accessibilityLabel(text) }),
      Trial(
        "mark's value", Chart { mark.accessibilityValue("key") }, Chart { mark.accessibilityValue("key \(3)") },
        Chart { mark.accessibilityValue(text) }),
      Trial(
        "PlottableValue", Chart { BarMark(x: .value("key", 1), y: .value("a", 1)) },
        Chart { BarMark(x: .value("key \(3)", 1), y: .value("a", 1)) },
        Chart { BarMark(x: .value(text, 1), y: .value("a", 1)) }),
      Trial(
        "PlottableValue unit", Chart { BarMark(x: .value("key", day, unit: .day), y: .value("a", 1)) },
        Chart { BarMark(x: .value("key \(3)", day, unit: .day), y: .value("a", 1)) },
        Chart { BarMark(x: .value(text, day, unit: .day), y: .value("a", 1)) }),
      Trial(
        "AxisValueLabel", axis(AxisValueLabel("key")), axis(AxisValueLabel("key \(3)")), axis(AxisValueLabel(text))),
    ])
  }

  /// What the archive does not contain: it is enough that each form compiles without an ambiguity.
  @Test func `a String is accepted where a literal is, in what a widget does not show`() throws {
    let (isOn, words, count) = (Binding.constant(true), Binding.constant("a"), Binding.constant(1))
    let url = try #require(URL(string: "https://a.example"))
    let views: [any View] = [
      Picker("key", selection: isOn) {}, Picker(text, selection: isOn) {}, Menu("key") {}, Menu(text) {},
      ShareLink("key", item: url), ShareLink(text, item: url), ShareLink("key", item: "a"), ShareLink(text, item: "a"),
      TextField("key", text: words), TextField(text, text: words), SecureField("key", text: words),
      SecureField(text, text: words), Stepper("key", value: count), Stepper(text, value: count),
      DisclosureGroup("key") {}, DisclosureGroup(text) {}, DisclosureGroup("key", isExpanded: isOn) {},
      DisclosureGroup(text, isExpanded: isOn) {}, Text("").help("key"), Text("").help(text),
      Text("").navigationTitle("key"), Text("").navigationTitle(text), Text("").navigationBarTitle("key"),
      Text("").navigationBarTitle(text), Text("").controlWidgetStatus("key"), Text("").controlWidgetStatus(text),
      Text("").controlWidgetActionHint("key"), Text("").controlWidgetActionHint(text),
      Text("").alert("key", isPresented: isOn) {}, Text("").alert(text, isPresented: isOn) {},
    ]
    for view in views { #expect(try !archived(view).contains("Hello"), "\(type(of: view))") }
  }

  @Test(.rule("WIDGET-22")) func `attributed strings and resources are texts, also inside a key`() throws {
    let words = AttributedString("key")
    #expect(try archived(Text(words)).contains(#""key""#))
    #expect(try archived(Text("\(words)")).contains(#""key""#))
    #expect(try !archived(Text("\(words)")).contains("AttributedString"))
    #expect(try archived(Text(resource)).contains(#""key""#), "this test has no tables for resources")
    #expect(try archived(Text("\(resource)")).contains(#""key""#))
    #expect(Text(.init("key")) == Text(LocalizedStringKey("key")))
  }

  @Test(.rule("WIDGET-22")) func `an image's label is translated`() throws {
    var environment = EnvironmentValues()
    environment.localize = { Self.translations[$0.key] }
    let archive = try Labelled().archived(in: environment)
    #expect(archive.arguments[.label] == "Hello")
  }

  private struct Labelled: View {
    var body: some View { Image("a", label: Text("key")) }
  }

  private func control(_ template: () -> some ControlWidgetTemplate) -> any View { template().archivedView }
}

private struct Tap: AppIntent {
  static let title: LocalizedStringResource = "Tap"
  func perform() async throws -> some IntentResult { .result() }
}

private struct Turn: SetValueIntent {
  static let title: LocalizedStringResource = "Turn"
  @Parameter(title: "On") var value: Bool
  func perform() async throws -> some IntentResult { .result() }
}
