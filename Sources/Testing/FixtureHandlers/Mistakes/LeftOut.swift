// SPDX-License-Identifier: Apache-2.0

/// Differs between a phone and Linux, where the compiler leaves out the first branch.
enum Platform {
  #if os(iOS)
  static let name = "a phone"
  #else
  static let name = "not a phone"
  #endif
}
