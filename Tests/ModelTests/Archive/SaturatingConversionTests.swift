// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Archive

/// Numbers from outside, which are any that a `Double` can be.
@Suite struct `Numbers beyond an integer` {
  @Test func `a number that an integer cannot have becomes the nearest one`() {
    #expect(Int(saturating: 1e308) == .max && Int(saturating: -1e308) == .min)
    #expect(Int(saturating: .infinity) == .max && Int(saturating: -.infinity) == .min && Int(saturating: .nan) == 0)
    #expect(Int(saturating: 2.9) == 2 && Int(saturating: -2.9) == -2)
    #expect(UInt32(saturating: -1) == 0 && UInt32(saturating: 1e10) == .max && UInt8(saturating: 255.9) == 255)
    #expect(Int64(saturating: 9_223_372_036_854_775_808) == .max)
  }

  @Test func `a duration of any number of seconds can be added to the present`() {
    let now = ContinuousClock.now
    for seconds in [Double.nan, .infinity, -.infinity, 1e308, -1e308] {
      _ = now + .saturating(seconds: seconds)
    }
    #expect(Duration.saturating(seconds: 1.5) == .milliseconds(1500) && Duration.saturating(seconds: .nan) == .zero)
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan, 1e308, -1e308])
  func `a text that counts to a date beyond all calendars is drawn`(seconds: Double) {
    let (date, appearance) = (Date(timeIntervalSinceReferenceDate: seconds), ScreenAppearance(now: .distantPast))
    for text in [LiveText.date(date, style: "relative"), .date(date, style: "offset"), .date(date, style: "timer")] {
      #expect(!text.text(appearance).isEmpty)
    }
    let system = [
      LiveText.offset(to: date, units: ["minute", "second"], count: 2, sign: "always"),
      .offset(to: date, units: [], count: 9, sign: "automatic"),
      .reference(to: date, units: [], count: 2, threshold: "day"),
    ]
    for text in system { #expect(!text.text(appearance).isEmpty) }
    let timer = LiveText.timer(from: .distantPast, to: date, paused: nil, countsDown: true, showsHours: true)
    #expect(!timer.text(appearance).isEmpty)
  }

  @Test func `a colour whose parts are no numbers is printed`() {
    let colour = ViewArchive(
      .fill(.color), [.red: .number(.nan), .green: .number(.infinity), .blue: .number(-1e308)])
    #expect(!colour.indented(ScreenAppearance(now: .distantPast)).isEmpty)
  }
}
