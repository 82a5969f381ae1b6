// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing

@testable import AuthorRuntime
@testable import SwiftUI
@testable import WidgetKit

/// What WidgetKit adds to an author's views.
@Suite(.timeLimit(.minutes(1))) struct `WidgetKit in views` {
  @Test @MainActor func `a view's environment has the family, rendering mode and margins of its request`() throws {
    var request = WidgetEnvironment(family: .accessoryRectangular, width: 160, height: 72)
    request.renderingMode = .vibrant
    request.contentMargins = .init(11)
    request.appliedMargins = .init(10)
    request.showsBackground = false
    let environment = EnvironmentValues(request, .dark)
    #expect(environment.widgetFamily == .accessoryRectangular)
    #expect(environment.widgetRenderingMode == .vibrant)
    #expect(environment.widgetContentMargins == EdgeInsets(top: 11, leading: 11, bottom: 11, trailing: 11))
    #expect(environment.proposedSize == CGSize(width: 140, height: 52))
    #expect(environment.showsWidgetContainerBackground == false)
    #expect(environment.colorScheme == .dark)
    #expect(environment.locale == Locale(identifier: "en_US"))
    #expect(environment.showsWidgetLabel == false)
    #expect(environment.levelOfDetail == .default)
    let plain = EnvironmentValues(WidgetEnvironment(family: .systemSmall, width: 1, height: 1), .light)
    #expect(plain.widgetRenderingMode == .fullColor)
    #expect(WidgetRenderingMode(name: .accented) == .accented)
  }

  @Test(.rule("VIEW-11"))
  @MainActor func `an AccessoryWidgetGroup is its label above a row of its views, in each style`() throws {
    let group = AccessoryWidgetGroup {
      Text(verbatim: "1")
      Text(verbatim: "2")
    } label: {
      Text(verbatim: "Lab")
    }
    let column = VStack(spacing: 4) {
      Text(verbatim: "Lab")
      HStack(spacing: 8) {
        Text(verbatim: "1")
        Text(verbatim: "2")
      }
    }
    let environment = EnvironmentValues(
      WidgetEnvironment(family: .accessoryRectangular, width: 160, height: 72), .light)
    func archived(_ view: some View) throws -> ViewArchive {
      try view.archived(in: environment, limits: ArchiveLimits(bytes: 1 << 20))
    }
    let expected = try archived(column)
    #expect(try archived(group) == expected)
    for style in [AccessoryWidgetGroupStyle.automatic, .circular, .roundedSquare] {
      #expect(try archived(group.accessoryWidgetGroupStyle(style)) == expected)
    }
  }

  @Test(.rule("SETTING-03", "SETTING-04"), arguments: [false, true])
  @MainActor func `a view's environment has the settings of the device`(isChanged: Bool) {
    var settings = DeviceSettings(
      locale: isChanged ? "ar" : "en_US", timeZone: isChanged ? "Asia/Tokyo" : "Europe/Paris")
    if isChanged {
      settings.textSize = .accessibility2
      settings.isTextBold = true
      settings.increasesContrast = true
      settings.reducesMotion = true
      settings.reducesTransparency = true
      settings.differentiatesWithoutColor = true
      settings.isVoiceOverOn = true
    }
    let environment = EnvironmentValues(
      WidgetEnvironment(family: .systemSmall, width: 1, height: 1, settings: settings), .light)
    #expect(environment.dynamicTypeSize == (isChanged ? .accessibility2 : .large))
    #expect(environment.legibilityWeight == (isChanged ? .bold : .regular))
    #expect(environment.colorSchemeContrast == (isChanged ? .increased : .standard))
    #expect(environment.accessibilityReduceMotion == isChanged)
    #expect(environment.accessibilityReduceTransparency == isChanged)
    #expect(environment.accessibilityDifferentiateWithoutColor == isChanged)
    #expect(environment.accessibilityVoiceOverEnabled == isChanged)
    #expect(environment.layoutDirection == (isChanged ? .rightToLeft : .leftToRight))
    #expect(environment.locale.identifier == settings.locale)
    #expect(environment.calendar.locale?.identifier == settings.locale)
    #expect(environment.timeZone.identifier == settings.timeZone)
    #expect(environment.calendar.timeZone == environment.timeZone)
  }

  @Test @MainActor func `WidgetKit's view modifiers are archived with their names and arguments`() throws {
    let view = Text(verbatim: "x")
      .widgetURL(URL(string: "app://coffee"))
      .widgetAccentable()
      .widgetCurvesContent(false)
      .widgetLabel("label")
      .widgetLabel { Text(verbatim: "built") }
    let archive = try view.archived(in: EnvironmentValues())
    let names = ["widgetURL", "widgetAccentable", "widgetCurvesContent", "widgetLabel", "widgetLabel"]
    #expect(archive.modifiers.map(\.name.rawValue) == names)
    #expect(archive.modifiers[0].arguments == [.url: "app://coffee"])
    #expect(archive.modifiers[1].arguments == [.accentable: true])
    #expect(archive.modifiers[2].arguments == [.curvesContent: false])
    #expect(archive.modifiers.flatMap(\.views).flatMap(\.lines) == ["label", "built"])
    let image = try Image(systemName: "cup").widgetAccentedRenderingMode(.desaturated).archived(in: EnvironmentValues())
    #expect(image.modifiers.last == .init(.effect(.widgetAccentedRenderingMode), [.mode: "desaturated"]))
  }

  @Test @MainActor func `AccessoryWidgetBackground is empty outside the accessory families`() throws {
    var environment = EnvironmentValues()
    environment.widgetFamily = .accessoryCircular
    #expect(try AccessoryWidgetBackground().archived(in: environment).name == .fill(.accessoryWidgetBackground))
    environment.widgetFamily = .systemSmall
    #expect(try AccessoryWidgetBackground().archived(in: environment) == .empty)
  }

  @Test func `a view with a container background is not reported as a fault`() async throws {
    let fixture = try await SDKFixture.serving { Backed().descriptions + Backed(isBuilt: true).descriptions }
    for _ in 1...2 { _ = try await fixture.ask("Styled") }
    _ = try await fixture.ask("Built")
    #expect(await fixture.sent(FaultNoticed.self).isEmpty)
  }

  @Test func `a text is formatted in the locale of its request`() async throws {
    let fixture = try await SDKFixture.serving { Backed().descriptions }
    let request = RequestTimeline(
      widgetKind: "Styled", because: .operator,
      environment: WidgetEnvironment(
        family: .systemSmall, width: 1, height: 1, settings: DeviceSettings(locale: "de_DE")))
    let reply = try await fixture.host.connection.request(request, to: SDKFixture.widget)
    #expect(reply.entries.map(\.view.lines) == [["1.234 cups"]])
  }
}

private struct Backed: Widget {
  var isBuilt = false

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: isBuilt ? "Built" : "Styled", provider: OneEntry()) { [isBuilt] _ in
      if isBuilt {
        Text("built").containerBackground(for: .widget) { Text(verbatim: "behind") }
      } else {
        Text("\(1234) cups").containerBackground(.red, for: .widget)
      }
    }
  }
}
