// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@testable import AppIntents

private enum Page: String, CaseDisplayRepresentable, AppEnum {
  case one, two
  static let typeDisplayRepresentation: TypeDisplayRepresentation = "Page"
  static let caseDisplayRepresentations: [Page: DisplayRepresentation] = [
    .one: DisplayRepresentation(title: "One", image: .init(named: "one", isTemplate: true)), .two: "Two",
  ]
}

/// An intent whose summaries depend on its parameters, in Apple's forms.
private struct Turn: AppIntent {
  static let title: LocalizedStringResource = "Turn"
  @Parameter(title: "Page", default: .one) var page: Page
  @Parameter(title: "Count") var count: Int?
  @Parameter(title: "Limit", default: 3) var limit: Int
  @Parameter(title: "On", default: true) var isOn: Bool

  static var parameterSummary: some ParameterSummary {
    When(\.$isOn, .equalTo, true) {
      When(widgetFamily: .equalTo, .systemSmall) {
        Summary("Turn \(\.$page)")
      } otherwise: {
        When(\.$count, .hasAnyValue) {
          Summary("Turn \(\.$page)") { \.$count }
        } otherwise: {
          When(\.$page, .oneOf, [.one, .two]) {
            When(\.$limit, .greaterThan, 2) {
              Summary("Turn")
            } otherwise: {
              Summary()
            }
          } otherwise: {
            Summary { \.$limit }
          }
        }
      }
    } otherwise: {
      Switch(\.$page) {
        Case(.one) { Summary("Turn \(\.$page)") }
        Case([.two]) { Summary() }
        DefaultCase { Summary() }
      }
    }
  }

  func perform() async throws -> some IntentResult { .result() }
}

private struct Starts: LiveActivityStartingIntent {
  static let title: LocalizedStringResource = "Start"
  func perform() async throws -> some IntentResult { .result() }
}

private struct Shows: AppIntent {
  static let title: LocalizedStringResource = "Show"
  static let supportedModes: IntentModes = [.background, .foreground(.immediate)]
  func perform() async throws -> some IntentResult { .result() }
}

private struct MayShow: AppIntent {
  static let title: LocalizedStringResource = "May show"
  static let supportedModes: IntentModes = [.background, .foreground(.dynamic)]
  func perform() async throws -> some IntentResult { .result() }
}

private struct OpensBefore: AppIntent {
  static let title: LocalizedStringResource = "Opens before"
  static let openAppWhenRun = true
  static let supportedModes: IntentModes = .background
  func perform() async throws -> some IntentResult { .result() }
}

private struct Shortcuts: AppShortcutsProvider {
  static var appShortcuts: [AppShortcut] {
    AppShortcut(
      intent: Turn(), phrases: ["Turn in \(.applicationName)", "Turn \(\.$page) in \(.applicationName)"],
      shortTitle: "Turn", systemImageName: "book")
    AppShortcut(intent: Starts(), phrases: ["Start \(.applicationName)"])
  }
}

private struct Weather: TransientAppEntity {
  static let typeDisplayRepresentation: TypeDisplayRepresentation = "Weather"
  var displayRepresentation: DisplayRepresentation { "Sunny" }
}

@Suite(.timeLimit(.minutes(1))) struct `Declarations of intents that only the system shows` {
  @Test(.rule("GALLERY-36")) func `an intent with an immediate foreground mode opens the app`() {
    #expect(Shows.opensApp && Shows.runsInApp)
    #expect(!MayShow.opensApp && MayShow.runsInApp)
    #expect(!Turn.opensApp && Turn.supportedModes == .background)
  }

  @Test(.rule("GALLERY-36")) func `supportedModes replaces openAppWhenRun since iOS 26`() {
    #expect(OpensBefore.modes(on: 26) == .background && OpensBefore.modes(on: 18) == .foreground)
    #expect(MayShow.modes(on: 26).isForeground && MayShow.modes(on: 18) == .background)
    #expect(!OpensBefore.opensApp && !OpensBefore.runsInApp)
  }

  @Test func `shortcuts and transient entities are accepted`() {
    #expect(Shortcuts.appShortcuts.count == 2)
    #expect(Weather()._title == "Sunny")
  }

  @Test func `conditions of a summary change no parameter of the configuration`() async {
    let declaration = await Turn.declaration(asking: nil)
    #expect(declaration.parameters.map(\.name) == ["page", "count", "limit", "isOn"])
    #expect(!Turn.runsInApp)
  }

  @Test func `a case has the title of its display representation`() {
    #expect(Page.one.displayRepresentation.title.resolved() == "One")
    #expect(Page.two._title == "Two")
  }

  @Test(.rule("GALLERY-37")) func `the earlier form of LiveActivityIntent is performed in the app`() {
    #expect(Starts.runsInApp && !Starts.opensApp)
  }
}
