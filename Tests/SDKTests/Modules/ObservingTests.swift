// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import SecurityAPI
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import FoundationAdditions
@testable import MediaPlayer

private final class Account: NSObject, Sendable {
  let total = 5
}

@Suite(.timeLimit(.minutes(1))) struct `What needs Objective-C or a speaker` {
  @Test(.rule("DIAGNOSIS-11")) @MainActor
  func `observing a property calls with the first value only, and is reported`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    fixture.process.asCurrent {
      let account = Account()
      var seen: [Int?] = []
      account.observe(\.total, options: [.initial, .new]) { seen.append($1.newValue) }.invalidate()
      _ = account.observe(\.total, options: .initial) { seen.append($1.newValue) }
      _ = account.observe(\.total, options: .new) { _, _ in seen.append(0) }
      #expect(seen == [5, nil])
      account.addObserver(account, forKeyPath: "total", options: .new, context: nil)
      account.removeObserver(account, forKeyPath: "total")
    }
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }
    #expect(
      reported.map(\.subject) == ["observe(_:options:changeHandler:)", "addObserver(_:forKeyPath:options:context:)"])
  }

  @Test(.rule("DIAGNOSIS-11")) @MainActor
  func `a view for the volume has no slider, and is reported`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    fixture.process.asCurrent { #expect(MPVolumeView().subviews.isEmpty) }
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }
    #expect(reported.map(\.subject) == ["MPVolumeView"])
  }

  @Test @MainActor func `a slider keeps a value within its limits`() {
    let slider = UISlider()
    slider.setValue(2, animated: true)
    #expect(slider.value == 1)
  }

  @Test func `a timer of Core Foundation is one of Foundation`() {
    let date = Date().timeIntervalSinceReferenceDate + 60
    let timer: Timer? = CFRunLoopTimerCreateWithHandler(kCFAllocatorDefault, date, 0, 0, 0) { _ in }
    #expect(timer?.fireDate.timeIntervalSinceReferenceDate == date)
    CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .commonModes)
    CFRunLoopTimerInvalidate(timer)
    #expect(timer?.isValid == false)
  }
}
