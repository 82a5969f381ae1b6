// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Messages
import Testing

@testable import HostSystem

@Suite struct `Events of the device for an app` {
  @Test(.rule("DELIVERY-36")) func `a lock, an unlock and a new time are events, and other changes are not`() {
    #expect(DeviceEventNotice.Event(.lock, wasLocked: false, isLocked: true) == .locked)
    #expect(DeviceEventNotice.Event(.restart, wasLocked: false, isLocked: true) == .locked)
    #expect(DeviceEventNotice.Event(.lock, wasLocked: true, isLocked: true) == nil)
    #expect(DeviceEventNotice.Event(.unlock, wasLocked: true, isLocked: false) == .unlocked)
    #expect(DeviceEventNotice.Event(.system("time"), wasLocked: true, isLocked: true) == .timeChanged)
    #expect(DeviceEventNotice.Event(.system("account"), wasLocked: false, isLocked: false) == nil)
  }
}
