// SPDX-License-Identifier: Apache-2.0

import Foundation

// Replacements of the functions of `ProcessInfo` in an author's executable, which is linked with `--wrap`. Foundation's
// own return the version of Linux.

extension OperatingSystemVersion {
  /// The device's, which a process has in its environment as `26.0` or `17.4.1`.
  package static let ofDevice = OperatingSystemVersion(
    text: ProcessInfo.processInfo.environment["SIMULATOR_RUNTIME_VERSION"] ?? "26.0")

  /// Parts that are missing are 0.
  package init(text: String) {
    let parts = text.split(separator: ".").map { Int($0) ?? 0 } + [0, 0, 0]
    self.init(majorVersion: parts[0], minorVersion: parts[1], patchVersion: parts[2])
  }

  /// Without a build number, which the device does not have. The patch is omitted when it is 0, as in `UIDevice`.
  package var text: String {
    "Version \(majorVersion).\(minorVersion)" + (patchVersion == 0 ? "" : ".\(patchVersion)")
  }

  package func isAtLeast(_ other: OperatingSystemVersion) -> Bool {
    (majorVersion, minorVersion, patchVersion) >= (other.majorVersion, other.minorVersion, other.patchVersion)
  }
}

/// `ProcessInfo.operatingSystemVersion`.
@_silgen_name("__wrap_$s20FoundationEssentials11ProcessInfoC22operatingSystemVersionAA09OperatingfG0Vvg")
package func operatingSystemVersion() -> OperatingSystemVersion { .ofDevice }

/// `ProcessInfo.isOperatingSystemAtLeast(_:)`.
@_silgen_name("__wrap_$s20FoundationEssentials11ProcessInfoC24isOperatingSystemAtLeastySbAA0fG7VersionVF")
package func isOperatingSystemAtLeast(_ version: OperatingSystemVersion) -> Bool {
  OperatingSystemVersion.ofDevice.isAtLeast(version)
}

/// `ProcessInfo.operatingSystemVersionString`.
@_silgen_name("__wrap_$s20FoundationEssentials11ProcessInfoC28operatingSystemVersionStringSSvg")
package func operatingSystemVersionString() -> String { OperatingSystemVersion.ofDevice.text }
