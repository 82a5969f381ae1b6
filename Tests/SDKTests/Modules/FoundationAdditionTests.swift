// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import FoundationAdditions
import Testing

/// What Foundation has on Apple's systems and not on Linux.
@Suite(.timeLimit(.minutes(1))) struct `Foundation's missing names` {
  private typealias Style = FoundationAdditions.DateComponentsFormatter.UnitsStyle

  private func duration(
    _ seconds: TimeInterval, style: FoundationAdditions.DateComponentsFormatter.UnitsStyle, units: NSCalendar.Unit,
    change: (FoundationAdditions.DateComponentsFormatter) -> Void = { _ in }
  ) -> String? {
    let formatter = FoundationAdditions.DateComponentsFormatter()
    formatter.unitsStyle = style
    formatter.allowedUnits = units
    formatter.calendar?.locale = Locale(identifier: "en_US")
    change(formatter)
    return formatter.string(from: seconds)
  }

  // The linker's flags make them those of `ProcessInfo`.
  @Test(
    .rule("PROCESS-28"),
    arguments: [("26.0", "Version 26.0"), ("17.4.1", "Version 17.4.1"), ("18", "Version 18.0")])
  func `the system's version is compared by its parts`(version: String, text: String) {
    let system = OperatingSystemVersion(text: version)
    let next = OperatingSystemVersion(
      majorVersion: system.majorVersion, minorVersion: system.minorVersion, patchVersion: system.patchVersion + 1)
    #expect(system.text == text)
    #expect(system.isAtLeast(system))
    #expect(system.isAtLeast(OperatingSystemVersion(text: "17.0")))
    #expect(!system.isAtLeast(next))
    #expect(next.isAtLeast(system))
    #expect(!system.isAtLeast(OperatingSystemVersion(text: "27.0")))
  }

  @Test(.rule("PROCESS-28")) func `without a version of a device it is the newest`() {
    #expect(operatingSystemVersion().majorVersion == 26)
    #expect(operatingSystemVersionString() == "Version 26.0")
    #expect(isOperatingSystemAtLeast(OperatingSystemVersion(text: "17")))
  }

  @Test func `durations are formatted in each style`() {
    let seconds = 9 * 3600 + 41 * 60 + 30.0
    let units: NSCalendar.Unit = [.hour, .minute, .second]
    #expect(duration(seconds, style: .positional, units: units) == "9:41:30")
    #expect(duration(seconds, style: .abbreviated, units: units) == "9h 41m 30s")
    #expect(duration(seconds, style: .short, units: units) == "9 hr, 41 min, 30 sec")
    #expect(duration(seconds, style: .full, units: units) == "9 hours, 41 minutes, 30 seconds")
    #expect(duration(seconds, style: .spellOut, units: [.hour]) == "nine hours")
  }

  @Test func `a class gives itself, and a serial queue has its name of Objective-C`() {
    final class Protocol: NSObject {}
    #expect(Protocol.classForCoder() == Protocol.self)
    #expect(OS_dispatch_queue_serial(label: "a").label == "a")
    #expect(CGFloat(truncating: 1.5 as NSNumber) == 1.5)
  }

  @Test func `the process is that of a phone`() {
    #expect(!ProcessInfo.processInfo.isiOSAppOnMac && !ProcessInfo.processInfo.isMacCatalystApp)
  }

  @Test func `zeros are dropped or padded, and the number of units is limited`() {
    #expect(duration(65, style: .positional, units: [.hour, .minute, .second]) == "1:05")
    #expect(
      duration(65, style: .positional, units: [.minute, .second]) { $0.zeroFormattingBehavior = .pad } == "01:05")
    #expect(duration(3600, style: .abbreviated, units: [.hour, .minute]) == "1h")
    #expect(duration(0, style: .abbreviated, units: [.hour, .minute]) == "0m")
    #expect(duration(90061, style: .full, units: [.day, .hour, .minute]) { $0.maximumUnitCount = 1 } == "1 day")
    #expect(duration(-65, style: .positional, units: [.minute, .second]) == "-1:05")
  }

  @Test func `a date is formatted relative to another`() {
    let formatter = RelativeDateTimeFormatter()
    formatter.locale = Locale(identifier: "en_US")
    let now = Date(timeIntervalSinceReferenceDate: 0)
    #expect(formatter.localizedString(for: now - 3600, relativeTo: now) == "1 hour ago")
    #expect(formatter.localizedString(for: now + 7200, relativeTo: now) == "in 2 hours")
    formatter.unitsStyle = .abbreviated
    #expect(formatter.localizedString(for: now - 3600, relativeTo: now) == "1h ago")
    formatter.unitsStyle = .full
    formatter.dateTimeStyle = .named
    #expect(formatter.localizedString(for: now + 86400, relativeTo: now) == "tomorrow")
  }

  @Test func `texts are joined`() {
    let formatter = ListFormatter()
    formatter.locale = Locale(identifier: "en_US")
    #expect(formatter.string(from: ["a", "b", "c"]) == "a, b, and c")
  }

  @Test func `measurements have the units of the region`() {
    let formatter = FoundationAdditions.MeasurementFormatter()
    formatter.locale = Locale(identifier: "en_US")
    #expect(formatter.string(from: Measurement(value: 0, unit: UnitTemperature.celsius)) == "32°F")
    formatter.unitOptions = [.providedUnit]
    #expect(formatter.string(from: Measurement(value: 1.5, unit: UnitLength.kilometers)) == "1.5 km")
    let speed = Measurement(value: 36, unit: UnitSpeed.kilometersPerHour)
    let style = Measurement<UnitSpeed>.FormatStyle(width: .abbreviated, locale: Locale(identifier: "de_DE"))
    #expect(speed.formatted(style) == "36 km/h")
    let hot = Measurement(value: 20.4, unit: UnitTemperature.celsius)
    let whole = FloatingPointFormatStyle<Double>.number.precision(.fractionLength(0))
    #expect(
      hot.formatted(
        Measurement<UnitTemperature>.FormatStyle(
          width: .narrow, locale: Locale(identifier: "de_DE"), numberFormatStyle: whole)) == "20°")
  }

  @Test func `a measurement is formatted as an author writes it`() {
    let german = Locale(identifier: "de_DE")
    let hot = Measurement(value: 20.4, unit: UnitTemperature.celsius)
    let weather = hot.formatted(
      .measurement(width: .narrow, usage: .weather, numberFormatStyle: .number.precision(.significantDigits(2))))
    #expect(weather.hasSuffix("°"))
    #expect(hot.formatted(.measurement(width: .abbreviated, usage: .person, hidesScaleName: true)).hasSuffix("°"))
    let way = Measurement(value: 5, unit: UnitLength.kilometers)
    #expect(way.formatted(.measurement(width: .narrow, usage: .asProvided).locale(german)) == "5km")
    #expect(way.formatted(.measurement(width: .wide, usage: .road, numberFormatStyle: .number)).isEmpty == false)
  }

  @Test func `Markdown becomes attributes`() throws {
    let text = try AttributedString(markdown: "a **bold** _word_ `x*y` [link](https://example.com) \\*snake_case_name")
    #expect(String(text.characters) == "a bold word x*y link *snake_case_name")
    let found = text.runs.map { (String(text[$0.range].characters), $0.inlinePresentationIntent, $0.link) }
    #expect(found.contains { $0.0 == "bold" && $0.1 == .stronglyEmphasized })
    #expect(found.contains { $0.0 == "word" && $0.1 == .emphasized })
    #expect(found.contains { $0.0 == "x*y" && $0.1 == .code })
    #expect(found.contains { $0.0 == "link" && $0.2 == URL(string: "https://example.com") })
  }

  @Test func `notifications are a sequence`() async {
    let name = Notification.Name("FoundationAdditionTests")
    var iterator = NotificationCenter.default.notifications(named: name).makeAsyncIterator()
    NotificationCenter.default.post(name: name, object: nil, userInfo: ["n": 1])
    #expect(await iterator.next()?.userInfo?["n"] as? Int == 1)
  }

  @Test func `constants and functions of Darwin have their values`() {
    #expect(NSEC_PER_SEC == 1_000_000_000)
    #expect(autoreleasepool { 7 } == 7)
    #expect(abs(CFAbsoluteTimeGetCurrent() - Date().timeIntervalSinceReferenceDate) < 60)
  }
}
