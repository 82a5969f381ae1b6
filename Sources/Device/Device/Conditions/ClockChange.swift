// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
package import Messages
import Timekeeping

extension DeviceConditionsStateMachine {
  /// Why a change of the clock is refused; `nil` when it can be applied.
  package static func refusal(of change: SetClock.Change) -> BusError? {
    switch change {
    case .ask, .hold, .run, .reset: return nil
    case .set(let date):
      guard !ClockSetting.instants.contains(date) else { return nil }
      return BusError(.malformed, "the clock can be set to a time from 2001-09-09 to 2199-12-31, not to \(date)")
    case .rate(let rate):
      guard !ClockSetting.rates.contains(rate) else { return nil }
      return BusError(
        .malformed, "the clock's rate must be 0.001 to 100000, not \(rate); hold the clock to stop it")
    case .advance(let seconds):
      guard !(0...1e9).contains(seconds) else { return nil }
      return BusError(.malformed, "the clock can be advanced by 0 to 1000000000 seconds, not by \(seconds)")
    }
  }
}
