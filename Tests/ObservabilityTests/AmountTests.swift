// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import JournalAnalysis

@Suite struct `Amounts` {
  @Test(arguments: [
    ("90s", 90.0), ("1.5h", 5400), ("7d", 604_800), ("1d12h", 129_600), ("5m30s", 330), ("0s", 0), ("0.5s", 0.5),
  ])
  func `a duration is one number with a unit, or several`(text: String, seconds: Double) {
    #expect(Amount.seconds(text) == seconds)
  }

  @Test(arguments: ["", "5", "h", "-5s", "5x", "5 s", "1d12", "nans", "infs", "1e9d"])
  func `text without a unit or a number is not a duration`(text: String) { #expect(Amount.seconds(text) == nil) }

  @Test(arguments: [("800", Int64(800)), ("50k", 50_000), ("1.5M", 1_500_000), ("2G", 2_000_000_000)])
  func `a rate is a number of bytes, or of thousands, millions or billions of bytes`(text: String, bytes: Int64) {
    #expect(Amount.bytes(text) == bytes)
  }

  @Test(arguments: ["", "k", "0", "0.1", "-5k", "5K", "fast", "1e12", "nan"])
  func `a rate below one byte or with an unknown unit is rejected`(text: String) { #expect(Amount.bytes(text) == nil) }

  @Test(arguments: [
    (0.25, "0.3 s"), (12, "12 s"), (59.97, "60 s"), (60, "1 min"), (303, "5 min 3 s"), (3599.9, "1 h"),
    (93_598, "1 d 2 h"), (86_399, "1 d"), (604_800, "7 d"), (7260, "2 h 1 min"),
    (1e308, "11574074074 d 2 h"), (.infinity, "11574074074 d 2 h"), (-1e308, "-1000000000000000 s"),
  ])
  func `a duration is printed in its two largest units`(seconds: Double, text: String) {
    #expect(Amount.text(seconds: seconds) == text)
  }

  @Test(arguments: [
    (Int64(0), "0 B"), (999, "999 B"), (1000, "1 kB"), (1234, "1.2 kB"), (9960, "10 kB"), (393_216, "393 kB"),
    (999_600, "1 MB"), (2_147_483_648, "2.1 GB"),
  ])
  func `a size is printed with two or three digits`(bytes: Int64, text: String) {
    #expect(Amount.text(bytes: bytes) == text)
  }
}
