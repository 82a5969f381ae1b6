// SPDX-License-Identifier: Apache-2.0

/// The environment variables by which the host gives a process its access to the device's keychain.
package enum KeychainVariables {
  /// The folder of the device's keychain.
  package static let folder = "WIDGETLAB_KEYCHAIN"
  /// The access groups of the entitlement `keychain-access-groups`, between commas.
  package static let groups = "WIDGETLAB_KEYCHAIN_GROUPS"
}
