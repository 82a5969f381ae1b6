// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FidelityRules
import Foundation
import JournalAnalysis
import Messages
import Testing

@testable import WidgetLab

@Suite struct `Device commands` {
  @Test(.rule("CLOCK-04")) func `the clock command parses ask, hold, run, advance, reset, rate and set`() throws {
    #expect(try ClockCommand.parse([]).change() == .ask)
    #expect(try ClockCommand.parse(["hold"]).change() == .hold)
    #expect(try ClockCommand.parse(["run"]).change() == .run)
    #expect(try ClockCommand.parse(["advance", "1d12h"]).change() == .advance(129_600))
    #expect(try ClockCommand.parse(["reset"]).change() == .reset)
    #expect(try ClockCommand.parse(["rate", "3600"]).change() == .rate(3600))
    #expect(try ClockCommand.parse(["rate", "0.001"]).change() == .rate(0.001))
    #expect(try ClockCommand.parse(["rate", "100000"]).change() == .rate(100_000))
    let morning = Date(timeIntervalSince1970: 1_772_344_800)
    #expect(try ClockCommand.parse(["set", "2026-03-01T06:00:00Z"]).change() == .set(morning))
    #expect(try ClockCommand.parse(["set", "2026-03-01T07:00:00+01:00"]).change() == .set(morning))
  }

  @Test(arguments: [
    ["advance"], ["advance", "soon"], ["hold", "5s"], ["back"], ["advance", "-5s"], ["set"], ["set", "noon"], ["rate"],
    ["rate", "0"], ["rate", "0.0009"], ["rate", "100001"], ["rate", "fast"], ["run", "2"],
  ])
  func `the clock command rejects missing and invalid arguments`(arguments: [String]) {
    #expect(throws: (any Error).self) { try ClockCommand.parse(arguments) }
  }

  private func network(_ arguments: String..., after now: NetworkState = NetworkState()) throws -> NetworkState? {
    try NetworkCommand.parse(arguments).wanted(now)
  }

  @Test(.rule("INLINE-07")) func `the network command sets the path and keeps the settings that it does not name`()
    throws
  {
    let slow = NetworkState(path: .cellular, rate: 50_000)
    #expect(try network(after: slow) == nil)
    #expect(try network("off", after: slow) == NetworkState(path: .off))
    #expect(try network("on", after: slow) == NetworkState())
    #expect(try network("wifi", after: slow) == NetworkState())
    #expect(try network("cellular") == NetworkState(path: .cellular))
    #expect(try network("slow", "1M", after: slow) == NetworkState(path: .cellular, rate: 1_000_000))
    #expect(try network("slow", "800", after: NetworkState(path: .off)) == NetworkState(path: .wifi, rate: 800))
    let lowData = NetworkState(path: .cellular, rate: 500, isConstrained: true)
    #expect(try network("--low-data", after: NetworkState(path: .cellular, rate: 500)) == lowData)
    #expect(try network("cellular", after: lowData) == NetworkState(path: .cellular, isConstrained: true))
    #expect(try network("slow", "1k", "--no-low-data", after: lowData) == NetworkState(path: .cellular, rate: 1000))
    #expect(lowData.text == "cellular, 500 B/s, Low Data Mode")
  }

  @Test(arguments: [["slow"], ["slow", "soon"], ["on", "50k"], ["5g"], ["slow", "0"]])
  func `the network command rejects a slow network without a rate, and a rate for any other network`(
    arguments: [String]
  ) {
    #expect(throws: (any Error).self) { try NetworkCommand.parse(arguments) }
  }

  @Test func `the clock state is described in words`() {
    func text(_ offset: Double, isHeld: Bool = false, rate: Double = 1) -> String {
      ClockState(now: Date(timeIntervalSince1970: 1_795_262_400), isHeld: isHeld, offset: offset, rate: rate).text
    }
    #expect(text(0.001) == "2026-11-21 12:00:00Z, running, same as this machine's")
    #expect(text(90_000, isHeld: true) == "2026-11-21 12:00:00Z, held, 1 d 1 h ahead of this machine's")
    #expect(text(-90) == "2026-11-21 12:00:00Z, running, 1 min 30 s behind this machine's")
    #expect(
      text(3600, rate: 3600) == "2026-11-21 12:00:00Z, running, 3600 times as fast, 1 h ahead of this machine's")
    #expect(text(60, rate: 0.5) == "2026-11-21 12:00:00Z, running, 0.5 times as fast, 1 min ahead of this machine's")
    #expect(
      ClockProgress.summary(of: 86_400, in: 12.34) == "1 d in 12.3 s of this machine's time: 7002 times as fast")
  }
}
