// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The version of the device's system, which the device sets as the Simulator does.
package enum DeviceVersion {
  package static let major =
    ProcessInfo.processInfo.environment["SIMULATOR_RUNTIME_VERSION"].flatMap { Int($0.prefix { $0 != "." }) } ?? 26
}
