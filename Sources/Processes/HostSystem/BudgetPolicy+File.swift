// SPDX-License-Identifier: Apache-2.0

package import Cluster
import Device
package import DeviceRules

extension BudgetPolicy {
  /// The policy of a file; missing keys have the values of the built-in `standard`.
  package init(_ file: BudgetFile) {
    self.init()
    name = file.name ?? name
    perDay = file.hasNoBudget ? nil : file.perDay ?? perDay
    initial = file.initial ?? initial
    burst = file.burst ?? burst
    minimumSpacing = file.minimumSpacing ?? minimumSpacing
    window = file.window ?? window
    hours = file.hours ?? hours
    utcOffset = file.utcOffset ?? utcOffset
    unseenAfter = file.unseenAfter ?? unseenAfter
    unseenFactor = file.unseenFactor ?? unseenFactor
    staleAfter = file.staleAfter ?? staleAfter
    standByEvery = file.hasNoStandBy ? nil : file.standByEvery ?? standByEvery
    learningDays = file.learningDays ?? learningDays
    learningFactor = file.learningFactor ?? learningFactor
    afterOpenedFromWidget = file.afterOpenedFromWidget ?? afterOpenedFromWidget
    freeCauses = file.freeCauses ?? freeCauses
    isFreeInForeground = file.isFreeInForeground ?? isFreeInForeground
    isFreeAtWork = file.isFreeAtWork ?? isFreeAtWork
  }
}
