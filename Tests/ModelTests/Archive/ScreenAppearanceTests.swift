// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import Archive

@Suite struct `Archived views on a screen` {
  private let now = Date(timeIntervalSince1970: 1_000_000)

  private func live(_ arguments: ArchivedArguments) -> ViewArchive { ViewArchive(.leaf(.text), arguments) }

  @Test(
    .rule("VIEW-09"),
    arguments: [
      ("time", -3600, "12:46 PM"), ("date", 0, "January 12, 1970"), ("relative", -8100, "2 hr, 15 min"),
      ("relative", 674, "11 min, 14 sec"), ("relative", 34_300_000, "1 yr, 1 mth"),
      ("relative", 864_000, "1 wk, 3 days"),
      ("offset", 674, "-11 minutes"), ("offset", -7200, "+2 hours"), ("offset", 7_776_000, "-3 months"),
      ("offset", -60, "+1 minute"), ("offset", -1_209_600, "+2 weeks"), ("offset", 70_000_000, "-2 years"),
      ("offset", 0.2, "+0 seconds"), ("timer", 3723, "1:02:03"), ("timer", -65, "1:05"),
    ])
  func `a dynamic date text is rendered for the current time in each of its styles`(
    style: String, distance: Double, text: String
  ) {
    let view = live([.date: .date(now + distance), .style: .string(style)])
    let read = view.lines(ScreenAppearance(now: now)).map { $0.replacing("\u{202F}", with: " ") }
    #expect(read == [text])
  }

  @Test(
    .rule("VIEW-17"),
    arguments: [
      (["minute", "second"], 2, "automatic", -332, "5:32"),
      (["hour", "minute", "second"], 3, "automatic", 3_932, "−1:05:32"),
      (["hour", "minute"], 2, "always", -3_900, "+1 hour, 5 minutes"),
      (["hour", "minute"], 2, "never", 300, "5 minutes"),
      (["day", "hour", "minute"], 2, "automatic", -183_660, "2 days, 3 hours"),
      (["minute", "second"], 1, "always", 0, "0 seconds"), (["second"], 2, "alwaysIncludingZero", 0, "+0 seconds"),
    ])
  func `a text of the current date has the distance to a date in its units`(
    units: [String], count: Int, sign: String, ahead: Double, text: String
  ) {
    let view = live([
      .format: "offset", .date: .date(now + ahead), .fields: .list(units.map { .string($0) }),
      .count: .number(Double(count)), .sign: .string(sign),
    ])
    #expect(view.lines(ScreenAppearance(now: now)) == [text])
  }

  @Test(
    .rule("VIEW-17"),
    arguments: [
      (2, "day", 30, "now"), (2, "day", 300, "in 5 minutes"), (2, "day", -259_200, "3 days ago"),
      (2, "day", 86_400, "tomorrow"), (2, "day", 2_332_800, "in 27 days"),
      (2, "day", 3_456_000, "Saturday, February 21"), (2, "day", 43_200_000, "May 1971"),
      (3, "day", 43_200_000, "May 27, 1971"), (2, "hour", 10_800, "in 3 hours"),
    ])
  func `a text of the current date refers to a near date by the distance, and to another one by its name`(
    count: Int, threshold: String, ahead: Double, text: String
  ) {
    let fields = ["year", "month", "day", "hour", "minute"].map { ArchivedValue.string($0) }
    let view = live([
      .format: "reference", .date: .date(now + ahead), .fields: .list(fields), .count: .number(Double(count)),
      .thresholdField: .string(threshold),
    ])
    #expect(view.lines(ScreenAppearance(now: now)) == [text])
  }

  @Test(
    .rule("VIEW-09"),
    arguments: [
      ("de_DE", "relative", 7500, "2 Std., 5 Min."), ("de_DE", "offset", 674, "-11 Minuten"),
      ("fr_FR", "relative", 864_000, "1 sem. et 3 j"), ("es_ES", "offset", -7200, "+2 horas"),
      ("ja_JP", "relative", 7500, "2時間 5分"), ("de_DE", "offset", 7_776_000, "-3 months"),
    ])
  func `a dynamic date text has the units of the device's language, and English ones for years and months`(
    locale: String, style: String, distance: Double, text: String
  ) {
    let view = live([.date: .date(now + distance), .style: .string(style)])
    let shown = view.lines(ScreenAppearance(now: now, locale: Locale(identifier: locale)))
    #expect(shown.map { $0.replacing(/[\u{A0}\u{202F}]/, with: " ") } == [text])
  }

  @Test(.rule("VIEW-09")) func `a timer text counts up or down within its interval and stops at its pause time`() {
    var arguments: ArchivedArguments = [.timerInterval: .list([.date(now - 10), .date(now + 50)])]
    #expect(live(arguments).lines(ScreenAppearance(now: now)) == ["0:50"])
    #expect(live(arguments).lines(ScreenAppearance(now: now + 100)) == ["0:00"])
    arguments[.countsDown] = false
    #expect(live(arguments).lines(ScreenAppearance(now: now)) == ["0:10"])
    arguments[.pauseTime] = .date(now - 5)
    #expect(live(arguments).lines(ScreenAppearance(now: now)) == ["0:05"])
  }

  private let wallet = ViewArchive(
    .container(.vStack),
    children: [
      .text("Balance"),
      ViewArchive(.leaf(.text), [.text: "12,345"], modifiers: [.init(.silent(.privacySensitive))]),
      ViewArchive(.leaf(.image), [.systemName: "star"]),
      ViewArchive(.leaf(.text), [.text: "Bank"], modifiers: [.init(.silent(.unredacted))]),
    ],
    modifiers: [
      .init(
        .layout(.containerBackground), [.placement: "widget"], views: [ViewArchive(.fill(.color), [.color: "red"])])
    ])

  @Test(.rule("VIEW-15")) func `an accented place shows the group of each view instead of the author's colours`() {
    func image(_ mode: String?) -> ViewArchive {
      let modifiers = mode.map { [ViewArchive.Modifier(.effect(.widgetAccentedRenderingMode), [.mode: .string($0)])] }
      return ViewArchive(.leaf(.image), [.systemName: "star"], modifiers: modifiers ?? [])
    }
    let view = ViewArchive(
      .container(.vStack),
      children: [
        ViewArchive(
          .container(.hStack), children: [.text("12"), image(nil), image("desaturated")],
          modifiers: [.init(.effect(.widgetAccentable))]),
        ViewArchive(.leaf(.text), [.text: "cups"], modifiers: [.init(.style(.foregroundStyle), [.style: "red"])]),
        ViewArchive(
          .leaf(.text), [.text: "not"], modifiers: [.init(.effect(.widgetAccentable), [.accentable: false])]),
        image(nil), image("accented"), image("accentedDesaturated"), image("fullColor"), ViewArchive(.leaf(.spacer)),
      ])
    let drawn = view.indented(ScreenAppearance(now: now, isAccented: true)).split(separator: "\n").map { line in
      line.components(separatedBy: ".drawn(").dropFirst().first.map { String($0.prefix { $0 != ")" }) } ?? "-"
    }
    #expect(
      drawn == [
        "-", "-", "accent", "accent", "default by luminance", "default", "default", "default", "accent",
        "accent by luminance", "fullColor", "-",
      ])
    #expect(!view.indented(ScreenAppearance(now: now, isAccented: true)).contains("foregroundStyle"))
    let plain = view.indented(ScreenAppearance(now: now))
    #expect(plain.contains("foregroundStyle(red)") && !plain.contains("drawn"))
  }

  @Test(.rule("VIEW-10")) func `a locked screen hides privacy-sensitive texts and nothing else`() {
    #expect(
      wallet.indented(ScreenAppearance(now: now, hidesPrivate: true)).split(separator: "\n") == [
        "VStack .containerBackground(Color(red))", "  Text \"Balance\"", "  Text ▒▒▒▒▒▒ .privacySensitive",
        "  Image(systemName: star)", "  Text \"Bank\" .unredacted",
      ])
  }

  @Test func `hiding private content replaces only privacy-sensitive views, and doing it twice changes nothing`() {
    let timer: ArchivedArguments = [.date: .date(now + 60), .style: "timer"]
    var secret = ViewArchive(.leaf(.text), timer, modifiers: [.init(.accessibility(.label), [.label: "a minute"])])
    secret.modifiers.append(.init(.silent(.privacySensitive)))
    let toggle = ViewArchive(
      .control(.toggle), [.isOn: false], children: [.text("on"), secret, ViewArchive(.leaf(.text), timer)])
    let locked = ScreenAppearance(now: now, hidesPrivate: true, showsBackground: false)
    let hidden = toggle.hiding(locked)
    #expect(hidden.children.map(\.name.rawValue) == ["Text", "Text", "Text"])
    #expect(hidden.children[0] == .text("on") && hidden.children[2] == ViewArchive(.leaf(.text), timer))
    #expect(hidden.children[1].arguments == [.text: "▒▒▒▒"])
    #expect(hidden.children[1].modifiers.map(\.name.rawValue) == ["privacySensitive"])
    #expect(wallet.hiding(locked).hasContainerBackground)
    #expect(hidden.hiding(locked) == hidden)
    #expect(toggle.hiding(ScreenAppearance(now: now)) == toggle)
  }

  @Test(.rule("VIEW-10")) func `a placeholder redacts every text and image except unredacted views`() {
    let lines = wallet.lines(ScreenAppearance(now: now, isPlaceholder: true))
    #expect(lines == ["▒▒▒▒▒▒▒", "▒▒▒▒▒▒", "▒▒", "Bank"])
    let part = ViewArchive(
      .container(.hStack), children: [.text("ab")], modifiers: [.init(.silent(.redacted), [.reason: "placeholder"])])
    #expect(part.lines(ScreenAppearance(now: now)) == ["▒▒"])
    for count in [23, 24, 25, 1_000] {
      let long = ViewArchive.text(String(repeating: "a", count: count))
      #expect(
        long.lines(ScreenAppearance(now: now, isPlaceholder: true)) == [String(repeating: "▒", count: min(count, 24))])
    }
  }

  @Test func `a view in a place without backgrounds omits its container background`() {
    #expect(wallet.hasContainerBackground)
    let shown = wallet.shown(ScreenAppearance(now: now, showsBackground: false))
    #expect(!shown.hasContainerBackground)
  }

  @Test(.rule("VIEW-06")) func `a toggle shows only the label of its current state`() {
    func state(_ isOn: Bool) -> ViewArchive {
      ViewArchive(.control(.toggleState), [.isOn: .bool(isOn)], children: [.text(isOn ? "on" : "off")])
    }
    let toggle = ViewArchive(.control(.toggle), [.isOn: false], children: [state(true), state(false)])
    #expect(toggle.lines == ["off"])
    #expect(toggle.indented(ScreenAppearance(now: now)) == "Toggle(isOn: false)\n  Text \"off\"")
  }
}
